/**
 * Asks the API server whether a controller may do what it declares (SelfSubjectAccessReview). What is missing is named, the controller waits for it and
 * goes on by itself when it is given; the others run.
 */
import { backoff } from "../base/backoff.ts";
import { sleep } from "../base/clock.ts";
import { linked } from "../base/abort.ts";
import { SelfSubjectAccessReview } from "../kinds/authorization_v1.gen.ts";
import type { Client } from "../kube/client.ts";
import { type ControllerRight, controllerRights, told } from "../parts/rights.ts";
import type { Input } from "../resource/kind.ts";
import type { ControllerLoop } from "./controller_loop.ts";

const RETRY = { first: 1000, longest: 30_000 };
// A server that does not say is taken to allow: the run will meet what is refused.
const PATIENCE = 5000;

/** What holds a loop. */
const HOLD = "permissions";

/** Watches over the rights of one controller. */
export class AccessCheck {
  /** Grows with each answer. */
  activity = 0;
  readonly #loop: ControllerLoop;
  readonly #client: Client;
  readonly #namespaces: readonly string[] | undefined;
  readonly #rights: readonly ControllerRight[];
  #missing: readonly string[] = [];
  #wake: (() => void) | undefined;

  /**
   * @param loop The controller's loop.
   * @param client Not fenced: a question changes nothing, and standbys ask too.
   * @param namespaces The namespaces that the operator looks at. @default {all}
   */
  constructor(loop: ControllerLoop, client: Client, namespaces: readonly string[] | undefined) {
    this.#loop = loop;
    this.#client = client;
    this.#namespaces = namespaces;
    // What only some clusters and some objects ask for holds nobody up: a run that is refused it says so.
    this.#rights = controllerRights(loop.scope.controller).filter(({ need }) => need !== "seldom");
    loop.hold(HOLD, "asks what it may do");
    loop.onForbidden = () => this.#wake?.();
  }

  /** How many rights there are. */
  get count(): number {
    return this.#rights.length;
  }

  /** Those that are missing, in words. */
  get missing(): readonly string[] {
    return this.#missing;
  }

  /** Asks until the signal: at start, again while something is missing, and when a run was refused. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#loop.scope;
    for (let tries = 1; !signal.aborted; tries++) {
      await this.#ask(signal);
      if (signal.aborted) return;
      if (this.#missing.length === 0) {
        tries = 0;
        await this.#refused(signal);
      } else await sleep(clock, backoff(tries, { ...RETRY, spread: random() }), signal).catch(() => undefined);
    }
  }

  /** Settles when a run was refused, or at the signal. */
  async #refused(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    signal.addEventListener("abort", () => resolve(), { once: true });
    await promise;
    this.#wake = undefined;
  }

  async #ask(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#loop.scope;
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
    const before = this.#missing;
    const missing = answers.filter((answer) => answer !== undefined);
    this.#missing = missing.map(({ text }) => text);
    for (const text of this.#missing) if (!before.includes(text)) log.warn("Permission missing", { permission: text });
    for (const text of before) if (!this.#missing.includes(text)) log.info("Permission given", { permission: text });
    const vital = missing.filter(({ isVital }) => isVital).map(({ text }) => text);
    this.#loop.hold(HOLD, vital.length === 0 ? undefined : `waits for the permission to ${vital.join(", ")}`);
  }

  #places({ namespaced, namespaces }: ControllerRight): readonly (string | undefined)[] {
    return namespaced ? namespaces ?? this.#namespaces ?? [undefined] : [undefined];
  }

  /** Answers what is missing, if it is. */
  async #mayDo(
    right: ControllerRight,
    { namespace, name }: { readonly namespace: string | undefined; readonly name: string | undefined },
    signal: AbortSignal,
  ): Promise<{ readonly text: string; readonly isVital: boolean } | undefined> {
    const { group, version, resource, verb } = right;
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
      const { status } = await this.#client.create(SelfSubjectAccessReview, review, { signal });
      if (status?.allowed !== false) return undefined;
    } catch (error) {
      if (!signal.aborted) this.#loop.scope.log.debug("Permission not asked", { error: (error as Error).message });
      return undefined;
    }
    return {
      text: told(right) + (name === undefined ? "" : ` "${name}"`) +
        (namespace === undefined ? "" : ` in ${namespace}`),
      isVital: right.need === "always",
    };
  }
}
