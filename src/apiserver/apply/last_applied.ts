/**
 * Migration from client-side to server-side apply
 * (`k8s.io/apimachinery/pkg/util/managedfields/internal/lastappliedmanager.go`).
 */
import { isObject } from "../../base/json.ts";
import { own } from "../../base/own.ts";
import { goJson } from "../../schema/go_text.ts";
import type { ServedKind } from "../objects/kinds.ts";
import { type Draft, metadataOf, withMetadata } from "../objects/objects.ts";
import { compare } from "./compare.ts";
import { fieldsOf } from "./typed.ts";
import type { Conflict } from "./updater.ts";

/** Manager name of kubectl. Only this manager may take over fields from client-side apply. */
export const KUBECTL = "kubectl";

const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

function lastAppliedOf(object: Draft): string {
  return own(metadataOf(object).annotations, LAST_APPLIED) ?? "";
}

/**
 * Returns the conflicts that remain without those about fields that the last client-side apply
 * wrote and that have not changed since.
 *
 * @param kind The kind.
 * @param live The current object.
 * @param conflicts All conflicts.
 */
export function conflictsBesidesLastApplied(
  kind: ServedKind,
  live: Draft,
  conflicts: readonly Conflict[],
): readonly Conflict[] {
  const last = parseObject(lastAppliedOf(live));
  if (last === undefined || own(last, "apiVersion") !== kind.apiVersion) return conflicts;
  try {
    const { added, modified, removed } = compare(kind.schema, last, live);
    const kept = fieldsOf(kind.schema, last).difference(modified).difference(added).difference(removed);
    return conflicts.filter(({ path }) => !kept.has(path));
  } catch (error) {
    // A list in the configuration has items without keys.
    if (error instanceof TypeError) return conflicts;
    throw error;
  }
}

function parseObject(text: string): Draft | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns an object with an updated annotation of client-side apply, if it has one.
 *
 * @param object The result of the apply.
 * @param config The applied configuration.
 */
export function withLastApplied(object: Draft, config: Draft): Draft {
  if (lastAppliedOf(object) === "") return object;
  const { annotations } = metadataOf(config);
  const { [LAST_APPLIED]: _last, ...rest } = annotations ?? {};
  const recorded = annotations === undefined ? config : withMetadata(config, { annotations: rest });
  const text = `${goJson(recorded)}\n`;
  if (text === lastAppliedOf(object)) return object;
  return withMetadata(object, { annotations: { ...metadataOf(object).annotations, [LAST_APPLIED]: text } });
}
