/** The custom kind of most cases, with a field for each feature of schemas. */

export const GROUP = "contract.example.com";

/** The CustomResourceDefinition of widgets. */
export const widgetDefinition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `widgets.${GROUP}` },
  spec: {
    group: GROUP,
    names: {
      kind: "Widget",
      plural: "widgets",
      singular: "widget",
      listKind: "WidgetList",
      shortNames: ["wd"],
      categories: ["toys"],
    },
    scope: "Namespaced",
    versions: [{
      name: "v1",
      served: true,
      storage: true,
      subresources: { status: {} },
      additionalPrinterColumns: [
        { name: "Size", type: "integer", jsonPath: ".spec.size", description: "How large" },
        { name: "Phase", type: "string", jsonPath: ".status.phase", priority: 1 },
        { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
      ],
      selectableFields: [{ jsonPath: ".spec.color" }],
      schema: {
        openAPIV3Schema: {
          type: "object",
          properties: {
            spec: {
              type: "object",
              properties: {
                size: { type: "integer", minimum: 1, maximum: 10, default: 3 },
                count: { type: "integer", format: "int32", multipleOf: 5 },
                ratio: { type: "number", exclusiveMinimum: true, minimum: 0 },
                color: { type: "string", enum: ["red", "green", "blue"] },
                title: { type: "string", minLength: 2, maxLength: 8, pattern: "^[a-z]+$" },
                enabled: { type: "boolean" },
                note: { type: "string", nullable: true },
                when: { type: "string", format: "date-time" },
                address: { type: "string", format: "ipv4" },
                free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
                either: { "x-kubernetes-int-or-string": true },
                settings: { type: "object", additionalProperties: { type: "string" }, maxProperties: 3 },
                words: { type: "array", items: { type: "string" }, maxItems: 3, minItems: 1 },
                tags: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
                ports: {
                  type: "array",
                  "x-kubernetes-list-type": "map",
                  "x-kubernetes-list-map-keys": ["port", "protocol"],
                  items: {
                    type: "object",
                    required: ["port"],
                    properties: {
                      port: { type: "integer" },
                      protocol: { type: "string", default: "TCP" },
                      name: { type: "string" },
                    },
                  },
                },
                nested: { type: "object", default: {}, properties: { depth: { type: "integer", default: 1 } } },
                team: {
                  type: "object",
                  required: ["lead", "members"],
                  properties: { lead: { type: "string" }, members: { type: "integer" } },
                },
                pair: { type: "object", "x-kubernetes-map-type": "atomic", additionalProperties: { type: "string" } },
              },
            },
            status: {
              type: "object",
              properties: {
                phase: { type: "string" },
                ready: { type: "integer", minimum: 0 },
                observedGeneration: { type: "integer" },
                conditions: {
                  type: "array",
                  "x-kubernetes-list-type": "map",
                  "x-kubernetes-list-map-keys": ["type"],
                  items: {
                    type: "object",
                    required: ["type", "status"],
                    properties: {
                      type: { type: "string" },
                      status: { type: "string" },
                      reason: { type: "string" },
                    },
                  },
                },
              },
            },
          },
        },
      },
    }],
  },
} as const;

/** Returns a widget. */
export function widget(
  name: string,
  spec: unknown = {},
  metadata: Record<string, unknown> = {},
): Record<string, unknown> {
  return { apiVersion: `${GROUP}/v1`, kind: "Widget", metadata: { name, ...metadata }, spec };
}

/** Returns a ConfigMap. */
export function configMap(
  name: string,
  data: Record<string, string> = {},
  metadata: Record<string, unknown> = {},
): Record<string, unknown> {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, ...metadata }, data };
}
