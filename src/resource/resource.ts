/** Kinds of one's own: one declaration gives the types and the CustomResourceDefinition. */
import type { Flatten, JsonSchema, Schema } from "../schema/mod.ts";
import { type CheckedColumns, type Columns, printerColumns } from "./columns.ts";
import { type AddedStatus, CONDITIONS, OBSERVED_GENERATION } from "./conditions.ts";
import { deepFreeze } from "./_freeze.ts";
import type { CustomResourceDefinitionManifest, Kind, ObjectMeta, ObjectMetaInput } from "./kind.ts";
import { checkNames } from "./_names.ts";
import { pluralOf } from "./plural.ts";

/** A kind that {@linkcode resource} made. */
export interface Resource<
  Object extends ResourceMeta,
  Written,
  Group extends string,
  Version extends string,
  Name extends string,
> extends Kind<Object, Written, Group, Version, Name> {
  readonly crd: CustomResourceDefinitionManifest;
}

/** What every object of a kind has, with the kind's own names. */
export interface ResourceMeta<ApiVersion extends string = string, Name extends string = string> {
  readonly apiVersion: ApiVersion;
  readonly kind: Name;
  readonly metadata: ObjectMeta;
}

/** An object of a kind as read: with `spec` where the kind has one, and `status`, none of whose properties is sure to be there. */
export type ResourceObject<
  Group extends string,
  Version extends string,
  Name extends string,
  Spec,
  Status,
> = Flatten<
  & ResourceMeta<`${Group}/${Version}`, Name>
  & ([Spec] extends [never] ? unknown : { readonly spec: Spec })
  & ([Status] extends [never] ? unknown
    : { readonly status?: Flatten<Partial<Status> & Omit<AddedStatus, keyof Status>> })
>;

/** An object of a kind as written. `apiVersion` and `kind` are known, and may be said. */
export type ResourceInput<
  Group extends string,
  Version extends string,
  Name extends string,
  Spec,
  When,
> = Flatten<
  & { readonly apiVersion?: `${Group}/${Version}`; readonly kind?: Name; readonly metadata?: ObjectMetaInput }
  & ([Spec] extends [never] ? unknown
    : When extends "required" ? { readonly spec: Spec }
    : { readonly spec?: Spec | undefined })
>;

/** Options of {@linkcode resource}. */
export interface ResourceOptions<
  Group extends string,
  Version extends string,
  Name extends string,
  SpecRead,
  SpecWritten,
  When extends "required" | "defaulted",
  StatusRead,
> {
  /** A domain name of yours, such as `demo.example.com`. */
  readonly group: Group;
  /** Such as `v1` or `v1alpha1`. */
  readonly version: Version;
  /** In CamelCase, singular. */
  readonly kind: Name;
  /** @default {the kind in lower case, by the rules of English} */
  readonly plural?: string;
  /** @default {the kind in lower case} */
  readonly singular?: string;
  /** @default {the kind and "List"} */
  readonly listKind?: string;
  /** What kubectl takes in place of the plural. */
  readonly shortNames?: readonly string[];
  /** Groups of kinds that kubectl lists together, such as `all`. */
  readonly categories?: readonly string[];
  /** Whether objects live in namespaces. @default {"Namespaced"} */
  readonly scope?: "Namespaced" | "Cluster";
  /** Shown by `kubectl explain`. */
  readonly description?: string;
  /** What users write: an object. */
  readonly spec?: Schema<SpecRead, SpecWritten, When>;
  /**
   * What the operator reports: an object. Being there is what asks for the status subresource; `conditions` and `observedGeneration` are
   * added. No property is required, whatever the schema says: a first run that failed has to be reported too.
   */
  readonly status?: Schema<StatusRead, unknown, "required">;
}

