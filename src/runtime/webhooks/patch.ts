/**
 * Builds the JSON patch for the result of `mutate`. Fields that the operator does not know survive.
 */
import { diffJson } from "../../base/json_diff.ts";
import { equal, isObject } from "../../base/json.ts";
import type { JsonPatchOperation } from "../../base/json_patch.ts";
import { own, withKeys } from "../../base/own.ts";
import type { AnyKind } from "../../resource/kind.ts";
import { prune } from "../../schema/prune.ts";
import type { JsonSchema } from "../../schema/mod.ts";

type Json = Record<string, unknown>;

/**
 * Returns the patch for a changed draft: exactly the changes.
 *
 * @param before The object of the request.
 * @param draft A copy of it that was changed.
 */
export function patchOfDraft(before: Json, draft: Json): JsonPatchOperation[] {
  return diffJson(before, draft);
}

/**
 * Returns the patch for a desired object. Fields that it omits at the top level and in `metadata`
 * are kept. Deeper fields that it omits are removed, unless the kind's schema does not define them,
 * because a newer version of the kind may.
 *
 * @param before The object of the request.
 * @param wanted The desired object.
 * @param kind The kind, for its schema; `undefined` if the object has no schema.
 */
export function patchOfWanted(before: Json, wanted: Json, kind: AnyKind | undefined): JsonPatchOperation[] {
  const plain = JSON.parse(JSON.stringify(wanted)) as Json;
  const full = withKept(before, wanted, plain);
  const schema = kind?.crd?.spec.versions.find(({ name }) => name === kind.version)?.schema.openAPIV3Schema;
  return diffJson(before, schema === undefined ? full : withUnknown(schema, before, full));
}

/**
 * Keeps omitted fields at the top level and in `metadata`. Fields set to `undefined` are removed.
 */
function withKept(before: Json, wanted: Json, plain: Json): Json {
  const kept = (old: Json, said: Json, now: Json) =>
    withKeys(
      withKeys(old, Object.keys(old).filter((key) => Object.hasOwn(said, key)).map((key) => [key, undefined])),
      Object.entries(now),
    );
  const full = kept(before, wanted, plain);
  const [old, said, now] = [own(before, "metadata"), own(wanted, "metadata"), own(plain, "metadata")];
  if (!isObject(old) || !isObject(said) || !isObject(now)) return full;
  return withKeys(full, [["metadata", kept(old, said, now)]]);
}

/**
 * Restores fields that the schema does not define: those that pruning removes from the original.
 */
function withUnknown(schema: JsonSchema, before: Json, wanted: Json): Json {
  const known = prune(schema, before).value;
  return equal(known, before) ? wanted : merged(before, known, wanted) as Json;
}

function merged(before: unknown, known: unknown, wanted: unknown): unknown {
  if (Array.isArray(before) && Array.isArray(known) && Array.isArray(wanted)) {
    // Items are matched by index; unknown fields of a moved item cannot be matched.
    return wanted.map((item, i) => merged(before[i], known[i], item));
  }
  if (!isObject(before) || !isObject(known) || !isObject(wanted)) return wanted;
  return withKeys(
    wanted,
    Object.keys(before).flatMap((key): [string, unknown][] => {
      const now = own(wanted, key);
      if (!Object.hasOwn(known, key)) return now === undefined ? [[key, before[key]]] : [];
      return now === undefined ? [] : [[key, merged(before[key], known[key], now)]];
    }),
  );
}
