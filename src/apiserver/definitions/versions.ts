/**
 * Objects of a kind with several versions: each is stored in one version, and converted to the
 * requested one (`k8s.io/apiextensions-apiserver/pkg/apiserver`, crdConversionRESTOptionsGetter).
 */
import { dropNulls } from "../../schema/defaults.ts";
import { readEmbedded } from "../../schema/embedded_metadata.ts";
import type { JsonSchema } from "../../schema/json_schema.ts";
import { pruneFields } from "../../schema/prune.ts";
import type { Rules } from "../objects/kinds.ts";
import type { StoredObject } from "../objects/objects.ts";
import { eachConverted, type WebhookConverter } from "../webhooks/conversion.ts";
import { StatusError } from "../wire/status_error.ts";

/** A version in which objects may be stored. */
export interface StorableVersion {
  readonly apiVersion: string;
  readonly schema: JsonSchema;
  readonly rules: Rules;
  /** Whether new writes are stored in this version. */
  readonly isStorage: boolean;
  readonly isServed: boolean;
}

/**
 * Returns the rules of a version of a kind.
 *
 * @param apiVersion The version.
 * @param versions All versions of the kind, including this one.
 * @param strategy The conversion strategy.
 * @param converter The conversion webhook, if the strategy is Webhook.
 */
export function versionedRules(
  apiVersion: string,
  versions: readonly StorableVersion[],
  strategy: string,
  converter?: WebhookConverter,
): Rules {
  const own = versionNamed(versions, apiVersion);
  const storage = versions.find(({ isStorage }) => isStorage) ?? own;
  if (versions.length === 1) return own.rules;
  const ofVersion = (name: string) => versions.find((version) => version.apiVersion === name)?.rules;
  /** Converted objects by stored object. `refresh` removes an entry after calling the webhook. */
  const conversions = new WeakMap<StoredObject, StoredObject>();
  const webhook = strategy === "None" ? undefined : converter;
  const servedVersions = versions.filter(({ isServed }) => isServed);
  return {
    ...own.rules,
    ofVersion,
    ...(webhook === undefined ? {} : {
      convertAll: (object) => {
        eachConverted(servedVersions, (version) => {
          try {
            convert(object, version, webhook);
          } catch (error) {
            // A read in that version throws the error.
            if (!(error instanceof StatusError)) throw error;
          }
        });
      },
      async refresh(stored: StoredObject): Promise<void> {
        if (stored.apiVersion === apiVersion) return;
        await webhook.refresh(versionNamed(versions, stored.apiVersion).rules.read(stored), apiVersion);
        conversions.delete(stored);
      },
    }),
    stored: (object) => convert(object, storage, webhook),
    read(stored) {
      if (stored.apiVersion === apiVersion) return own.rules.read(stored);
      const known = conversions.get(stored);
      if (known !== undefined) return known;
      // As in the real server, defaults are those of the stored version.
      const { rules } = versionNamed(versions, stored.apiVersion);
      const converted = convert(rules.read(stored), own, webhook);
      conversions.set(stored, converted);
      return converted;
    },
  };
}

function versionNamed(versions: readonly StorableVersion[], apiVersion: string): StorableVersion {
  const found = versions.find((version) => version.apiVersion === apiVersion);
  if (found !== undefined) return found;
  throw new StatusError(500, undefined, `request to convert CR from an invalid group/version: ${apiVersion}`);
}

/**
 * Converts an object to a version: with the webhook, or, with the strategy None, by dropping the
 * fields that the version does not have.
 */
function convert(
  object: StoredObject,
  version: StorableVersion,
  converter: WebhookConverter | undefined,
): StoredObject {
  if (object.apiVersion === version.apiVersion) return object;
  const { schema } = version;
  if (converter !== undefined) {
    const converted = converter.convert(object, version.apiVersion);
    return readEmbedded(schema, dropNulls(schema, pruneFields(schema, converted).value)) as StoredObject;
  }
  // Drops fields of other versions, but sets no defaults.
  const value = readEmbedded(schema, dropNulls(schema, pruneFields(schema, object).value));
  return { ...value as StoredObject, apiVersion: version.apiVersion };
}
