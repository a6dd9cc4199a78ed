/** Admission webhooks as plain data. */
import { type Duration, milliseconds } from "../base/duration.ts";
import type { CheckedNames } from "../resource/column_path.ts";
import type { AnyKind, Infer } from "../resource/kind.ts";
import { isOwnKind } from "../resource/ownership.ts";
import { declarationChecks } from "../resource/_load_declaration_checks.ts";
import { RESERVED_CONDITIONS } from "../resource/match_conditions.ts";
import type { Access } from "./access.ts";
import type { SandboxPermissions } from "./sandbox.ts";
import { type LabelSelector, labelSelectorError } from "./selectors.ts";
import type {
  MutableObject,
  MutateResult,
  Operation,
  ReviewedObject,
  ValidateResult,
  WebhookContext,
} from "./webhook_context.ts";

/** Which requests are reviewed. The API server sends no others. */
export interface WebhookFilters<F extends string = string, Root = unknown> {
  /** The operations to review. @default {["CREATE", "UPDATE"]} */
  readonly operations?: readonly Operation[];
  /** Whether to review only namespaced or only cluster-scoped objects. @default {"*"} */
  readonly scope?: "*" | "Namespaced" | "Cluster";
  /**
   * Labels that the object must have before or after the change. Users who may label an object can
   * evade such a webhook. @default {all objects}
   */
  readonly objectSelector?: LabelSelector;
  /**
   * Labels that the object's namespace must have. @default {all, except those that
   * {@linkcode WebhookFilters.allNamespaces} adds}
   */
  readonly namespaceSelector?: LabelSelector;
  /**
   * Whether to review objects in `kube-system` and in the operator's own namespace too. They are
   * excluded by default. Otherwise an operator that is down could block the requests that are
   * needed to start it.
   * @default {false}
   */
  readonly allNamespaces?: boolean;
  /**
   * Whether to exclude requests of the operator's own service account. The webhook then cannot deny
   * the operator's own changes, and the operator can write while its webhook server is down.
   * @default {false}
   */
  readonly ignoreOwnRequests?: boolean;
  /**
   * CEL expressions by name, all of which must be true. Their variables are `object`, `oldObject`,
   * `request` and `authorizer` (KEP-3716). @default {none}
   */
  readonly matchConditions?: { readonly [name: string]: string };
  /**
   * Whether to review requests for other versions of the kind too, after conversion. @default
   * {"Equivalent"}
   */
  readonly matchPolicy?: "Equivalent" | "Exact";
  /**
   * Reviews only requests that add, change or remove this field, such as `.spec.host`. Denials are
   * about this field by default. @default {all changes}
   */
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
  /**
   * The subresource to review: `status`, `scale`, or one that only opens a connection, such as
   * `exec`. @default {none: the object itself}
   */
  readonly subresource?: Sub;
  /**
   * The reaction of the API server if it cannot call the webhook, or the call fails. `"Fail"`: it
   * rejects the request. `"Ignore"`: it continues without the webhook. @default {"Fail" for the
   * operator's own kinds; "Ignore" for built-in and external kinds, which others must be able to
   * write while the operator does not run}
   */
  readonly failurePolicy?: "Fail" | "Ignore";
  /** The time limit of a review, from 1 to 30 s. @default {"10s"} */
  readonly timeout?: Duration;
  /** Whether `mutate` is called again if a later webhook changes the object. @default {"Never"} */
  readonly reinvocationPolicy?: "Never" | "IfNeeded";
  /**
   * Whether the webhook changes anything outside the object. With `"NoneOnDryRun"` it must not do
   * so in a dry run. @default {"None"}
   */
  readonly sideEffects?: "None" | "NoneOnDryRun";
  /**
   * Kinds that `get` and `list` read from a cache. Cached reads are fast but may be slightly stale:
   * if two objects are created at the same time, neither review may see the other object.
   *
   * @default {[]}
   */
  readonly reads?: Reads;
  /** Kinds that `get` and `list` read from the API server each time. @default {[]} */
  readonly uses?: Uses;
  /** Sandbox permissions in addition to the API server. @default {none} */
  readonly sandbox?: SandboxPermissions;
  /**
   * Changes an object before it is validated and stored. Modify the object in place, or return the
   * changed object. Unknown fields are preserved.
   */
  mutate?(
    object: MutableObject<K, Sub>,
    context: WebhookContext<K, Sub, Uses, Services, Reads>,
  ): MutateResult<K, Sub> | Promise<MutateResult<K, Sub>>;
  /**
   * Reviews an object before it is stored, or before it is deleted. To reject the request, return
   * or throw one or more errors; see {@linkcode deny}.
   */
  validate?(
    object: ReviewedObject<K, Sub>,
    context: WebhookContext<K, Sub, Uses, Services, Reads>,
  ): ValidateResult | Promise<ValidateResult>;
}

