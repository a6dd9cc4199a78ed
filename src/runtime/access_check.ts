/**
 * Asks the API server whether a part may do what it declares (SelfSubjectAccessReview). What is missing is named; a controller waits for it and goes on
 * by itself when it is given, the others run. A webhook is called all the same, and fails where it reads what it may not.
 */
import { backoff } from "../base/backoff.ts";
import { type Clock, sleep } from "../base/clock.ts";
import { linked } from "../base/abort.ts";
import { SelfSubjectAccessReview } from "../kinds/authorization_v1.gen.ts";
import type { Client } from "../kube/client.ts";
import { controllerRbacRules, describeRule, type PartRbacRule } from "../parts/rbac.ts";
import type { Input } from "../resource/kind.ts";
import type { ControllerLoop } from "./controller_loop.ts";
import type { Logger } from "./logger.ts";

const RETRY = { first: 1000, longest: 30_000 };
// A server that does not say is taken to allow: the run will meet what is refused.
const PATIENCE = 5000;

/** What holds a loop. */
const HOLD = "permissions";

/** Whose rights are looked after. */
export interface AccessCheckOptions {
  /** Not fenced: a question changes nothing, and standbys ask too. */
  readonly client: Client;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly rights: readonly PartRbacRule[];
  /** The namespaces that the operator looks at. @default {all} */
  readonly namespaces: readonly string[] | undefined;
  /** Told what it has to wait for; nothing when it may go on. */
  readonly hold?: (why: string | undefined) => void;
}

/** What the server said of a right. */
export interface Answer {
  /** The right, in words. */
  readonly text: string;
  readonly isGiven: boolean;
  /** Whether nothing can be done without it. */
  readonly isVital: boolean;
}

/** A controller's: it waits for what it cannot do without. */
export function controllerAccess(
  loop: ControllerLoop,
  client: Client,
  namespaces: readonly string[] | undefined,
): AccessCheck {
  const { clock, random, log, controller } = loop.scope;
  const hold = (why: string | undefined): void => loop.hold(HOLD, why);
  hold("asks what it may do");
  const check = new AccessCheck({
    client,
    clock,
    random,
    log,
    rights: controllerRbacRules(controller),
    namespaces,
    hold,
  });
  loop.onForbidden = () => check.refused();
  return check;
}

/** Watches over the rights of one part. */
export class AccessCheck {
  /** Grows with each answer. */
  activity = 0;
  readonly #options: AccessCheckOptions;
  readonly #rights: readonly PartRbacRule[];
  #answers: readonly Answer[] = [];
  #wake: (() => void) | undefined;

  constructor(options: AccessCheckOptions) {
    this.#options = options;
    // What only some clusters and some objects ask for holds nobody up: a run that is refused it says so.
    this.#rights = options.rights.filter(({ need }) => need !== "seldom");
  }

  /** What the server last said of each right; nothing before it was asked. */
  get answers(): readonly Answer[] {
    return this.#answers;
  }

  /** Asks until the signal: at start, again while something is missing, and when a run was refused. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    let vain = 0;
    for (let tries = 1; !signal.aborted; tries++) {
      const asked = clock.elapsed();
      await this.#ask(signal);
      if (signal.aborted) return;
      if (this.#answers.every(({ isGiven }) => isGiven)) {
        tries = 0;
        await this.#untilRefused(signal);
        // Quotas and admission refuse by 403 as well, again and again: that is no reason to ask with each of them.
        const since = clock.elapsed() - asked;
        vain = since > RETRY.longest ? 0 : vain + 1;
        const pause = vain === 0 ? 0 : backoff(vain, { ...RETRY, spread: random() }) - since;
        if (pause > 0) await sleep(clock, pause, signal).catch(() => undefined);
      } else await sleep(clock, backoff(tries, { ...RETRY, spread: random() }), signal).catch(() => undefined);
    }
  }

  /** Asks again at once: the server refused something. */
  refused(): void {
    this.#wake?.();
  }

  /** Settles when something was refused, or at the signal. */
  async #untilRefused(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    signal.addEventListener("abort", () => resolve(), { once: true });
    await promise;
    this.#wake = undefined;
  }

  async #ask(signal: AbortSignal): Promise<void> {
    const { clock, log, hold } = this.#options;
    using limit = linked([signal]);
    using _timer = clock.after(PATIENCE, () => limit.abort(new DOMException("No answer", "TimeoutError")));
    const answers = await Promise.all(
      this.#rights.flatMap((right) =>
        this.#places(right).flatMap((place) =>
          (right.names ?? [undefined]).map((name) => this.#mayDo(right, { namespace: place, name }, limit.signal))
        )
      ),
    );
    if (signal.aborted) return;
    this.activity++;
    const before = missingIn(this.#answers);
    this.#answers = answers;
    const missing = missingIn(answers);
    for (const text of missing) if (!before.includes(text)) log.warn("RBAC permission missing", { permission: text });
    for (const text of before) if (!missing.includes(text)) log.info("RBAC permission granted", { permission: text });
    const vital = missingIn(answers.filter(({ isVital }) => isVital));
    hold?.(vital.length === 0 ? undefined : `waits for the RBAC permission to ${vital.join(", ")}`);
  }

  #places({ namespaced, namespaces }: PartRbacRule): readonly (string | undefined)[] {
    return namespaced ? namespaces ?? this.#options.namespaces ?? [undefined] : [undefined];
  }

  async #mayDo(
    right: PartRbacRule,
    { namespace, name }: { readonly namespace: string | undefined; readonly name: string | undefined },
    signal: AbortSignal,
  ): Promise<Answer> {
    const { group, version, resource, verb } = right;
    const text = describeRule(right) + (name === undefined ? "" : ` "${name}"`) +
      (namespace === undefined ? "" : ` in ${namespace}`);
    const answer = (isGiven: boolean): Answer => ({ text, isGiven, isVital: right.need === "always" });
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
      return answer(status?.allowed !== false);
    } catch (error) {
      if (!signal.aborted) this.#options.log.debug("RBAC permission not checked", { error: (error as Error).message });
      return answer(true);
    }
  }
}

function missingIn(answers: readonly Answer[]): string[] {
  return answers.filter(({ isGiven }) => !isGiven).map(({ text }) => text);
}
