/** Small CustomResourceDefinitions for cases about definitions themselves. */

const GROUP = "fruit.example.com";

/** `apiVersion` of objects of these kinds. */
export const FRUIT_VERSION: string = `${GROUP}/v1`;

/** Options for {@linkcode definition}. */
export interface DefinitionOptions {
  readonly scope?: "Namespaced" | "Cluster";
  /** The first one is stored. @default {["v1"]} */
  readonly versions?: readonly string[];
  readonly schema?: unknown;
}

const SCHEMA = {
  type: "object",
  properties: { spec: { type: "object", properties: { size: { type: "integer" } } } },
};

/** Returns the definition of a kind. */
export function definition(
  kind: string,
  plural: string,
  options: DefinitionOptions = {},
): {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
  spec: {
    group: string;
    names: { kind: string; plural: string };
    scope: string;
    versions: { name: string; served: boolean; storage: boolean; schema?: { openAPIV3Schema: unknown } }[];
  };
} {
  const { scope = "Namespaced", versions = ["v1"] } = options;
  const schema = "schema" in options ? options.schema : SCHEMA;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${GROUP}` },
    spec: {
      group: GROUP,
      names: { kind, plural },
      scope,
      versions: versions.map((name, i) => ({
        name,
        served: true,
        storage: i === 0,
        ...(schema === undefined ? {} : { schema: { openAPIV3Schema: schema } }),
      })),
    },
  };
}
