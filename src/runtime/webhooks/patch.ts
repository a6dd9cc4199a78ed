/** From what `mutate` made to the JSON patch that the API server gets. Fields that nobody here knows survive. */
import { diffJson } from "../../base/json_diff.ts";
import { equal, isObject } from "../../base/json.ts";
import type { JsonPatchOperation } from "../../base/json_patch.ts";
import { own, withKeys } from "../../base/own.ts";
import type { AnyKind } from "../../resource/kind.ts";
import { prune } from "../../schema/prune.ts";
import type { JsonSchema } from "../../schema/mod.ts";

type Json = Record<string, unknown>;

/**
 * The patch that a draft stands for: exactly what was changed in it.
 *
 * @param before The object as it was received.
 * @param draft The draft: a copy of it that was changed.
 */
export function patchOfDraft(before: Json, draft: Json): JsonPatchOperation[] {
  return diffJson(before, draft);
}

/**
 * The patch that a wanted object stands for. What it leaves out at its top and in its metadata stays; further down what it leaves out goes, unless it
 * is a field that the kind's schema does not know: a newer version of the kind may have it.
 *
 * @param before The object as it was received.
 * @param wanted What was answered.
 * @param kind Its kind, whose schema is asked where it has one.
 */
export function patchOfWanted(before: Json, wanted: Json, kind: AnyKind | undefined): JsonPatchOperation[] {
  const plain = JSON.parse(JSON.stringify(wanted)) as Json;
  const full = withKept(before, wanted, plain);
  const schema = kind?.crd?.spec.versions.find(({ name }) => name === kind.version)?.schema.openAPIV3Schema;
  return diffJson(before, schema === undefined ? full : withUnknown(schema, before, full));
}

/** What is left out at the top and in the metadata stays; what is said to be undefined goes. */
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

/** Puts back what a schema does not know: what pruning takes from the object before, and the wanted one does not have. */
function withUnknown(schema: JsonSchema, before: Json, wanted: Json): Json {
  const known = prune(schema, before).value;
  return equal(known, before) ? wanted : merged(before, known, wanted) as Json;
}

function merged(before: unknown, known: unknown, wanted: unknown): unknown {
  if (Array.isArray(before) && Array.isArray(known) && Array.isArray(wanted)) {
    // An item that moved is another one: nobody can tell where its unknown fields belong.
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
