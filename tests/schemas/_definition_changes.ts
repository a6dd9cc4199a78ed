/** Complete definitions with one change: names, versions, columns, scale, selectable fields. */

/** A definition to be changed. */
// deno-lint-ignore no-explicit-any
export type Sent = any;

/** A change of a definition with two versions. */
export interface DefinitionChange {
  readonly name: string;
  readonly change: (definition: Sent) => void;
}

/** Returns a valid definition of a kind with two versions, columns, scale and selectable fields. */
export function fullDefinition(): Sent {
  const schema = () => ({
    openAPIV3Schema: {
      type: "object",
      properties: {
        spec: {
          type: "object",
          properties: {
            replicas: { type: "integer" },
            host: { type: "string" },
            on: { type: "boolean" },
            tags: { type: "array", items: { type: "string" } },
            map: { type: "object", additionalProperties: { type: "string" } },
            "dotted.name": { type: "string" },
          },
        },
        status: { type: "object", properties: { ready: { type: "integer" }, selector: { type: "string" } } },
      },
    },
  });
  const version = (name: string, storage: boolean) => ({
    name,
    served: true,
    storage,
    schema: schema(),
    subresources: {
      status: {},
      scale: {
        specReplicasPath: ".spec.replicas",
        statusReplicasPath: ".status.ready",
        labelSelectorPath: ".status.selector",
      },
    },
    additionalPrinterColumns: [{ name: "Host", type: "string", jsonPath: ".spec.host" }],
    selectableFields: [{ jsonPath: ".spec.host" }],
  });
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "widgets.full.example.com" },
    spec: {
      group: "full.example.com",
      scope: "Namespaced",
      names: {
        kind: "Widget",
        plural: "widgets",
        singular: "widget",
        listKind: "WidgetList",
        shortNames: ["wd"],
        categories: ["all"],
      },
      versions: [version("v1", true), version("v1beta1", false)],
    },
  };
}

function set(path: string, value: unknown): DefinitionChange {
  return {
    name: `${path} = ${JSON.stringify(value)}`,
    change(definition) {
      const steps = path.split(/\.|\[|\]\.?/).filter((step) => step !== "");
      const last = steps.pop()!;
      const parent = steps.reduce((part, step) => part[step], definition);
      if (value === undefined) delete parent[last];
      else parent[last] = value;
    },
  };
}

const LONG = "a".repeat(64);
const VERSION = "spec.versions[0]";

