/**
 * The rules of custom kinds, which follow from their definitions
 * (`k8s.io/apiextensions-apiserver/pkg/registry/customresource`).
 */
import { equal } from "../../base/json.ts";
import { subdomainErrors } from "../../base/name_rules.ts";
import { own } from "../../base/own.ts";
import { Correlation } from "../../schema/correlation.ts";
import { applyDefaults, applyDefaultsKeepingNull, dropNulls } from "../../schema/defaults.ts";
import { embeddedErrors } from "../../schema/embedded_errors.ts";
import { readEmbedded } from "../../schema/embedded_metadata.ts";
import { type FieldError, invalid } from "../../schema/field_error.ts";
import type { JsonSchema } from "../../schema/json_schema.ts";
import { pruneFields } from "../../schema/prune.ts";
import { keywordErrorsAt, newListErrors, ruleErrorsUnlessBlocked } from "../../schema/validate.ts";
import { decode, DecodeError } from "../objects/decode.ts";
import type { Decoded, Rules } from "../objects/kinds.ts";
import { metadataErrors, metadataUpdateErrors, repeatedMetadataErrors } from "../objects/metadata_rules.ts";
import { type Draft, type StoredObject, withMetadata } from "../objects/objects.ts";
import { builtinSchema, OBJECT_META } from "../objects/server_schema.ts";

/** The parts of a definition that determine the rules of a version. */
export interface CustomVersion {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly schema: JsonSchema;
  readonly hasStatus: boolean;
}

/**
 * Returns the rules of a version of a custom kind.
 *
 * @param version The version.
 */
export function customRules(version: CustomVersion): Rules {
  const { schema, hasStatus } = version;
  /** Results of `read` by stored object, so that the same object is returned for each read. */
  const readResults = new WeakMap<StoredObject, StoredObject>();
  /**
   * Warnings about violated rules that a write may ignore, because the old object violates them
   * too.
   */
  const ratcheted = new WeakMap<StoredObject, string[]>();
  return {
    allowsUnconditionalUpdate: false,
    decode: (object) => decodeCustom(schema, object),
    decodeApplied(object) {
      const metadata = decode(builtinSchema(OBJECT_META), own(object, "metadata") ?? {}, [], "metadata");
      return { object: { ...applyDefaultsKeepingNull(schema, object) as Draft, metadata }, unknown: [] };
    },
    prepareCreate(object) {
      const { status: _status, ...rest } = object;
      return withMetadata(hasStatus ? rest as StoredObject : object, { generation: 1 });
    },
    prepareUpdate(object, old, subresource) {
      if (subresource === "status") return statusUpdate(object, old);
      const next = hasStatus ? withField(object, "status", own(old, "status")) : object;
      const generation = old.metadata.generation ?? 1;
      return withMetadata(next, { generation: equalExceptMetadata(next, old) ? generation : generation + 1 });
    },
    validate(object, old, subresource) {
      const typeErrors = typeMetaErrors(version, object);
      if (typeErrors.length > 0) return typeErrors;
      const errors = old === undefined
        ? metadataErrors(object.metadata, version.namespaced, subdomainErrors)
        : metadataUpdateErrors(
          object.metadata,
          old.metadata,
          repeatedMetadataErrors(object.metadata, version.namespaced),
        );
      const tolerated: string[] = [];
      ratcheted.set(object, tolerated);
      const warn = ({ field, message }: FieldError) => tolerated.push(`${field}: ${message}`);
      return [...errors, ...objectErrors(schema, object, { old, isStatus: subresource === "status", errors, warn })];
    },
    warnings: (object) => ratcheted.get(object) ?? [],
    read(stored) {
      const known = readResults.get(stored);
      if (known !== undefined) return known;
      const { value } = pruneFields(schema, stored);
      const read = readEmbedded(schema, dropNulls(schema, value), { onWrongType: "drop" });
      const result = { ...applyDefaults(schema, read) as StoredObject, apiVersion: version.apiVersion };
      readResults.set(stored, result);
      return result;
    },
  };
}

