import { area } from "../contract.ts";
import { definition } from "../definition.ts";
import { CRDS, type Recorder } from "../recorder.ts";

type Fields = Readonly<Record<string, unknown>>;

const DRY = `${CRDS}?dryRun=All`;
const SCHEMA = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        host: { type: "string" },
        kind: { type: "string", enum: ["a", "b"] },
        count: { type: "integer" },
        on: { type: "boolean" },
        ratio: { type: "number" },
        either: { "x-kubernetes-int-or-string": true },
        list: { type: "array", items: { type: "string" } },
        labels: { type: "object", additionalProperties: { type: "string" } },
      },
    },
    status: { type: "object", properties: { count: { type: "integer" }, selector: { type: "string" } } },
  },
};
const OTHER = { type: "object", properties: { spec: { type: "object", properties: { host: { type: "string" } } } } };

/** Tries to create definitions with changes of the spec. */
async function trySpecs(api: Recorder, changes: readonly Fields[]): Promise<void> {
  for (const change of changes) {
    const nuts = definition("Nut", "nuts");
    await api.post(DRY, { ...nuts, spec: { ...nuts.spec, ...change } });
  }
}

/** Tries to create definitions with changes of their only version. */
async function tryVersions(api: Recorder, changes: readonly Fields[]): Promise<void> {
  for (const change of changes) {
    const nuts = definition("Nut", "nuts", { schema: SCHEMA });
    const versions = nuts.spec.versions.map((version) => ({ ...version, ...change }));
    await api.post(DRY, { ...nuts, spec: { ...nuts.spec, versions } });
  }
}

/** Tries to create definitions with several versions, of which the first is stored. */
async function tryTogether(api: Recorder, together: readonly (readonly Fields[])[]): Promise<void> {
  for (const versions of together) {
    const nuts = definition("Nut", "nuts");
    const named = versions.map((version, i) => ({
      name: `v${i + 1}`,
      served: true,
      storage: i === 0,
      schema: { openAPIV3Schema: SCHEMA },
      ...version,
    }));
    await api.post(DRY, { ...nuts, spec: { ...nuts.spec, versions: named } });
  }
}

