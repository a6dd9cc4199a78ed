/** The rules of a custom kind: all of them follow from its definition (`k8s.io/apiextensions-apiserver/pkg/registry/customresource`). */
import { equal, isObject } from "../base/json.ts";
import { own } from "../base/own.ts";
import { withDefaults } from "../schema/defaults.ts";
import { duplicate, type FieldError, invalid } from "../schema/field_error.ts";
import type { JsonSchema } from "../schema/json_schema.ts";
import { prune } from "../schema/prune.ts";
import { validate } from "../schema/validate.ts";
import { decode } from "./decode.ts";
import type { Decoded, Rules } from "./kinds.ts";
import { metadataFaults, metadataUpdateFaults } from "./metadata_rules.ts";
import { subdomainFaults } from "./names.ts";
import { type Draft, type StoredObject, withMetadata } from "./objects.ts";
import { builtinSchema, OBJECT_META } from "./server_schema.ts";

/** What the rules of a custom kind depend on. */
export interface CustomVersion {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly schema: JsonSchema;
  readonly hasStatus: boolean;
}

/**
 * The rules of one version of a custom kind.
 *
 * @param version The version.
 */
export function customRules(version: CustomVersion): Rules {
  const { schema, hasStatus } = version;
  /** What was read before, by what is stored: reading again costs nothing, and gives the same object. */
  const readings = new WeakMap<StoredObject, StoredObject>();
  const statusSchema = schema.properties?.status;
  return {
    allowsUnconditionalUpdate: false,
    decode: (object) => decodeCustom(schema, object),
    prepareCreate(object) {
      const { status: _status, ...rest } = object;
      return withMetadata(hasStatus ? rest as StoredObject : object, { generation: 1 });
    },
    prepareUpdate(object, old, subresource) {
      if (subresource === "status") return statusUpdate(object, old);
      const next = hasStatus ? withField(object, "status", own(old, "status")) : object;
      const generation = old.metadata.generation ?? 1;
      return withMetadata(next, { generation: sameButMetadata(next, old) ? generation : generation + 1 });
    },
    validate(object, old, subresource) {
      const typeFaults = typeMetaFaults(version, object);
      if (typeFaults.length > 0) return typeFaults;
      const faults = old === undefined
        ? metadataFaults(object.metadata, version.namespaced, subdomainFaults)
        : metadataUpdateFaults(object.metadata, old.metadata);
      if (subresource === "status") {
        if (statusSchema !== undefined && own(object, "status") !== undefined) {
          const oldStatus = own(old, "status");
          faults.push(...validate(statusSchema, object.status, {
            path: "status",
            ...(oldStatus !== undefined && { old: oldStatus }),
          }));
        }
        return faults;
      }
      faults.push(...validate(schema, object, old === undefined ? {} : { old }));
      if (old === undefined || listFaults(schema, old, "").length === 0) faults.push(...listFaults(schema, object, ""));
      return faults;
    },
    read(stored) {
      const known = readings.get(stored);
      if (known !== undefined) return known;
      const { value } = prune(schema, stored);
      const shown = { ...withDefaults(schema, value) as StoredObject, apiVersion: version.apiVersion };
      readings.set(stored, shown);
      return shown;
    },
  };
}

function decodeCustom(schema: JsonSchema, object: Draft): Decoded {
  const unknown: string[] = [];
  const metadata = decode(builtinSchema(OBJECT_META), own(object, "metadata") ?? {}, unknown, "metadata");
  const { value, dropped } = prune(schema, object);
  const filled = withDefaults(schema, value) as Draft;
  return { object: { ...filled, metadata }, unknown: [...unknown, ...[...dropped].sort()] };
}

function withField(object: StoredObject, key: string, value: unknown): StoredObject {
  if (value !== undefined) return { ...object, [key]: value };
  const { [key]: _taken, ...rest } = object;
  return rest as StoredObject;
}

/** A write to `/status` changes the status, and of the metadata nothing but who owns which field. */
function statusUpdate(object: StoredObject, old: StoredObject): StoredObject {
  const status = own(object, "status");
  const { managedFields } = object.metadata;
  return withMetadata(withField(old, "status", status), {
    managedFields,
    resourceVersion: object.metadata.resourceVersion,
    uid: object.metadata.uid,
  });
}

function sameButMetadata(a: StoredObject, b: StoredObject): boolean {
  const { metadata: _a, apiVersion: _av, ...restA } = a;
  const { metadata: _b, apiVersion: _bv, ...restB } = b;
  return equal(restA, restB);
}

function typeMetaFaults({ apiVersion, kind }: CustomVersion, object: StoredObject): FieldError[] {
  const faults: FieldError[] = [];
  if (object.kind !== kind) faults.push(invalid("kind", object.kind, `must be ${kind}`));
  if (object.apiVersion !== apiVersion) faults.push(invalid("apiVersion", object.apiVersion, `must be ${apiVersion}`));
  return faults;
}

/** Items that are there twice in a list that is a set or a map. */
function listFaults(schema: JsonSchema, value: unknown, path: string): FieldError[] {
  if (Array.isArray(value)) {
    const { items = {} } = schema;
    return [
      ...duplicates(schema, value, path),
      ...value.flatMap((item, i) => listFaults(items, item, `${path}[${i}]`)),
    ];
  }
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, part]) => {
    const property = own(schema.properties, key) ?? schema.additionalProperties;
    return isObject(property) ? listFaults(property, part, path === "" ? key : `${path}.${key}`) : [];
  });
}

function duplicates(schema: JsonSchema, list: readonly unknown[], path: string): FieldError[] {
  const type = schema["x-kubernetes-list-type"];
  if (type !== "set" && type !== "map") return [];
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  const shown = list.map((item) => type === "set" ? item : keyOfItem(keys, item));
  return shown.flatMap((item, i) =>
    shown.slice(0, i).some((other) => equal(other, item)) ? [duplicate(`${path}[${i}]`, item)] : []
  );
}

function keyOfItem(keys: readonly string[], item: unknown): unknown {
  if (!isObject(item)) return {};
  return Object.fromEntries(keys.flatMap((key) => own(item, key) === undefined ? [] : [[key, item[key]]]));
}

/**
 * The schema of a custom kind as fields are owned and merged by: with the server's own `apiVersion`, `kind` and `metadata`.
 *
 * @param schema The schema of the definition.
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
