/**
 * Objects of a kind in several versions: each is kept in one of them, and shown in the one that is asked for
 * (`k8s.io/apiextensions-apiserver/pkg/apiserver`, crdConversionRESTOptionsGetter).
 */
import { dropNulls } from "../../schema/defaults.ts";
import { readEmbedded } from "../../schema/embedded_metadata.ts";
import type { JsonSchema } from "../../schema/json_schema.ts";
import { pruneFields } from "../../schema/prune.ts";
import type { Rules } from "../objects/kinds.ts";
import type { StoredObject } from "../objects/objects.ts";
import { eachConverted, type WebhookConverter } from "../webhooks/conversion.ts";
import { StatusError } from "../wire/status_error.ts";

/** A version in which objects may be kept. */
export interface StoredIn {
  readonly apiVersion: string;
  readonly schema: JsonSchema;
  readonly rules: Rules;
  /** Whether what is written is kept in it. */
  readonly isStorage: boolean;
  readonly isServed: boolean;
}

/**
 * The rules of one version of a kind that may have others.
 *
 * @param apiVersion The version.
 * @param versions All versions of the kind, this one too.
 * @param strategy How objects get from one version to another.
 * @param converter The webhook that does, where the strategy is one.
 */
export function versionedRules(
  apiVersion: string,
  versions: readonly StoredIn[],
  strategy: string,
  converter?: WebhookConverter,
): Rules {
  const own = versionNamed(versions, apiVersion);
  const storage = versions.find(({ isStorage }) => isStorage) ?? own;
  if (versions.length === 1) return own.rules;
  const ofVersion = (name: string) => versions.find((version) => version.apiVersion === name)?.rules;
  const shown = new WeakMap<StoredObject, StoredObject>();
  const way = strategy === "None" ? undefined : converter;
  const all = versions.filter(({ isServed }) => isServed);
  return {
    ...own.rules,
    ofVersion,
    ...(way === undefined ? {} : {
      convertAll: (object) => {
        eachConverted(all, (version) => {
          try {
            convert(object, version, way);
          } catch (error) {
            // It is told to whoever asks for that version.
            if (!(error instanceof StatusError)) throw error;
          }
        });
      },
      async refresh(stored: StoredObject): Promise<void> {
        if (stored.apiVersion === apiVersion) return;
        await way.refresh(versionNamed(versions, stored.apiVersion).rules.read(stored), apiVersion);
        shown.delete(stored);
      },
    }),
    stored: (object) => convert(object, storage, way),
    read(stored) {
      if (stored.apiVersion === apiVersion) return own.rules.read(stored);
      const known = shown.get(stored);
      if (known !== undefined) return known;
      // Defaults are those of the version in which it was kept: so the server does it.
      const { rules } = versionNamed(versions, stored.apiVersion);
      const converted = convert(rules.read(stored), own, way);
      shown.set(stored, converted);
      return converted;
    },
  };
}

function versionNamed(versions: readonly StoredIn[], apiVersion: string): StoredIn {
  const found = versions.find((version) => version.apiVersion === apiVersion);
  if (found !== undefined) return found;
  throw new StatusError(500, undefined, `request to convert CR from an invalid group/version: ${apiVersion}`);
}

/** By the webhook; with the strategy None, an object is the same in all versions, but for fields that a version does not know. */
function convert(object: StoredObject, version: StoredIn, converter: WebhookConverter | undefined): StoredObject {
  if (object.apiVersion === version.apiVersion) return object;
  const { schema } = version;
  if (converter !== undefined) {
    const converted = converter.convert(object, version.apiVersion);
    return readEmbedded(schema, dropNulls(schema, pruneFields(schema, converted).value)) as StoredObject;
  }
  // What a version does not allow is gone in it, but nothing is filled in.
  const value = readEmbedded(schema, dropNulls(schema, pruneFields(schema, object).value));
  return { ...value as StoredObject, apiVersion: version.apiVersion };
}
