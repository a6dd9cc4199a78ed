/** Small definitions for tests. */
import type { JsonSchema } from "@op/sdk/resource";
import { definitionsIn } from "../definitions/definition.ts";
import type { DefinedVersion, Definition } from "../definitions/definition.ts";

/** Properties of a definition that differ from the default. */
export interface DefinitionOverrides {
  readonly names?: Partial<Definition["spec"]["names"]>;
  readonly metadata?: Partial<Definition["metadata"]>;
  readonly spec?: Partial<Definition["spec"]>;
  readonly version?: Partial<DefinedVersion>;
  readonly status?: JsonSchema;
  readonly root?: JsonSchema;
}

/**
 * Returns a definition of the kind Site with one version.
 *
 * @param spec The schema of its spec.
 * @param overrides Properties that differ from the default.
 */
export function definitionOf(spec: JsonSchema, overrides: DefinitionOverrides = {}): Definition {
  const { status, root } = overrides;
  const version = {
    name: "v1",
    served: true,
    storage: true,
    schema: {
      openAPIV3Schema: {
        type: "object",
        properties: {
          apiVersion: { type: "string" },
          kind: { type: "string" },
          metadata: { type: "object" },
          spec,
          ...(status && { status }),
        },
        required: ["spec"],
        ...root,
      },
    },
    ...(status && { subresources: { status: {} } }),
    ...overrides.version,
  };
  const [definition] = definitionsIn([{
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "sites.demo.example.com", ...overrides.metadata },
    spec: {
      group: "demo.example.com",
      names: { kind: "Site", plural: "sites", singular: "site", listKind: "SiteList", ...overrides.names },
      scope: "Namespaced",
      versions: [version],
      ...overrides.spec,
    },
  }]);
  return definition!;
}

/** The comment above the kind Site in its module. */
export const HEADER = `/** Site of demo.example.com, from its CustomResourceDefinition by \`op crd import\`. */
import { type Infer, resource, s } from "@op/sdk";
`;

/** Returns the module of the kind Site with some spec. */
export function site(spec: string): string {
  return `export const Site = resource({
  group: "demo.example.com",
  version: "v1",
  kind: "Site",
  external: true,
  ${spec.trim().replaceAll("\n", "\n  ")}
});
export type Site = Infer<typeof Site>;
`;
}