declare const needs: unique symbol;

/**
 * A webhook as plain data. An operator serves it, and generates the webhook configuration from it.
 */
// deno-lint-ignore no-explicit-any -- a webhook without a type argument fits every operator
export interface Webhook<Services = any> {
  /** The type of the services. It exists for the compiler only and has no value. */
  readonly [needs]?: (services: Services) => void;
  /** Distinguishes webhooks from controllers and conversions. */
  readonly part: "webhook";
  /** The kind whose objects are reviewed. */
  readonly kind: AnyKind;
  /** The subresource that is reviewed, or `undefined` for the object itself. */
  readonly subresource: string | undefined;
  /** The operations that are reviewed. */
  readonly operations: readonly Operation[];
  /** Whether only namespaced or only cluster-scoped objects are reviewed. */
  readonly scope: "*" | "Namespaced" | "Cluster";
  /** Labels of the objects that are reviewed, or `undefined` for all. */
  readonly objectSelector: LabelSelector | undefined;
  /** Labels of the namespaces whose objects are reviewed, or `undefined` for all. */
  readonly namespaceSelector: LabelSelector | undefined;
  /** Whether objects in `kube-system` and in the operator's own namespace are reviewed too. */
  readonly allNamespaces: boolean;
  /** Whether requests of the operator's own service account are excluded. */
  readonly ignoreOwnRequests: boolean;
  /** CEL expressions by name, all of which must be true. */
  readonly matchConditions: { readonly [name: string]: string };
  /** Whether requests for other versions of the kind are reviewed too. */
  readonly matchPolicy: "Equivalent" | "Exact";
  /** The field that a request must change to be reviewed, such as `.spec.host`. */
  readonly field: string | undefined;
  /** The reaction of the API server if it cannot call the webhook, or the call fails. */
  readonly failurePolicy: "Fail" | "Ignore";
  /** The time limit of a review, in seconds. */
  readonly timeout: number;
  /** Whether `mutate` is called again if a later webhook changes the object. */
  readonly reinvocationPolicy: "Never" | "IfNeeded";
  /** Whether the webhook changes anything outside the object. */
  readonly sideEffects: "None" | "NoneOnDryRun";
  /** Kinds that are read from a cache. */
  readonly reads: readonly AnyKind[];
  /** Kinds that are read from the API server. */
  readonly uses: readonly Access[];
  /** Sandbox permissions in addition to the API server. */
  readonly sandbox: SandboxPermissions;
  /** Changes an object, or `undefined` if the webhook only validates. */
  // deno-lint-ignore no-explicit-any -- one list contains webhooks of different kinds
  readonly mutate: ((object: any, context: any) => unknown) | undefined;
  /** Reviews an object, or `undefined` if the webhook only mutates. */
  // deno-lint-ignore no-explicit-any
  readonly validate: ((object: any, context: any) => unknown) | undefined;
}

/** Declares webhooks whose context has services of a type. */
export interface WebhookFactory<Services = unknown> {
  <
    K extends AnyKind,
    const Sub extends string = never,
    const Uses extends readonly Access[] = readonly [],
    const F extends string = string,
    const Reads extends readonly AnyKind[] = readonly [],
  >(kind: K, options: WebhookOptions<K, Sub, Uses, Services, F, Reads>): Webhook<Services>;
  /** Declares webhooks that use services: values that the operator creates at start. */
  with<T>(): WebhookFactory<T>;
}

