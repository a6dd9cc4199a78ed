/** Webhooks as plain data: what is asked before an object is stored. */
import { type Duration, milliseconds } from "../base/duration.ts";
import type { CheckedNames } from "../resource/column_path.ts";
import type { AnyKind, Infer } from "../resource/kind.ts";
import { isOwnKind } from "../resource/ownership.ts";
import { judge } from "../resource/_judge.ts";
import { CONDITION_OF } from "../resource/match_conditions.ts";
import type { Access } from "./access.ts";
import type { SandboxPermissions } from "./sandbox.ts";
import { type LabelSelector, selectorFault } from "./selectors.ts";
import type {
  MutableObject,
  MutateResult,
  Operation,
  ReviewedObject,
  ValidateResult,
  WebhookContext,
} from "./webhook_context.ts";

/** Which requests a webhook is asked about. The API server sends no others. */
export interface WebhookFilters<F extends string = string, Root = unknown> {
  /** What is asked about. @default {["CREATE", "UPDATE"]} */
  readonly operations?: readonly Operation[];
  /** Only what is in a namespace, or only what is in none. @default {"*"} */
  readonly scope?: "*" | "Namespaced" | "Cluster";
  /** Only objects with these labels, be it before or after the change. Whoever may label an object can evade it. @default {all} */
  readonly objectSelector?: LabelSelector;
  /** Only objects in namespaces with these labels. @default {all, but for those of {@linkcode WebhookFilters.allNamespaces}} */
  readonly namespaceSelector?: LabelSelector;
  /**
   * Whether objects in `kube-system` and in the operator's own namespace are asked about as well. They are left out because an operator that does not run
   * could hold up what it needs to run. @default {false}
   */
  readonly allNamespaces?: boolean;
  /**
   * Whether what the operator itself writes is left out: requests by its service account. So it may do what others may not, and waits for nobody when its
   * webhooks are not up. @default {false}
   */
  readonly ignoreOwnRequests?: boolean;
  /** Expressions in CEL that must all hold, by name: they know `object`, `oldObject`, `request` and `authorizer` (KEP-3716). @default {none} */
  readonly matchConditions?: { readonly [name: string]: string };
  /** Whether requests by other versions of the kind count too; they are converted. @default {"Equivalent"} */
  readonly matchPolicy?: "Equivalent" | "Exact";
  /** Only when this field is new, changed, or goes with its object: `.spec.host`. Refusals are about it unless they say otherwise. @default {whatever changes} */
  readonly field?: string extends F ? F : CheckedNames<Root, F, unknown, "a field">;
}

/** Options of {@linkcode webhook}. */
export interface WebhookOptions<
  K extends AnyKind = AnyKind,
  Sub extends string = never,
  Uses extends readonly Access[] = readonly Access[],
  Services = unknown,
  F extends string = string,
  Reads extends readonly AnyKind[] = readonly AnyKind[],
> extends WebhookFilters<F, Infer<K>> {
  /** What of the object is written: `status`, `scale`, or one by which there is only a connection, such as `exec`. @default {the object itself} */
  readonly subresource?: Sub;
  /**
   * What the API server does when it cannot call the webhook, or the call fails: reject the request, or continue. @default {"Fail" for the operator's own
   * kinds; "Ignore" for built-in and external kinds, which others must be able to write while the operator does not run}
   */
  readonly failurePolicy?: "Fail" | "Ignore";
  /** How long it may take, from 1 to 30 s. @default {"10s"} */
  readonly timeout?: Duration;
  /** Whether `mutate` is asked again when another webhook changed the object after it. @default {"Never"} */
  readonly reinvocation?: "Never" | "IfNeeded";
  /** Whether something outside the object is changed: then not at a dry run. @default {"None"} */
  readonly sideEffects?: "None" | "NoneOnDryRun";
  /**
   * Kinds that it reads from a live copy, by `get` and `list`: watched, cached. That answers at once, and may be a moment older than what the server has:
   * of two objects that are created together neither sees the other.
   *
   * @default {none}
   */
  readonly reads?: Reads;
  /** What it reads from the server each time, by `get` and `list`. @default {none} */
  readonly uses?: Uses;
  /** What it reaches beyond the API server. @default {nothing} */
  readonly sandbox?: SandboxPermissions;
  /** Changes an object before it is validated and stored: the draft itself, or by answering the wanted object. Fields that nobody knows survive. */
  mutate?(
    object: MutableObject<K, Sub>,
    context: WebhookContext<K, Sub, Uses, Services, Reads>,
  ): MutateResult<K, Sub> | Promise<MutateResult<K, Sub>>;
  /** Says what is wrong with an object that is to be stored; of a `DELETE` with the object that is to go. */
  validate?(
    object: ReviewedObject<K, Sub>,
    context: WebhookContext<K, Sub, Uses, Services, Reads>,
  ): ValidateResult | Promise<ValidateResult>;
}

