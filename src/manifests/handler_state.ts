/** The field of a kind's status that has the handler state of its objects. */
import { type HandlerGroup, statefulHandlers } from "../parts/handlers/group.ts";
import { crdsOf } from "./crds.ts";
import { compile, type Parts } from "../parts/part_types.ts";
import type { CustomResourceDefinitionManifest, DefinitionVersion } from "../resource/kind.ts";
import { ownsStatus } from "../resource/ownership.ts";

const SCHEMA = {
  type: "object",
  description: "The changes that the handlers of operators have handled, by operator. Maintained by the operators.",
  additionalProperties: { type: "string" },
} as const;

/**
 * Returns the definitions of the operator's own kinds. Those whose handler state is stored in the
 * status have a field for it.
 *
 * @param parts The operator's parts.
 */
export function definitionsOf(parts: Parts): CustomResourceDefinitionManifest[] {
  const stateful = kindsWithState(parts);
  return crdsOf(Object.values(parts)).map((crd) => stateful.has(crd.metadata.name) ? withHandlerState(crd) : crd);
}

function kindsWithState(parts: Parts): ReadonlySet<string> {
  const groups = [...compile(parts).controllers.values()].filter((unit): unit is HandlerGroup =>
    unit.part === "handlers"
  );
  const stateful = groups.filter((group) => group.storage === "status" && statefulHandlers(group).length > 0);
  return new Set(stateful.flatMap(({ kind }) => ownsStatus(kind) ? kind.crd!.metadata.name : []));
}

/** Without the field, API servers would prune the state. */
function withHandlerState(crd: CustomResourceDefinitionManifest): CustomResourceDefinitionManifest {
  return { ...crd, spec: { ...crd.spec, versions: crd.spec.versions.map(versionWithState) } };
}

function versionWithState(version: DefinitionVersion): DefinitionVersion {
  const root = version.schema.openAPIV3Schema;
  const status = root.properties?.status;
  if (status === undefined) return version;
  const properties = { ...status.properties, handlerState: SCHEMA };
  return {
    ...version,
    schema: { openAPIV3Schema: { ...root, properties: { ...root.properties, status: { ...status, properties } } } },
  };
}
