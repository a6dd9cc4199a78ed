/**
 * The rules of CustomResourceDefinitions
 * (`k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition`).
 */
import { equal, isObject } from "../../base/json.ts";
import { own } from "../../base/own.ts";
import { unknownFormats } from "../../schema/unknown_formats.ts";
import type { Rules } from "../objects/kinds.ts";
import type { Draft, StoredObject } from "../objects/objects.ts";
import type { DefinitionSpec, DefinitionStatus } from "./crd.ts";
import { definitionErrors, namesErrors } from "./errors.ts";
import { normalSpec } from "./form.ts";

/**
 * Returns the rules of CustomResourceDefinitions.
 *
 * @param base The rules of built-in kinds.
 */
export function definitionRules(base: Rules): Rules {
  /**
   * Specs with the empty lists that the client sent, by stored spec. Empty lists are validated, but
   * not stored.
   */
  const sent = new WeakMap<object, unknown>();
  return {
    ...base,
    decode(object) {
      const { object: decoded, unknown } = base.decode(object);
      const spec = own(decoded, "spec");
      if (!isObject(spec)) return { object: decoded, unknown };
      const stored = normalSpec(spec);
      sent.set(stored, normalSpec(spec, { keepsEmpty: true }));
      return { object: { ...decoded, spec: stored }, unknown };
    },
    prepareCreate(object, now) {
      const prepared = base.prepareCreate(object, now);
      const stored = storageVersion(prepared);
      const storedVersions = stored === undefined ? [] : [stored];
      return { ...prepared, status: { conditions: null, acceptedNames: { plural: "", kind: "" }, storedVersions } };
    },
    prepareUpdate(object, old, subresource) {
      const next = base.prepareUpdate(object, old, subresource);
      if (subresource === "status") return next;
      const name = storageVersion(next);
      const status = old.status as DefinitionStatus | undefined;
      const stored = status?.storedVersions ?? [];
      // A version stays in the list until a user removes it after a storage migration.
      if (name === undefined || stored.includes(name)) return next;
      return { ...next, status: { ...status, storedVersions: [...stored, name] } };
    },
    validate(object, old, subresource) {
      const errors = base.validate(object, old, subresource);
      if (subresource !== "status") {
        const spec = isObject(object.spec) ? sent.get(object.spec) ?? object.spec : object.spec;
        return [...errors, ...definitionErrors({ ...object, spec }, old)];
      }
      const status = object.status as DefinitionStatus | undefined;
      return [...errors, ...namesErrors(status?.acceptedNames, "status.acceptedNames")];
    },
    warnings(object, old, subresource) {
      if (subresource === "status") return [];
      const known = old === undefined ? [] : formatsIn(old);
      return formatsIn(object).filter((format) => !known.includes(format))
        .map((format) => `unrecognized format ${JSON.stringify(format)}`);
    },
  };
}

function storageVersion({ spec }: Draft): string | undefined {
  return (spec as DefinitionSpec | undefined)?.versions?.find(({ storage }) => storage)?.name;
}

function formatsIn({ spec }: StoredObject): string[] {
  const schemas = ((spec as DefinitionSpec | undefined)?.versions ?? []).map(({ schema }) => schema?.openAPIV3Schema);
  const [first, ...rest] = schemas;
  // A schema that all versions share is checked once.
  const checked = rest.every((schema) => equal(schema, first)) ? [first] : schemas;
  return checked.flatMap((schema) => schema === undefined ? [] : unknownFormats(schema));
}
