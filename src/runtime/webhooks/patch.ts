/**
 * Builds the JSON patch for the result of `mutate`. Fields that the schema does not define are
 * kept.
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
 * Returns the patch for a changed draft, which contains exactly its changes.
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
  const full = keepOmitted(before, wanted, plain);
  const schema = kind?.crd?.spec.versions.find(({ name }) => name === kind.version)?.schema.openAPIV3Schema;
  return diffJson(before, schema === undefined ? full : restoreUnknown(schema, before, full));
}

/**
 * Keeps omitted fields at the top level and in `metadata`. Fields set to `undefined` are removed.
 */
function keepOmitted(before: Json, wanted: Json, plain: Json): Json {
  const mergeTop = (old: Json, wanted: Json, plain: Json) =>
    withKeys(
      withKeys(old, Object.keys(old).filter((key) => Object.hasOwn(wanted, key)).map((key) => [key, undefined])),
      Object.entries(plain),
    );
  const full = mergeTop(before, wanted, plain);
  const [old, wantedMetadata, plainMetadata] = [before, wanted, plain].map((object) => own(object, "metadata"));
  if (!isObject(old) || !isObject(wantedMetadata) || !isObject(plainMetadata)) return full;
  return withKeys(full, [["metadata", mergeTop(old, wantedMetadata, plainMetadata)]]);
}

/**
 * Restores fields that the schema does not define, which are those that pruning removes from the
 * original object.
 */
function restoreUnknown(schema: JsonSchema, before: Json, wanted: Json): Json {
  const known = prune(schema, before).value;
  return equal(known, before) ? wanted : restoreIn(before, known, wanted) as Json;
}

function restoreIn(before: unknown, known: unknown, wanted: unknown): unknown {
  if (Array.isArray(before) && Array.isArray(known) && Array.isArray(wanted)) {
    // Items are matched by index, so a moved item loses its unknown fields.
    return wanted.map((item, i) => restoreIn(before[i], known[i], item));
  }
  if (!isObject(before) || !isObject(known) || !isObject(wanted)) return wanted;
  return withKeys(
    wanted,
    Object.keys(before).flatMap((key): [string, unknown][] => {
      const now = own(wanted, key);
      if (!Object.hasOwn(known, key)) return now === undefined ? [[key, before[key]]] : [];
      return now === undefined ? [] : [[key, restoreIn(before[key], known[key], now)]];
    }),
  );
}
