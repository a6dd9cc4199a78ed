/**
 * The language of the scenarios: what happens to a cluster, step by step, while operators run in
 * it. A scenario is data, so that the same one drives kopf and the operators of this project.
 */

/** An object to create. The driver adds the namespace. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
  };
  readonly [field: string]: unknown;
}

/** Plural names of the kinds that scenarios use. */
export type Plural = "kopfexamples" | "pods" | "deployments" | "replicasets";

/** An object as `plural/name`. */
export type ObjectPath = `${Plural}/${string}`;

/** How a call of a handler ends: its own code runs, or it fails with an error. */
export type Answer = "proceed" | "temporary" | "permanent" | "error";

/** One thing that the driver does or waits for. */
export type Action =
  /** Starts an operator and waits until it has listed its objects. */
  | { readonly do: "start"; readonly operator: string; readonly standby?: true }
  /** Stops an operator with SIGTERM or SIGKILL and waits until it has ended. */
  | { readonly do: "stop"; readonly operator: string; readonly signal: "SIGTERM" | "SIGKILL" }
  /** Creates, patches or deletes an object. The response is recorded if `recorded` is set. */
  | { readonly do: "create"; readonly object: Manifest; readonly recorded?: true }
  | {
    readonly do: "patch";
    readonly object: ObjectPath;
    readonly patch: unknown;
    readonly subresource?: "status";
    readonly recorded?: true;
  }
  | { readonly do: "delete"; readonly object: ObjectPath }
  /** Decides how the next calls of a handler end, in this order. Later calls proceed. */
  | { readonly do: "answer"; readonly handler: string; readonly answers: readonly Answer[] }
  /** Holds the next call of a handler, or a later one if some are skipped, until it is released. */
  | { readonly do: "hold"; readonly handler: string; readonly skipped: number }
  /** Waits until a call of the handler is held. */
  | { readonly do: "awaitHeld"; readonly handler: string }
  | { readonly do: "release"; readonly handler: string }
  /** Waits until a handler was called so many times since the step began. */
  | { readonly do: "awaitCalls"; readonly handler: string; readonly count: number }
  /** Waits until an operator stands by for another one, or works again. */
  | { readonly do: "awaitPaused" | "awaitResumed"; readonly operator: string }
  /** Waits until a dry run of creating an object returns a warning. */
  | { readonly do: "awaitWebhooks"; readonly object: Manifest }
  /** Waits until an object does not exist anymore. */
  | { readonly do: "awaitDeleted"; readonly object: ObjectPath };

/** A step. At its end, the driver waits until the operators have nothing left to do. */
export interface Step {
  readonly name: string;
  readonly actions: readonly Action[];
  /**
   * `false` if the operators never come to rest in this step. The driver then waits only until no
   * handler is running. @default {true}
   */
  readonly settles?: false;
}

/** A scenario. */
export interface Scenario {
  /** Name of the program and of the recording, such as `example_01`. */
  readonly name: string;
  /** What it shows, as a sentence. */
  readonly title: string;
  /** The kinds that the operator watches. */
  readonly watches: readonly Plural[];
  /** More kinds whose objects are recorded. */
  readonly children?: readonly Plural[];
  /** Whether operators of this scenario exclude each other. @default {false} */
  readonly peers?: true;
  /** Whether the program serves webhooks, which concern the whole cluster. @default {false} */
  readonly webhooks?: true;
  readonly steps: readonly Step[];
}

/** A call of a handler, as an operator reports it. */
export interface Call {
  readonly handler: string;
  readonly cause: string;
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  readonly object?: { readonly kind: string; readonly name: string; readonly uid: string };
  readonly old?: unknown;
  readonly current?: unknown;
}

/** A call in a recording. Its handler and object are the key that it is recorded under. */
export interface RecordedCall extends Omit<Call, "handler" | "object"> {
  /** `running` at the end of the step, or how the call ended. */
  readonly outcome: string;
}

/** What happened in a step. */
export interface RecordedStep {
  readonly step: string;
  /** Calls by `handler object`. Only calls of one key are ordered. */
  readonly calls: Readonly<Record<string, readonly RecordedCall[]>>;
  /** Responses of the API server to recorded actions. */
  readonly responses?: readonly unknown[];
  /** Objects at the end of the step. */
  readonly objects: readonly unknown[];
  /** New Events, as `kind/name: type reason: message`, sorted. */
  readonly events: readonly string[];
}

/** A recording of a scenario. */
export interface Recording {
  readonly program: string;
  readonly kubernetes: string;
  /** Hash of everything that the recording depends on. */
  readonly inputs: string;
  readonly steps: readonly RecordedStep[];
}

const EXAMPLE = { apiVersion: "example.com/v1", kind: "KopfExample" };

/** Returns a KopfExample. */
export function example(
  name: string,
  spec: Readonly<Record<string, unknown>> = { duration: "1m", field: "value", items: ["item1", "item2"] },
  metadata: Omit<Manifest["metadata"], "name"> = {},
): Manifest {
  return { ...EXAMPLE, metadata: { name, ...metadata }, spec };
}

export const start = (operator = "a", options: { standby?: true } = {}): Action => ({
  do: "start",
  operator,
  ...options,
});
export const stop = (operator = "a"): Action => ({ do: "stop", operator, signal: "SIGTERM" });
export const kill = (operator = "a"): Action => ({ do: "stop", operator, signal: "SIGKILL" });
export const create = (object: Manifest, options: { recorded?: true } = {}): Action => ({
  do: "create",
  object,
  ...options,
});
export const patch = (
  object: ObjectPath,
  change: unknown,
  options: { subresource?: "status"; recorded?: true } = {},
): Action => ({ do: "patch", object, patch: change, ...options });
export const remove = (object: ObjectPath): Action => ({ do: "delete", object });
export const answer = (handler: string, ...answers: Answer[]): Action => ({ do: "answer", handler, answers });
export const hold = (handler: string, skipped = 0): Action => ({ do: "hold", handler, skipped });
export const awaitHeld = (handler: string): Action => ({ do: "awaitHeld", handler });
export const release = (handler: string): Action => ({ do: "release", handler });
export const awaitCalls = (handler: string, count: number): Action => ({ do: "awaitCalls", handler, count });
export const awaitPaused = (operator: string): Action => ({ do: "awaitPaused", operator });
export const awaitResumed = (operator: string): Action => ({ do: "awaitResumed", operator });
export const awaitDeleted = (object: ObjectPath): Action => ({ do: "awaitDeleted", object });
export const step = (name: string, ...actions: Action[]): Step => ({ name, actions });
