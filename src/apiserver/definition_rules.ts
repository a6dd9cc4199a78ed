/** The rules of the kind that makes kinds: CustomResourceDefinition. */
import { equal, isObject } from "../base/json.ts";
import { own } from "../base/own.ts";
import { type FieldError, invalid } from "../schema/field_error.ts";
import { definitionFaults } from "./definition_faults.ts";
import type { DefinitionSpec } from "./crd.ts";
import type { Rules } from "./kinds.ts";
import type { Draft, StoredObject } from "./objects.ts";

/**
 * The rules of definitions.
 *
 * @param base The rules of built-in kinds at large.
 */
export function definitionRules(base: Rules): Rules {
  return {
    ...base,
    decode(object) {
      const decoded = base.decode(object);
      return { ...decoded, object: named(decoded.object) };
    },
    prepareCreate(object, now) {
      const made = base.prepareCreate(object, now);
      const storage = specVersions(made).find((version) => own(version, "storage") === true);
      const storedVersions = storage === undefined ? [] : [own(storage, "name")];
      const status = { conditions: null, acceptedNames: { plural: "", kind: "" }, storedVersions };
      return { ...made, status };
    },
    prepareUpdate(object, old, subresource) {
      const next = base.prepareUpdate(object, old, subresource);
      if (subresource === "status") return next;
      const storage = specVersions(next).find((version) => own(version, "storage") === true);
      const name = storage === undefined ? undefined : own(storage, "name");
      const status = old.status as { storedVersions?: readonly unknown[] } | undefined;
      const stored = status?.storedVersions ?? [];
      if (name === undefined || stored.includes(name)) return next;
      return { ...next, status: { ...status, storedVersions: [...stored, name] } };
    },
    validate(object, old, subresource) {
      const faults = base.validate(object, old, subresource);
      if (subresource === "status") return faults;
      return [...faults, ...definitionFaults(object, old), ...immutableFaults(object, old)];
    },
  };
}

function specVersions(object: Draft): readonly Record<string, unknown>[] {
  const spec = own(object, "spec");
  const versions = isObject(spec) ? own(spec, "versions") : undefined;
  return Array.isArray(versions) ? versions.filter(isObject) : [];
}

/** Names that follow from others. */
function named(object: Draft): Draft {
  const spec = own(object, "spec");
  const names = isObject(spec) ? own(spec, "names") : undefined;
  if (!isObject(spec) || !isObject(names)) return object;
  const kind = String(own(names, "kind") ?? "");
  const derived = {
    ...names,
    singular: own(names, "singular") || kind.toLowerCase(),
    listKind: own(names, "listKind") || (kind === "" ? "" : `${kind}List`),
  };
  return { ...object, spec: { ...spec, names: derived } };
}

/** What cannot change once the kind is in use. */
function immutableFaults(object: StoredObject, old: StoredObject | undefined): FieldError[] {
  if (old === undefined) return [];
  const [next, before] = [object.spec as DefinitionSpec, old.spec as DefinitionSpec];
  const faults: FieldError[] = [];
  const check = (field: string, a: unknown, b: unknown) => {
    if (!equal(a, b)) faults.push(invalid(field, a, "field is immutable"));
  };
  check("spec.scope", next.scope, before.scope);
  check("spec.names.kind", next.names.kind, before.names.kind);
  check("spec.group", next.group, before.group);
  check("spec.names.plural", next.names.plural, before.names.plural);
  return faults;
}