/**
 * Declares a kind.
 *
 * @param options Names and schemas. Columns are those of `kubectl get` after the name; with columns of one's own, Kubernetes leaves out the
 * age: `Age: ".metadata.creationTimestamp"` brings it back.
 * @returns The kind, with its CustomResourceDefinition as `crd`: plain data, frozen.
 * @throws {TypeError} If a name, a schema or a column would be refused by an API server.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { type Infer, resource, s } from "@op/sdk";
 *
 * const Website = resource({
 *   group: "demo.example.com",
 *   version: "v1",
 *   kind: "Website",
 *   spec: s.object({ host: s.string({ format: "hostname" }), replicas: s.integer({ default: 1 }) }),
 *   status: s.object({ ready: s.optional(s.integer()) }),
 *   columns: { Host: ".spec.host", Ready: ".status.ready" },
 * });
 * type Website = Infer<typeof Website>;
 *
 * assert.equal(Website.crd.metadata.name, "websites.demo.example.com");
 * ```
 */
export function resource<
  const Group extends string,
  const Version extends string,
  const Name extends string,
  SpecRead = never,
  SpecWritten = never,
  When extends "required" | "defaulted" = never,
  StatusRead = never,
  const C extends Columns = Record<never, never>,
>(
  options: ResourceOptions<Group, Version, Name, SpecRead, SpecWritten, When, StatusRead> & {
    readonly columns?: CheckedColumns<C, ResourceObject<Group, Version, Name, SpecRead, StatusRead>>;
  },
): Resource<
  ResourceObject<Group, Version, Name, SpecRead, StatusRead>,
  ResourceInput<Group, Version, Name, SpecWritten, When>,
  Group,
  Version,
  Name
> {
  const { group, version, kind, scope = "Namespaced" } = options;
  const singular = options.singular ?? kind.toLowerCase();
  const names = {
    group,
    version,
    kind,
    plural: options.plural ?? pluralOf(kind),
    singular,
    listKind: options.listKind ?? `${kind}List`,
    shortNames: options.shortNames ?? [],
    categories: options.categories ?? [],
  };
  checkNames(names);
  const { categories: _, ...known } = names;
  return deepFreeze({
    ...known,
    shortNames: [...names.shortNames],
    apiVersion: `${group}/${version}`,
    namespaced: scope === "Namespaced",
    crd: definition(names, scope, options),
  });
}

type Names = Parameters<typeof checkNames>[0];

interface Rest {
  readonly description?: string;
  readonly spec?: JsonSchema;
  readonly status?: JsonSchema;
  readonly columns?: Columns;
}

function definition(names: Names, scope: "Namespaced" | "Cluster", rest: Rest): CustomResourceDefinitionManifest {
  const { group, version, kind, plural, singular, listKind, shortNames, categories } = names;
  const { description, spec, status, columns = {} } = rest;
  for (const [key, schema] of [["spec", spec], ["status", status]] as const) {
    if (schema === undefined || schema.type === "object") continue;
    throw new TypeError(`Cannot make kind "${kind}": "${key}" must be an object: use s.object`);
  }
  const properties = { ...(spec && { spec }), ...(status && { status: statusSchema(status) }) };
  const printed = printerColumns(kind, columns, properties);
  // What is made here is frozen in the end; what was handed in stays as it is.
  return structuredClone({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: {
        kind,
        plural,
        singular,
        listKind,
        ...(shortNames.length > 0 && { shortNames }),
        ...(categories.length > 0 && { categories }),
      },
      scope,
      versions: [{
        name: version,
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            ...(description !== undefined && { description }),
            ...(Object.keys(properties).length > 0 && { properties }),
            ...(spec && spec.default === undefined && { required: ["spec"] }),
          },
        },
        ...(status && { subresources: { status: {} } }),
        ...(printed.length > 0 && { additionalPrinterColumns: printed }),
      }],
    },
  });
}

function statusSchema(status: JsonSchema): JsonSchema {
  const { required: _, ...rest } = status;
  return {
    ...rest,
    properties: { conditions: CONDITIONS, observedGeneration: OBSERVED_GENERATION, ...status.properties },
  };
}
