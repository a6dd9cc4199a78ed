/**
 * Checks whether a part has the RBAC permissions that it declares (SelfSubjectAccessReview), and
 * logs missing ones. A controller waits until its permissions are granted, while other controllers
 * run. Webhooks do not wait: a read without the permission fails.
 */
import { backoff } from "../base/backoff.ts";
import { type Clock, sleep } from "../base/clock.ts";
import { linked } from "../base/abort.ts";
import { SelfSubjectAccessReview } from "../kinds/authorization_v1.gen.ts";
import type { Client } from "../kube/client.ts";
import { describeRule, type PartRbacRule } from "../parts/rbac.ts";
import type { Input } from "../resource/kind.ts";
import type { ControllerLoop } from "./controller_loop.ts";
import type { Logger } from "./logger.ts";

const RETRY = { first: 1000, longest: 30_000 };
// Timeout of the reviews, in milliseconds. A permission whose review gets no response counts as
// granted. If it is missing, a request of a reconcile is denied.
const REVIEW_TIMEOUT = 5000;

/** Name of the hold on a controller. */
const HOLD_NAME = "permissions";

/** Options of {@linkcode AccessCheck}. */
export interface AccessCheckOptions {
  /** The client. Its writes are not fenced, because standby replicas check permissions too. */
  readonly client: Client;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  /** The declared permissions. */
  readonly rules: readonly PartRbacRule[];
  /** The namespaces that the operator watches. @default {all namespaces} */
  readonly namespaces: readonly string[] | undefined;
  /**
   * Called with the reason to wait, or with `undefined` when all required permissions are granted.
   */
  readonly hold?: (reason: string | undefined) => void;
}

/** Whether a permission is granted. */
export interface RbacResult {
  /** Description of the permission. */
  readonly text: string;
  readonly isGranted: boolean;
  /** Whether the part cannot run without it. */
  readonly isRequired: boolean;
}

/**
 * Creates the check of a controller, which waits for its required permissions.
 *
 * @param loop The controller.
 * @param client The client.
 * @param namespaces The namespaces that the operator watches; `undefined` for all.
 */
export function controllerAccess(
  loop: ControllerLoop,
  client: Client,
  namespaces: readonly string[] | undefined,
): AccessCheck {
  const { clock, random, log, unit: { rbacRules } } = loop.scope;
  const hold = (reason: string | undefined): void => loop.hold(HOLD_NAME, reason);
  hold("checks its RBAC permissions");
  const check = new AccessCheck({
    client,
    clock,
    random,
    log,
    rules: rbacRules,
    namespaces,
    hold,
  });
  loop.onForbidden = () => check.denied();
  return check;
}

/** Checks the RBAC permissions of one part. */
export class AccessCheck {
  /** Number of completed checks. */
  activity = 0;
  readonly #options: AccessCheckOptions;
  readonly #rules: readonly PartRbacRule[];
  #results: readonly RbacResult[] = [];
  #recheck: (() => void) | undefined;

  /** @param options The permissions, and the callback for missing ones. */
  constructor(options: AccessCheckOptions) {
    this.#options = options;
    // Permissions that few clusters or objects need are not checked. If one is missing, the
    // reconcile that needs it fails.
    this.#rules = options.rules.filter(({ need }) => need !== "optional");
  }

  /** The last result for each permission; empty before the first check. */
  get results(): readonly RbacResult[] {
    return this.#results;
  }

  /**
   * Checks at start, repeatedly while a permission is missing, and after a request was denied,
   * until the signal is aborted.
   *
   * @param signal Ends the checks.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    let needlessChecks = 0;
    for (let tries = 1; !signal.aborted; tries++) {
      const began = clock.elapsed();
      await this.#check(signal);
      if (signal.aborted) return;
      if (this.#results.every(({ isGranted }) => isGranted)) {
        tries = 0;
        await this.#untilDenied(signal);
        // Quotas and admission also cause 403 responses, and each would trigger a check. Checks
        // that find all permissions granted are therefore spaced by a backoff.
        const since = clock.elapsed() - began;
        needlessChecks = since > RETRY.longest ? 0 : needlessChecks + 1;
        const pause = needlessChecks === 0 ? 0 : backoff(needlessChecks, { ...RETRY, spread: random() }) - since;
        if (pause > 0) await sleep(clock, pause, signal).catch(() => undefined);
      } else await sleep(clock, backoff(tries, { ...RETRY, spread: random() }), signal).catch(() => undefined);
    }
  }

  /** Checks again, because the API server denied a request. */
  denied(): void {
    this.#recheck?.();
  }

  /** Resolves when a request was denied, or the signal is aborted. */
  async #untilDenied(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#recheck = resolve;
    signal.addEventListener("abort", () => resolve(), { once: true });
    await promise;
    this.#recheck = undefined;
  }

  async #check(signal: AbortSignal): Promise<void> {
    const { clock, log, hold } = this.#options;
    using limit = linked([signal]);
    using _timer = clock.after(REVIEW_TIMEOUT, () => limit.abort(new DOMException("No response", "TimeoutError")));
    const results = await Promise.all(
      this.#rules.flatMap((rule) =>
        this.#namespacesOf(rule).flatMap((namespace) =>
          (rule.names ?? [undefined]).map((name) => this.#review(rule, { namespace, name }, limit.signal))
        )
      ),
    );
    if (signal.aborted) return;
    this.activity++;
    const before = missingIn(this.#results);
    this.#results = results;
    const missing = missingIn(results);
    for (const text of missing) if (!before.includes(text)) log.warn("RBAC permission missing", { permission: text });
    for (const text of before) if (!missing.includes(text)) log.info("RBAC permission granted", { permission: text });
    const required = missingIn(results.filter(({ isRequired }) => isRequired));
    hold?.(required.length === 0 ? undefined : `waits for the RBAC permission to ${required.join(", ")}`);
  }

  #namespacesOf({ namespaced, namespaces }: PartRbacRule): readonly (string | undefined)[] {
    return namespaced ? namespaces ?? this.#options.namespaces ?? [undefined] : [undefined];
  }

  async #review(
    rule: PartRbacRule,
    { namespace, name }: { readonly namespace: string | undefined; readonly name: string | undefined },
    signal: AbortSignal,
  ): Promise<RbacResult> {
    const { group, version, resource, verb } = rule;
    const text = describeRule(rule) + (name === undefined ? "" : ` "${name}"`) +
      (namespace === undefined ? "" : ` in ${namespace}`);
    const result = (isGranted: boolean): RbacResult => ({ text, isGranted, isRequired: rule.need === "always" });
    const [plural, subresource] = resource.split("/");
    const resourceAttributes = {
      group,
      version,
      resource: plural,
      verb,
      ...(subresource === undefined ? {} : { subresource }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(name === undefined ? {} : { name }),
    };
    try {
      const review = { spec: { resourceAttributes } } as Input<typeof SelfSubjectAccessReview>;
      const { status } = await this.#options.client.create(SelfSubjectAccessReview, review, { signal });
      return result(status?.allowed !== false);
    } catch (error) {
      if (!signal.aborted) this.#options.log.debug("RBAC permission not checked", { error: (error as Error).message });
      return result(true);
    }
  }
}

function missingIn(results: readonly RbacResult[]): string[] {
  return results.filter(({ isGranted }) => !isGranted).map(({ text }) => text);
}