function decodeCustom(schema: JsonSchema, object: Draft): Decoded {
  const unknown: string[] = [];
  const metadata = decode(builtinSchema(OBJECT_META), own(object, "metadata") ?? {}, unknown, "metadata");
  const { value, dropped } = pruneFields(schema, object);
  const embeddedUnknown: string[] = [];
  const read = readEmbedded(schema, dropNulls(schema, value), {
    unknown: embeddedUnknown,
    onWrongType: rejectWrongType,
  });
  const filled = applyDefaults(schema, read) as Draft;
  return { object: { ...filled, metadata }, unknown: [...unknown, ...[...dropped].sort(), ...embeddedUnknown.sort()] };
}

function rejectWrongType({ field, message }: FieldError): never {
  throw new DecodeError(`${field}: ${message}`);
}

interface Write {
  readonly old: StoredObject | undefined;
  readonly isStatus: boolean;
  /** Errors of the write that are already known. */
  readonly errors: readonly FieldError[];
  readonly warn: (error: FieldError) => void;
}

/**
 * Returns the schema errors of an object. In a write to `/status`, keywords are checked in the
 * status only, but CEL rules in the whole object.
 */
function objectErrors(schema: JsonSchema, object: StoredObject, write: Write): FieldError[] {
  const { old, isStatus, warn } = write;
  const correlation = old && new Correlation(schema, object, old);
  const errors = isStatus
    ? statusErrors(schema, object, correlation)
    : [...keywordErrorsAt("", schema, object, correlation), ...embeddedErrors(schema, object)];
  errors.push(...newListErrors(schema, object, old));
  const rules = ruleErrorsUnlessBlocked(schema, object, [...write.errors, ...errors], {
    isResource: true,
    old,
    warn,
    ...(correlation && { correlation }),
  });
  return [...errors, ...rules];
}

function statusErrors(schema: JsonSchema, object: StoredObject, correlation: Correlation | undefined): FieldError[] {
  const [statusSchema, status] = [schema.properties?.status, own(object, "status")];
  if (statusSchema === undefined || status === undefined) return [];
  return keywordErrorsAt("status", statusSchema, status, correlation?.key("status"));
}

function withField(object: StoredObject, key: string, value: unknown): StoredObject {
  if (value !== undefined) return { ...object, [key]: value };
  const { [key]: _removed, ...rest } = object;
  return rest as StoredObject;
}

/** Applies a write to `/status`, which changes only the status and the managed fields. */
function statusUpdate(object: StoredObject, old: StoredObject): StoredObject {
  const status = own(object, "status");
  const { managedFields } = object.metadata;
  return withMetadata(withField(old, "status", status), {
    managedFields,
    resourceVersion: object.metadata.resourceVersion,
    uid: object.metadata.uid,
  });
}

function equalExceptMetadata(a: StoredObject, b: StoredObject): boolean {
  const { metadata: _a, apiVersion: _av, ...restA } = a;
  const { metadata: _b, apiVersion: _bv, ...restB } = b;
  return equal(restA, restB);
}

function typeMetaErrors({ apiVersion, kind }: CustomVersion, object: StoredObject): FieldError[] {
  const errors: FieldError[] = [];
  if (object.kind !== kind) errors.push(invalid("kind", object.kind, `must be ${kind}`));
  if (object.apiVersion !== apiVersion) errors.push(invalid("apiVersion", object.apiVersion, `must be ${apiVersion}`));
  return errors;
}

/**
 * Returns the schema for ownership and merging of fields: with the server's own `apiVersion`,
 * `kind` and `metadata`.
 *
 * @param schema Schema of the definition.
 */
export function ownershipSchema(schema: JsonSchema): JsonSchema {
  return {
    ...schema,
    properties: {
      ...schema.properties,
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: builtinSchema(OBJECT_META),
    },
  };
}