/** Invalid definitions, apart from schemas. */
export const rejectedDefinitions = area("rejected definitions", {
  "names": (api) =>
    trySpecs(api, [
      { names: { plural: "nuts" } },
      { names: { kind: "Nut" } },
      { names: { kind: "Nut", plural: "nuts", singular: "Nut", listKind: "Nuts!" } },
      { names: { kind: "Nut", plural: "nuts", listKind: "Nut" } },
      { names: { kind: "N ut", plural: "nuts", shortNames: ["n", "N", "-"], categories: ["all", "All", "1"] } },
      { names: { kind: "Nut", plural: "Nuts" } },
      { names: {} },
      { group: "" },
      { group: "fruit" },
      { group: "Fruit.example.com" },
      { group: "fruit..com" },
      { scope: "" },
      { scope: "Everywhere" },
    ]),
  "groups that need an approval": async (api) => {
    for (const approved of [undefined, "", "yes", "unapproved, only a test", "https://example.com/pull/1"]) {
      const nuts = definition("Nut", "nuts");
      await api.post(DRY, {
        ...nuts,
        metadata: {
          name: "nuts.fruit.k8s.io",
          ...(approved !== undefined && { annotations: { "api-approved.kubernetes.io": approved } }),
        },
        spec: { ...nuts.spec, group: "fruit.k8s.io" },
      });
    }
  },
  "versions": async (api) => {
    await trySpecs(api, [{ versions: [] }, { versions: undefined }, { preserveUnknownFields: true }]);
    await tryVersions(api, [
      { name: "" },
      { name: "V1" },
      { name: "1" },
      { served: false },
      { storage: false },
      { schema: {} },
      { schema: undefined },
    ]);
    await tryTogether(api, [
      [{}, { name: "v1" }],
      [{}, { storage: true }],
      [{ storage: false }, {}],
      [{ storage: false }, { schema: { openAPIV3Schema: OTHER } }],
      [{}, { schema: { openAPIV3Schema: { type: "object", properties: { spec: {} } } } }],
      [{}, { schema: undefined }],
      [{ subresources: { status: {} } }, { schema: { openAPIV3Schema: { ...OTHER, minProperties: 1 } } }],
    ]);
  },
  "deprecation": (api) =>
    tryVersions(api, [
      { deprecated: true },
      { deprecated: true, deprecationWarning: "use another" },
      { deprecationWarning: "use another" },
      { deprecated: true, deprecationWarning: "" },
      { deprecated: true, deprecationWarning: "two\nlines" },
      { deprecated: true, deprecationWarning: "é".repeat(129) },
      { deprecated: true, deprecationWarning: "a\u0007" },
    ]),
  "scale": (api) => {
    const scale = (specReplicasPath: unknown, statusReplicasPath: unknown, labelSelectorPath?: unknown) => ({
      subresources: { scale: { specReplicasPath, statusReplicasPath, labelSelectorPath } },
    });
    return tryVersions(api, [
      scale(".spec.count", ".status.count"),
      scale(".spec.count", ".status.count", ".status.selector"),
      scale(".spec.count", ".status.count", ""),
      scale("", ""),
      scale("spec.count", "status.count", "status.selector"),
      scale(".status.count", ".spec.count", ".metadata.name"),
      scale(".spec", ".status", ".spec.nowhere"),
      scale(".spec.nowhere", ".status.nowhere"),
      { subresources: { scale: {} } },
    ]);
  },
  "columns": (api) => {
    const columns = (...additionalPrinterColumns: Fields[]) => ({ additionalPrinterColumns });
    return tryVersions(api, [
      columns({ name: "A", type: "string", jsonPath: ".spec.host" }),
      columns({ name: "", type: "string", jsonPath: ".spec.host" }),
      columns({ name: "A", jsonPath: ".spec.host" }),
      columns({ name: "A", type: "text", jsonPath: ".spec.host" }),
      columns({ name: "A", type: "integer", format: "int8", jsonPath: ".spec.count" }),
      columns({ name: "A", type: "string" }),
      columns({ name: "A", type: "string", jsonPath: "spec.host" }),
      columns({ name: "A", type: "string", jsonPath: "{.spec.host}" }),
      columns({ name: "A", type: "string", jsonPath: ".spec[" }),
      columns({ name: "A", type: "string", jsonPath: ".nowhere" }, { name: "A", type: "x", jsonPath: "" }),
    ]);
  },
  "selectable fields": (api) => {
    const fields = (...paths: string[]) => ({ selectableFields: paths.map((jsonPath) => ({ jsonPath })) });
    const many = Array.from({ length: 9 }, (_, i) => `.spec.labels.a${i}`);
    return tryVersions(api, [
      fields(".spec.host", ".spec.kind", ".spec.count", ".spec.on", ".spec.labels.app", ".status.count"),
      fields(".spec.ratio"),
      fields(".spec.either"),
      fields(".spec.list"),
      fields(".spec"),
      fields(".spec.nowhere"),
      fields(".metadata.name"),
      fields("spec.host"),
      fields(""),
      fields("."),
      fields(".spec['host']"),
      fields(".spec.list[0]"),
      fields(".spec.host", ".spec.host"),
      fields(...many),
      fields(...many.slice(1)),
    ]);
  },
  "selectable fields of several versions": (api) => {
    const host = { selectableFields: [{ jsonPath: ".spec.host" }] };
    const other = { schema: { openAPIV3Schema: OTHER } };
    return tryTogether(api, [
      [host, host],
      [host, { ...host, ...other }],
      [host, {}],
      [host, other],
    ]);
  },
  "subresources of several versions": (api) => {
    const column = (jsonPath: string) => ({ additionalPrinterColumns: [{ name: "A", type: "string", jsonPath }] });
    const scale = (path: string) => ({
      subresources: { scale: { specReplicasPath: path, statusReplicasPath: ".status.a" } },
    });
    return tryTogether(api, [
      [column("a"), column("a")],
      [column("a"), column("b")],
      [scale("a"), scale("a")],
      [scale("a"), scale("b")],
      [scale("a"), {}],
      [{ ...scale("a"), ...column("a"), storage: false }, {}],
    ]);
  },
  "conversion": (api) => {
    const webhook = (clientConfig: unknown, conversionReviewVersions: unknown = ["v1"]) => ({
      conversion: { strategy: "Webhook", webhook: { clientConfig, conversionReviewVersions } },
    });
    return trySpecs(api, [
      { conversion: { strategy: "" } },
      { conversion: { strategy: "Other" } },
      { conversion: { strategy: "None", webhook: { conversionReviewVersions: ["v1"], clientConfig: { url: "a" } } } },
      { conversion: { strategy: "Webhook" } },
      webhook({}),
      webhook({ url: "https://a/b", service: { name: "a", namespace: "b" } }),
      webhook({ url: "http://user@a/b?c=d#e" }),
      webhook({ url: "https:///b" }),
      webhook({ url: "https://a/b" }),
      webhook({ url: "https://a/b" }, []),
      webhook({ url: "https://a/b" }, ["v2", "v2", "V"]),
      webhook({ service: { name: "", namespace: "b", path: "a//b/", port: 0 } }),
      webhook({ service: { name: "a", namespace: "", path: "//", port: 70000 } }),
      webhook({ service: { name: "a", namespace: "b", path: "/C" } }),
    ]);
  },
});
