/** The context of a handler: that of a reconcile, and what is specific to the call. */
import type { Memo, MemoStore } from "../../handlers/memo.ts";
import type { Call } from "../../handlers/plan.ts";
import type { StepRunner } from "../../handlers/steps.ts";
import type { Handler } from "../../parts/handlers/handler.ts";
import type { KubeObject } from "../../resource/kind.ts";
import type { CompiledSet } from "./compiled_set.ts";

/** The properties of a call. */
export interface HandlerCall {
  readonly set: CompiledSet;
  readonly handler: Handler;
  readonly memos: MemoStore;
  readonly object: KubeObject;
  readonly call: Call;
  readonly steps: StepRunner;
}

/** Returns the fields of the context that depend on the handler and the call. */
export function handlerFields({ set, handler, memos, object, call, steps }: HandlerCall): Record<string, unknown> {
  return {
    kind: handler.kind,
    cause: call.cause,
    memo: (memo: Memo<unknown>) => memos.get(memo, object),
    step: steps.step.bind(steps),
    steps: steps.steps.bind(steps),
    ...changeFields(set, handler, call),
  };
}

function changeFields(set: CompiledSet, { subject }: Handler, { key, cause, old, current }: Call): object {
  switch (subject.type) {
    case "object":
      return cause === "update" ? { old, current, diff: set.diff(key, old, current) } : {};
    case "field":
      return { old, current, diff: set.diff(key, old, current) };
    case "computed":
      return { old, current };
    case "items":
      return { item: cause === "removed" ? old : current, old };
    case "none":
      return {};
  }
}