/**
 * Declares an admission webhook. The API server calls `mutate` before it validates an object, and
 * `validate` before it stores it.
 *
 * @param kind The kind: an own kind or any other.
 * @param options The functions, and filters for the requests that they review.
 * @returns The webhook as plain data. It is not served until an operator includes it.
 * @throws {TypeError} If neither function is defined, a match condition does not compile, or a
 *   selector, a field path or another option is invalid.
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
 *     if (site.spec.replicas > 5) warn("more than five replicas are rarely needed");
 *     if (old !== undefined && old.spec.host !== site.spec.host) {
 *       throw deny("the host cannot be changed", { field: "spec.host" });
 *     }
 *   },
 * });
 * ```
 */
export const webhook: WebhookFactory = Object.assign(create, { with: () => webhook }) as WebhookFactory;

const OPERATIONS: readonly string[] = ["CREATE", "UPDATE", "DELETE", "CONNECT"] satisfies Operation[];
const FIELD = /^(\.[A-Za-z_$][\w$-]*)+$/;

// deno-lint-ignore no-explicit-any -- the types are those of WebhookFactory
function create(kind: AnyKind, options: WebhookOptions<any, any, any, any, any, any>): Webhook {
  const { subresource, operations = ["CREATE", "UPDATE"], scope = "*", field, matchConditions = {} } = options;
  const { timeout = "10s", reads = [], uses = [] } = options;
  const reject = (reason: string): never => {
    throw new TypeError(`Webhook for ${kind.kind}: ${reason}`);
  };
  if (options.mutate === undefined && options.validate === undefined) {
    reject('it has no function. Add "mutate", "validate" or both.');
  }
  if (operations.length === 0) reject('"operations" is empty. Add at least one operation.');
  for (const [i, operation] of operations.entries()) {
    if (!OPERATIONS.includes(operation)) {
      reject(`"operations" has "${operation}", which is not an operation. Use ${OPERATIONS.join(", ")}.`);
    }
    if (operations.indexOf(operation) < i) reject(`"operations" has "${operation}" twice. Remove one.`);
  }
  if (options.mutate !== undefined && operations.every((operation) => operation === "DELETE")) {
    reject('"mutate" cannot change an object that is deleted. Use "validate".');
  }
  if (subresource !== undefined && !/^[a-z]+$/.test(subresource)) {
    reject(`"${subresource}" is not a subresource. Write it as in the path, such as "status".`);
  }
  if (field !== undefined && !FIELD.test(field)) reject(`"${field}" is not a field path. Write it like ".spec.host".`);
  for (const option of ["objectSelector", "namespaceSelector"] as const) {
    const selectorError = options[option] && labelSelectorError(options[option]);
    if (selectorError !== undefined) reject(`"${option}" is invalid: ${selectorError}`);
  }
  for (const option of ["field", "ignoreOwnRequests"] as const) {
    const reserved = RESERVED_CONDITIONS[option];
    if (!options[option] || !Object.hasOwn(matchConditions, reserved)) continue;
    reject(
      `"matchConditions" has "${reserved}", which is the name of the condition for "${option}". Choose another name.`,
    );
  }
  const conditionError = declarationChecks?.matchConditionError(matchConditions);
  if (conditionError !== undefined) reject(conditionError);
  const seconds = milliseconds(timeout) / 1000;
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > 30) {
    throw new RangeError(
      `Webhook for ${kind.kind}: "timeout" must be whole seconds from 1s to 30s, got "${timeout}".`,
    );
  }
  for (const { kind: used, verbs } of uses as readonly Access[]) {
    const verb = verbs.find((verb) => verb !== "get" && verb !== "list");
    if (verb !== undefined) {
      reject(`"uses" has "${verb}" of ${used.kind}, but webhooks may only read. Remove it, and write in a controller.`);
    }
  }
  for (const [i, read] of (reads as readonly AnyKind[]).entries()) {
    if ((reads as readonly AnyKind[]).indexOf(read) < i) reject(`"reads" has "${read.kind}" twice. Remove one.`);
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
    reinvocationPolicy: options.reinvocationPolicy ?? "Never",
    sideEffects: options.sideEffects ?? "None",
    reads,
    uses,
    sandbox: options.sandbox ?? {},
    mutate: options.mutate && ((object, context) => options.mutate!(object, context)),
    validate: options.validate && ((object, context) => options.validate!(object, context)),
  };
}