declare const needs: unique symbol;

/** A webhook: plain data. An operator serves it, and the configuration by which a cluster calls it is made from it. */
// deno-lint-ignore no-explicit-any -- whoever does not ask takes any
export interface Webhook<Services = any> {
  /** The services that it takes: for the compiler alone, nothing stands there. */
  readonly [needs]?: (services: Services) => void;
  /** Tells it from controllers and conversions. */
  readonly part: "webhook";
  /** The kind whose objects it is asked about. */
  readonly kind: AnyKind;
  /** What of the object is written; absent for the object itself. */
  readonly subresource: string | undefined;
  /** What it is asked about; `CREATE` and `UPDATE` where nothing was said. */
  readonly operations: readonly Operation[];
  /** Whether only what is in a namespace, or only what is in none. */
  readonly scope: "*" | "Namespaced" | "Cluster";
  /** The labels of objects that it is asked about; absent for all. */
  readonly objectSelector: LabelSelector | undefined;
  /** The labels of namespaces whose objects it is asked about; absent for all. */
  readonly namespaceSelector: LabelSelector | undefined;
  /** Whether `kube-system` and the operator's own namespace are not left out. */
  readonly allNamespaces: boolean;
  /** Whether what the operator itself writes is let pass. */
  readonly ignoreOwnRequests: boolean;
  /** Expressions in CEL that must all hold, by name. */
  readonly matchConditions: { readonly [name: string]: string };
  /** Whether requests by other versions of the kind count too. */
  readonly matchPolicy: "Equivalent" | "Exact";
  /** The field without whose change it is not asked, such as `.spec.host`. */
  readonly field: string | undefined;
  /** What is done when it cannot be asked, or fails; found out from the kind where nothing was said. */
  readonly failurePolicy: "Fail" | "Ignore";
  /** Seconds. */
  readonly timeout: number;
  /** Whether `mutate` is asked again when another webhook changed the object after it. */
  readonly reinvocation: "Never" | "IfNeeded";
  /** Whether something outside the object is changed. */
  readonly sideEffects: "None" | "NoneOnDryRun";
  /** Kinds that it reads from a live copy. */
  readonly reads: readonly AnyKind[];
  /** What it reads from the server each time. */
  readonly uses: readonly Access[];
  /** What it reaches beyond the API server. */
  readonly sandbox: SandboxPermissions;
  /** Changes an object before it is validated; absent where it only judges. */
  // deno-lint-ignore no-explicit-any -- webhooks of different kinds stand in one list
  readonly mutate: ((object: any, context: any) => unknown) | undefined;
  /** Says what is wrong with an object; absent where it only changes. */
  // deno-lint-ignore no-explicit-any
  readonly validate: ((object: any, context: any) => unknown) | undefined;
}

/** Declares webhooks. */
export interface WebhookFactory<Services = unknown> {
  <
    K extends AnyKind,
    const Sub extends string = never,
    const Uses extends readonly Access[] = readonly [],
    const F extends string = string,
    const Reads extends readonly AnyKind[] = readonly [],
  >(kind: K, options: WebhookOptions<K, Sub, Uses, Services, F, Reads>): Webhook<Services>;
  /** Declares webhooks that use services: what the operator makes at its start. */
  with<T>(): WebhookFactory<T>;
}

/**
 * Declares a webhook. The API server asks `mutate` before it validates an object, `validate` before it stores it.
 *
 * @param kind The kind: one's own, or any other.
 * @param options What is asked, and about which requests.
 * @returns Plain data. Nothing is served before an operator runs it.
 * @throws {TypeError} If an API server would not take it: there is nothing to ask, a condition does not compile, a selector is none, a field is no path.
 * @throws {RangeError} If the timeout is not from 1 to 30 s.
 *
 * @example Usage
 * ```ts
 * import { deny, resource, s, webhook } from "@op/sdk";
 *
 * const Website = resource({
 *   group: "demo.example.com",
 *   version: "v1",
 *   kind: "Website",
 *   spec: s.object({ host: s.string(), replicas: s.integer({ default: 1 }) }),
 * });
 *
 * const websiteRules = webhook(Website, {
 *   mutate(site) {
 *     site.spec.host = site.spec.host.toLowerCase();
 *   },
 *   validate(site, { old, warn }) {
 *     if (site.spec.replicas > 5) warn("more than five replicas are seldom needed");
 *     if (old !== undefined && old.spec.host !== site.spec.host) throw deny("the host stays", { field: "spec.host" });
 *   },
 * });
 * ```
 */
