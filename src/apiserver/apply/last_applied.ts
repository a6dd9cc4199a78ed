/** From client-side to server-side apply (`k8s.io/apimachinery/pkg/util/managedfields/internal/lastappliedmanager.go`). */
import { isObject } from "../../base/json.ts";
import { own } from "../../base/own.ts";
import { goJson } from "../../schema/go_text.ts";
import type { ServedKind } from "../objects/kinds.ts";
import { type Draft, metadataOf, withMetadata } from "../objects/objects.ts";
import { compare } from "./compare.ts";
import { fieldsOf } from "./typed.ts";
import type { Conflict } from "./updater.ts";

/** The manager by whose name kubectl applies: it alone may take over what client-side apply wrote. */
export const KUBECTL = "kubectl";

const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

function lastAppliedOf(object: Draft): string {
  return own(metadataOf(object).annotations, LAST_APPLIED) ?? "";
}

/**
 * The conflicts that are not about fields of the last client-side apply, as far as the object still has them as that wrote them.
 *
 * @param kind The kind.
 * @param live What is there.
 * @param conflicts All conflicts.
 */
export function conflictsBeside(kind: ServedKind, live: Draft, conflicts: readonly Conflict[]): readonly Conflict[] {
  const last = parsed(lastAppliedOf(live));
  if (last === undefined || own(last, "apiVersion") !== kind.apiVersion) return conflicts;
  try {
    const { added, modified, removed } = compare(kind.schema, last, live);
    const kept = fieldsOf(kind.schema, last).difference(modified).difference(added).difference(removed);
    return conflicts.filter(({ path }) => !kept.has(path));
  } catch (error) {
    // A list in it whose items cannot be told apart.
    if (error instanceof TypeError) return conflicts;
    throw error;
  }
}

function parsed(text: string): Draft | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * An object with the annotation of client-side apply brought up to date, where it has one: what kubectl applied is what it applied last.
 *
 * @param object What the apply made.
 * @param config What was applied.
 */
export function withLastApplied(object: Draft, config: Draft): Draft {
  if (lastAppliedOf(object) === "") return object;
  const { annotations } = metadataOf(config);
  const { [LAST_APPLIED]: _last, ...rest } = annotations ?? {};
  const shown = annotations === undefined ? config : withMetadata(config, { annotations: rest });
  const text = `${goJson(shown)}\n`;
  if (text === lastAppliedOf(object)) return object;
  return withMetadata(object, { annotations: { ...metadataOf(object).annotations, [LAST_APPLIED]: text } });
}