/** All changes. */
export const DEFINITION_CHANGES: readonly DefinitionChange[] = [
  { name: "no change", change: () => {} },
  ...[undefined, "", "widgets", "Widgets.full.example.com", "other.full.example.com"].map((name) =>
    set("metadata.name", name)
  ),
  ...[
    undefined,
    "",
    "example",
    "Full.example.com",
    "-a.example.com",
    "a_b.example.com",
    `${"a".repeat(250)}.example.com`,
  ]
    .map((group) => set("spec.group", group)),
  ...[undefined, "", "namespaced", "Global"].map((scope) => set("spec.scope", scope)),
  ...[undefined, "", "widget", "9Widget", "Wid-get", "Wid_get", LONG, "WidgetList"].map((kind) =>
    set("spec.names.kind", kind)
  ),
  ...[undefined, "", "Widgets", "wid.gets", LONG].map((plural) => set("spec.names.plural", plural)),
  ...[undefined, "", "Widget", "wid_get"].map((singular) => set("spec.names.singular", singular)),
  ...[undefined, "", "Widget", "widget-list", "9"].map((listKind) => set("spec.names.listKind", listKind)),
  ...[[""], ["WD"], ["a b"], ["wd", "wd"], ["a.b"], [LONG]].map((names) => set("spec.names.shortNames", names)),
  ...[[""], ["All"], ["a_b"], []].map((names) => set("spec.names.categories", names)),
  set("spec.versions", []),
  set("spec.versions", undefined),
  ...["", "V1", "1", "v1.0", "v1beta1", LONG, "v1-x", "latest"].map((name) => set(`${VERSION}.name`, name)),
  set(`${VERSION}.storage`, false),
  set("spec.versions[1].storage", true),
  set(`${VERSION}.served`, false),
  set(`${VERSION}.schema`, undefined),
  set(`${VERSION}.schema`, {}),
  set(`${VERSION}.deprecated`, true),
  set(`${VERSION}.deprecationWarning`, "use v2"),
  {
    name: "a deprecated version with a warning",
    change: ({ spec }) => Object.assign(spec.versions[0], { deprecated: true, deprecationWarning: "use v2" }),
  },
  {
    name: "a warning that is empty",
    change: ({ spec }) => Object.assign(spec.versions[0], { deprecated: true, deprecationWarning: "" }),
  },
  {
    name: "a warning of two lines",
    change: ({ spec }) => Object.assign(spec.versions[0], { deprecated: true, deprecationWarning: "a\nb" }),
  },
  {
    name: "a warning that is too long",
    change: ({ spec }) => Object.assign(spec.versions[0], { deprecated: true, deprecationWarning: "a".repeat(257) }),
  },
  ...[
    {},
    { name: "", type: "string", jsonPath: ".spec.host" },
    { name: "A", type: "", jsonPath: ".spec.host" },
    { name: "A", type: "text", jsonPath: ".spec.host" },
    { name: "A", type: "string", jsonPath: "" },
    { name: "A", type: "string", jsonPath: "spec.host" },
    { name: "A", type: "string", jsonPath: ".spec[" },
    { name: "A", type: "string", jsonPath: ".spec.tags[0]" },
    { name: "A", type: "string", jsonPath: '.spec.tags[?(@.a=="b")]' },
    { name: "A", type: "string", jsonPath: ".missing" },
    {
      name: "A",
      type: "date",
      format: "date-time",
      jsonPath: ".metadata.creationTimestamp",
      priority: 1,
      description: "d",
    },
    { name: "A", type: "integer", format: "text", jsonPath: ".spec.replicas" },
    { name: "A", type: "string", jsonPath: ".spec.host", priority: -1 },
    { name: "A", type: "string", jsonPath: "{.spec.host}" },
    { name: "A", type: "string", jsonPath: ".spec.host | .x" },
    { name: "A", type: "string", jsonPath: ".spec..host" },
    { name: "A", type: "string", jsonPath: ".spec.host\n" },
  ].map((column) => set(`${VERSION}.additionalPrinterColumns`, [column])),
  {
    name: "two columns of one name",
    change: ({ spec }) => spec.versions[0].additionalPrinterColumns.push(spec.versions[0].additionalPrinterColumns[0]),
  },
  ...[
    {},
    { specReplicasPath: ".spec.replicas" },
    { statusReplicasPath: ".status.ready" },
    { specReplicasPath: "spec.replicas", statusReplicasPath: ".status.ready" },
    { specReplicasPath: ".status.replicas", statusReplicasPath: ".status.ready" },
    { specReplicasPath: ".spec.replicas", statusReplicasPath: ".spec.ready" },
    { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.ready", labelSelectorPath: "status.selector" },
    { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.ready", labelSelectorPath: ".metadata.labels" },
    { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.ready", labelSelectorPath: ".spec.selector" },
    { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.ready", labelSelectorPath: "" },
    { specReplicasPath: ".spec.missing", statusReplicasPath: ".status.missing" },
    { specReplicasPath: ".spec.tags[0]", statusReplicasPath: ".status.ready" },
    { specReplicasPath: ".spec.host", statusReplicasPath: ".status.selector" },
    { specReplicasPath: "", statusReplicasPath: "" },
    { specReplicasPath: ".spec[", statusReplicasPath: ".status.ready" },
    { specReplicasPath: ".spec", statusReplicasPath: ".status" },
  ].map((scale) => set(`${VERSION}.subresources.scale`, scale)),
  set(`${VERSION}.subresources.status`, undefined),
  set(`${VERSION}.subresources`, {}),
  ...[
    [],
    [{}],
    [{ jsonPath: "" }],
    [{ jsonPath: "spec.host" }],
    [{ jsonPath: ".spec.missing" }],
    [{ jsonPath: ".spec.tags" }],
    [{ jsonPath: ".spec.tags[0]" }],
    [{ jsonPath: ".spec.map" }],
    [{ jsonPath: ".spec.map.key" }],
    [{ jsonPath: ".spec" }],
    [{ jsonPath: ".metadata.name" }],
    [{ jsonPath: ".spec.host" }, { jsonPath: ".spec.host" }],
    [{ jsonPath: ".spec.on" }, { jsonPath: ".spec.replicas" }],
    [{ jsonPath: ".spec['dotted.name']" }],
    [{ jsonPath: ".spec.dotted.name" }],
    [{ jsonPath: ".status.ready" }],
    Array.from({ length: 9 }, () => ({ jsonPath: ".spec.host" })),
  ].map((fields) => set(`${VERSION}.selectableFields`, fields)),
  ...[
    { strategy: "None" },
    { strategy: "Other" },
    {},
    { strategy: "Webhook" },
    { strategy: "Webhook", webhook: { conversionReviewVersions: ["v1"] } },
    { strategy: "Webhook", webhook: { conversionReviewVersions: ["v1"], clientConfig: { url: "http://example.com" } } },
    { strategy: "Webhook", webhook: { conversionReviewVersions: [], clientConfig: { url: "https://example.com" } } },
    {
      strategy: "Webhook",
      webhook: { conversionReviewVersions: ["v9"], clientConfig: { url: "https://example.com" } },
    },
    {
      strategy: "Webhook",
      webhook: { conversionReviewVersions: ["v1"], clientConfig: { service: { name: "a", namespace: "b", port: 0 } } },
    },
    { strategy: "None", webhook: { conversionReviewVersions: ["v1"], clientConfig: { url: "https://example.com" } } },
  ].map((conversion) => set("spec.conversion", conversion)),
  set("spec.preserveUnknownFields", true),
  set("spec.preserveUnknownFields", false),
  set("spec.unknown", 1),
  set("spec.names.unknown", 1),
  set(`${VERSION}.unknown`, 1),
  set(`${VERSION}.schema.openAPIV3Schema.unknown`, 1),
  set("metadata.labels", { "a b": "c" }),
  set("metadata.annotations", { "api-approved.kubernetes.io": "unapproved" }),
  set("spec.group", "apps.k8s.io"),
];