export const webhook: WebhookFactory = Object.assign(make, { with: () => webhook }) as WebhookFactory;

const OPERATIONS: readonly string[] = ["CREATE", "UPDATE", "DELETE", "CONNECT"] satisfies Operation[];
const FIELD = /^(\.[A-Za-z_$][\w$-]*)+$/;

// deno-lint-ignore no-explicit-any -- the types are those of WebhookFactory
function make(kind: AnyKind, options: WebhookOptions<any, any, any, any, any, any>): Webhook {
  const { subresource, operations = ["CREATE", "UPDATE"], scope = "*", field, matchConditions = {} } = options;
  const { timeout = "10s", reads = [], uses = [] } = options;
  const refuse = (why: string): never => {
    throw new TypeError(`Cannot make a webhook of ${kind.kind}: ${why}`);
  };
  if (options.mutate === undefined && options.validate === undefined) refuse('give it "mutate", "validate" or both');
  if (operations.length === 0) refuse('"operations" is empty: name one at least');
  for (const [i, operation] of operations.entries()) {
    if (!OPERATIONS.includes(operation)) {
      refuse(`"operations" has "${operation}", which is not one of ${OPERATIONS.join(", ")}`);
    }
    if (operations.indexOf(operation) < i) refuse(`"operations" has "${operation}" twice`);
  }
  if (options.mutate !== undefined && operations.every((operation) => operation === "DELETE")) {
    refuse('what is deleted cannot be changed: give it "validate" in place of "mutate"');
  }
  if (subresource !== undefined && !/^[a-z]+$/.test(subresource)) {
    refuse(`"${subresource}" is no subresource: write it as the path has it, such as "status"`);
  }
  if (field !== undefined && !FIELD.test(field)) refuse(`"${field}" is no field: write it as ".spec.host"`);
  for (const option of ["objectSelector", "namespaceSelector"] as const) {
    const fault = options[option] && selectorFault(options[option]);
    if (fault !== undefined) refuse(`"${option}" would not be taken: ${fault}`);
  }
  for (const option of ["field", "ignoreOwnRequests"] as const) {
    const taken = CONDITION_OF[option];
    if (!options[option] || !Object.hasOwn(matchConditions, taken)) continue;
    refuse(
      `"matchConditions" has "${taken}", which is the name of the condition that "${option}" makes: choose another`,
    );
  }
  const fault = judge?.conditionFault(matchConditions);
  if (fault !== undefined) refuse(fault);
  const seconds = milliseconds(timeout) / 1000;
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > 30) {
    throw new RangeError(
      `Cannot make a webhook of ${kind.kind}: "timeout" must be whole seconds, from 1s to 30s: current value is "${timeout}"`,
    );
  }
  for (const { kind: used, verbs } of uses as readonly Access[]) {
    const verb = verbs.find((verb) => verb !== "get" && verb !== "list");
    if (verb !== undefined) {
      refuse(`it may only read: take "${verb}" of ${used.kind} out of "uses", and write from a controller`);
    }
  }
  for (const [i, read] of (reads as readonly AnyKind[]).entries()) {
    if ((reads as readonly AnyKind[]).indexOf(read) < i) refuse(`"reads" has "${read.kind}" twice`);
  }
  return {
    part: "webhook",
    kind,
    subresource,
    operations,
    scope,
    objectSelector: options.objectSelector,
    namespaceSelector: options.namespaceSelector,
    allNamespaces: options.allNamespaces ?? false,
    ignoreOwnRequests: options.ignoreOwnRequests ?? false,
    matchConditions,
    matchPolicy: options.matchPolicy ?? "Equivalent",
    field,
    failurePolicy: options.failurePolicy ?? (isOwnKind(kind) ? "Fail" : "Ignore"),
    timeout: seconds,
    reinvocation: options.reinvocation ?? "Never",
    sideEffects: options.sideEffects ?? "None",
    reads,
    uses,
    sandbox: options.sandbox ?? {},
    mutate: options.mutate && ((object, context) => options.mutate!(object, context)),
    validate: options.validate && ((object, context) => options.validate!(object, context)),
  };
}
