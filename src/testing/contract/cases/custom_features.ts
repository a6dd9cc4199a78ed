import { area } from "../contract.ts";
import { definition, FRUIT_VERSION } from "../definition.ts";
import { CRDS, type Recorder } from "../recorder.ts";

const GROUP = "fruit.example.com";
const TABLE = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
const MERGE = { contentType: "application/merge-patch+json" };

type Fields = Readonly<Record<string, unknown>>;

function schema(spec: Fields, status: Fields = {}): { openAPIV3Schema: unknown } {
  return {
    openAPIV3Schema: {
      type: "object",
      properties: { spec: { type: "object", properties: spec }, status: { type: "object", properties: status } },
    },
  };
}

const TEXT = { type: "string" };
const COUNT = { type: "integer" };

/** A definition of the versions given, the first of which is stored unless they say otherwise. */
function versioned(kind: string, plural: string, versions: readonly Fields[]): ReturnType<typeof definition> {
  const made = definition(kind, plural);
  const named = versions.map((version, i) => ({
    name: `v${i + 1}`,
    served: true,
    storage: i === 0,
    schema: schema({ size: COUNT }),
    ...version,
  }));
  return { ...made, spec: { ...made.spec, versions: named } };
}

function objects(api: Recorder, plural: string, version = "v1"): string {
  return `/apis/${GROUP}/${version}/namespaces/${api.namespace}/${plural}`;
}

function fruit(kind: string, name: string, spec: unknown, version = "v1"): Fields {
  return { apiVersion: `${GROUP}/${version}`, kind, metadata: { name }, spec };
}

/** Waits until a path of each version is answered so. */
async function untilVersions(api: Recorder, plural: string, statuses: Readonly<Record<string, number>>): Promise<void> {
  for (const [version, status] of Object.entries(statuses)) {
    await api.untilStatus(objects(api, plural, version), status);
  }
}

/** A kind in several versions. */
const versions = area("versions", {
  "an object is the same in all versions": async (api) => {
    const given = versioned("Melon", "melons", [{ name: "v1" }, { name: "v2" }, { name: "v1beta1" }]);
    await api.post(CRDS, given);
    await untilVersions(api, "melons", { v1: 200, v2: 200, v1beta1: 200 });
    await api.post(objects(api, "melons", "v2"), fruit("Melon", "a", { size: 1 }, "v2"));
    await api.post(objects(api, "melons", "v1"), fruit("Melon", "b", { size: 2 }));
    for (const version of ["v1", "v2", "v1beta1"]) await api.get(`${objects(api, "melons", version)}/a`);
    await api.get(objects(api, "melons", "v1beta1"));
    await api.merge(`${objects(api, "melons", "v2")}/b`, { spec: { size: 3 } });
    await api.get(`${objects(api, "melons", "v1")}/b`);
    await api.post(objects(api, "melons", "v2"), fruit("Melon", "c", { size: 1 }, "v1"));
    await api.delete(`${objects(api, "melons", "v2")}/a`);
    await api.get(`${objects(api, "melons", "v1")}/a`);
  },
  "a watch shows objects in its own version": async (api) => {
    await api.quietlyDefine(versioned("Lychee", "lychees", [{}, {}]));
    await untilVersions(api, "lychees", { v1: 200, v2: 200 });
    await api.quietly("POST", objects(api, "lychees"), fruit("Lychee", "a", { size: 1 }));
    await api.watch(`${objects(api, "lychees", "v2")}?watch=1`, async (watch) => {
      await watch.take(1);
      await api.quietly("PATCH", `${objects(api, "lychees")}/a`, { spec: { size: 2 } }, MERGE);
      await watch.take(1);
    });
  },
  "what a version does not know is lost in it": async (api) => {
    const given = versioned("Papaya", "papayas", [
      { schema: schema({ size: COUNT, old: { type: "string", default: "old" } }) },
      { schema: schema({ size: COUNT, old: TEXT, fresh: TEXT, late: { type: "string", default: "late" } }) },
    ]);
    await api.quietlyDefine(given);
    await untilVersions(api, "papayas", { v1: 200, v2: 200 });
    const { body } = await api.quietly(
      "POST",
      objects(api, "papayas", "v2"),
      fruit("Papaya", "a", { size: 1, fresh: "b" }, "v2"),
    );
    await api.post(`${objects(api, "papayas", "v2")}?dryRun=All`, fruit("Papaya", "b", body.spec, "v1"));
    for (const version of ["v1", "v2"]) {
      const { body: { spec } } = await api.quietly("GET", `${objects(api, "papayas", version)}/a`);
      await api.post(`${objects(api, "papayas")}?dryRun=All&fieldValidation=Ignore`, fruit("Papaya", version, spec));
    }
  },
  "a version that is not served is not there": async (api) => {
    const given = versioned("Quince", "quinces", [{ served: false }, {}]);
    await api.post(CRDS, given);
    await untilVersions(api, "quinces", { v2: 200 });
    await api.get(objects(api, "quinces", "v1"));
    await api.post(objects(api, "quinces", "v2"), fruit("Quince", "a", { size: 1 }, "v2"));
    await api.get(`${objects(api, "quinces", "v2")}/a`);
    await api.get(`/apis/${GROUP}/v1/quinces`);
  },
  "a version in which objects may be stored stays": async (api) => {
    const given = versioned("Medlar", "medlars", [{}, {}]);
    const path = `${CRDS}/medlars.${GROUP}`;
    await api.quietlyDefine(given);
    await untilVersions(api, "medlars", { v1: 200, v2: 200 });
    await api.quietly("POST", objects(api, "medlars"), fruit("Medlar", "a", { size: 1 }));
    const [v1, v2] = given.spec.versions;
    await api.merge(path, { spec: { versions: [{ ...v1, storage: false }, { ...v2, storage: true }] } });
    await api.merge(path, { spec: { versions: [{ ...v2, storage: true }] } });
    // A change makes it stored in the new version; then the old one can be let go.
    await api.untilAnswer(path, ({ body }) => body.status.storedVersions.length === 2);
    await api.merge(`${objects(api, "medlars", "v2")}/a`, { spec: { size: 2 } });
    await api.quietly("PATCH", `${path}/status`, { status: { storedVersions: ["v2"] } }, MERGE);
    await api.merge(path, { spec: { versions: [{ ...v2, storage: true }] } });
    await untilVersions(api, "medlars", { v1: 404, v2: 200 });
    await api.get(objects(api, "medlars", "v2"));
    await api.get(objects(api, "medlars", "v1"));
  },
  "fields of an object are owned in the version of whoever wrote them": async (api) => {
    await api.quietlyDefine(versioned("Loquat", "loquats", [{}, {}]));
    await untilVersions(api, "loquats", { v1: 200, v2: 200 });
    const path = (version: string, manager: string) =>
      `${objects(api, "loquats", version)}/a?fieldManager=${manager}&force=false`;
    await api.apply(path("v1", "one"), fruit("Loquat", "a", { size: 1 }));
    await api.apply(path("v2", "one"), fruit("Loquat", "a", { size: 2 }, "v2"));
    await api.apply(path("v2", "two"), fruit("Loquat", "a", { size: 3 }, "v2"));
  },
});

/** A version on its way out. */
const deprecation = area("deprecated versions", {
  "each answer warns": async (api) => {
    const given = versioned("Sloe", "sloes", [
      { name: "v1", storage: true },
      { name: "v1alpha1", deprecated: true },
      { name: "v1beta1", deprecated: true, deprecationWarning: 'take "v1"' },
      { name: "v2", deprecated: true },
    ]);
    await api.quietlyDefine(given);
    await untilVersions(api, "sloes", { v1: 200, v1alpha1: 200, v1beta1: 200, v2: 200 });
    for (const version of ["v1", "v1alpha1", "v1beta1", "v2"]) {
      await api.post(objects(api, "sloes", version), fruit("Sloe", version, { size: 1 }, version));
      await api.get(`${objects(api, "sloes", version)}/${version}`);
      await api.get(`${objects(api, "sloes", version)}/nobody`);
      await api.get(objects(api, "sloes", version));
      await api.merge(`${objects(api, "sloes", version)}/${version}`, { spec: { size: 2 } });
      await api.delete(`${objects(api, "sloes", version)}/${version}`);
    }
  },
  "it names the newest version that is not": async (api) => {
    const given = versioned("Bullace", "bullaces", [
      { name: "v1alpha1", deprecated: true },
      { name: "v1alpha2", storage: false },
      { name: "v1beta1", served: false, storage: false },
      { name: "v1beta2", storage: false },
      { name: "v1beta3", deprecated: true, storage: false },
    ]);
    await api.quietlyDefine(given);
    await untilVersions(api, "bullaces", { v1alpha1: 200, v1alpha2: 200, v1beta2: 200, v1beta3: 200 });
    for (const version of ["v1alpha1", "v1alpha2", "v1beta3"]) await api.get(objects(api, "bullaces", version));
  },
});

/** Fields by which objects are selected. */
const selectable = area("selectable fields", {
  "lists, watches and deletions choose by them": async (api) => {
    const given = versioned("Cherry", "cherries", [{
      schema: schema({
        color: TEXT,
        size: COUNT,
        ripe: { type: "boolean" },
        labels: { type: "object", additionalProperties: TEXT },
      }, { phase: TEXT }),
      subresources: { status: {} },
      selectableFields: [".spec.color", ".spec.size", ".spec.ripe", ".spec.labels.app", ".status.phase"]
        .map((jsonPath) => ({ jsonPath })),
    }]);
    await api.post(CRDS, given);
    await untilVersions(api, "cherries", { v1: 200 });
    const path = objects(api, "cherries");
    await api.quietly("POST", path, fruit("Cherry", "a", { color: "red", size: 1, ripe: true }));
    await api.quietly("POST", path, fruit("Cherry", "b", { color: "red", size: 2, labels: { app: "x" } }));
    await api.quietly("POST", path, fruit("Cherry", "c", { color: "dark", ripe: false }));
    await api.quietly("POST", path, { ...fruit("Cherry", "d", undefined), spec: undefined });
    for (
      const selector of [
        "spec.color=red",
        "spec.color==red,spec.size=2",
        "spec.color!=red",
        "spec.color=",
        "spec.size=1",
        "spec.size=01",
        "spec.ripe=false",
        "spec.labels.app=x",
        "status.phase=",
        "metadata.name=a,spec.color=red",
        "spec.color=red,",
        "spec.host=a",
        "spec=a",
        ".spec.color=red",
        "spec.color>red",
        "metadata.uid=a",
      ]
    ) await api.get(`${path}?fieldSelector=${encodeURIComponent(selector)}`);
    await api.get(`${path}?fieldSelector=spec.color%3Dred&labelSelector=a`);
    await api.watch(`${path}?watch=1&fieldSelector=spec.color%3Dred`, async (watch) => {
      await watch.take(2);
      await api.quietly("PATCH", `${path}/c`, { spec: { color: "red" } }, MERGE);
      await watch.take(1);
      await api.quietly("PATCH", `${path}/a`, { spec: { color: "green" } }, MERGE);
      await watch.take(1);
    });
    await api.watch(`${path}?watch=1&fieldSelector=spec.host%3Da`, () => Promise.resolve());
    await api.quietly("PATCH", `${path}/b/status`, { status: { phase: "Done" } }, MERGE);
    await api.get(`${path}?fieldSelector=status.phase%3DDone`);
    await api.call("DELETE", `${path}?fieldSelector=spec.host%3Da`);
    await api.quietly("DELETE", `${path}?fieldSelector=spec.color%3Dred`);
    await api.get(path);
  },
  "each version has its own": async (api) => {
    const given = versioned("Damson", "damsons", [
      { schema: schema({ color: TEXT }), selectableFields: [{ jsonPath: ".spec.color" }] },
      { schema: schema({ color: TEXT, size: COUNT }), selectableFields: [{ jsonPath: ".spec.size" }] },
    ]);
    await api.quietlyDefine(given);
    await untilVersions(api, "damsons", { v1: 200, v2: 200 });
    await api.quietly("POST", objects(api, "damsons"), fruit("Damson", "a", { color: "red" }));
    await api.get(`${objects(api, "damsons", "v1")}?fieldSelector=spec.color%3Dred`);
    await api.get(`${objects(api, "damsons", "v2")}?fieldSelector=spec.color%3Dred`);
    await api.get(`${objects(api, "damsons", "v2")}?fieldSelector=spec.size%3D`);
  },
  "of a cluster-wide kind no namespace": async (api) => {
    const given = definition("Orchard", "orchards", { scope: "Cluster" });
    await api.quietlyDefine(given);
    await api.get(`/apis/${GROUP}/v1/orchards?fieldSelector=metadata.namespace%3Da`);
    await api.get(`/apis/${GROUP}/v1/orchards?fieldSelector=metadata.name%3Da`);
  },
});

/** Replicas in one form for all kinds. */
const scale = area("scale", {
  "reads and writes what the paths say": async (api) => {
    const given = versioned("Vine", "vines", [{
      schema: schema({ want: { type: "object", properties: { count: COUNT } }, other: TEXT }, {
        have: COUNT,
        pods: TEXT,
      }),
      subresources: {
        status: {},
        scale: {
          specReplicasPath: ".spec.want.count",
          statusReplicasPath: ".status.have",
          labelSelectorPath: ".status.pods",
        },
      },
    }]);
    await api.post(CRDS, given);
    await untilVersions(api, "vines", { v1: 200 });
    const path = objects(api, "vines");
    await api.post(path, fruit("Vine", "a", { want: { count: 2 }, other: "x" }));
    await api.get(`${path}/a/scale`);
    await api.quietly("PATCH", `${path}/a/status`, { status: { have: 1, pods: "app=a" } }, MERGE);
    const { body } = await api.get(`${path}/a/scale`);
    await api.put(`${path}/a/scale`, { ...body, spec: { replicas: 5 } });
    await api.get(`${path}/a`);
    await api.merge(`${path}/a/scale`, { spec: { replicas: 3 } });
    await api.jsonPatch(`${path}/a/scale`, [{ op: "replace", path: "/spec/replicas", value: 4 }]);
    await api.merge(`${path}/a/scale`, { spec: { replicas: 0 } });
    await api.put(`${path}/a/scale`, { ...body, spec: { replicas: 5 } });
    await api.merge(`${path}/a/scale`, { spec: { replicas: -1 } });
    await api.merge(`${path}/a/scale`, { spec: { replicas: "x" } });
    await api.merge(`${path}/a/scale`, { status: { replicas: 9 } });
    await api.put(`${path}/a/scale`, {
      apiVersion: "autoscaling/v1",
      kind: "Scale",
      metadata: { name: "b" },
      spec: {},
    });
    await api.get(`${path}/nobody/scale`);
    await api.merge(`${path}/nobody/scale`, { spec: { replicas: 1 } });
    await api.delete(`${path}/a/scale`);
    await api.call("PATCH", `${path}/a/scale`, {}, { contentType: "application/strategic-merge-patch+json" });
  },
  "fields of it are owned": async (api) => {
    const given = versioned("Creeper", "creepers", [{
      schema: schema({ count: COUNT, other: TEXT }, { have: COUNT }),
      subresources: { scale: { specReplicasPath: ".spec.count", statusReplicasPath: ".status.have" } },
    }]);
    await api.quietlyDefine(given);
    const path = objects(api, "creepers");
    const apply = (replicas: number, query: string) =>
      api.apply(`${path}/a/scale?${query}`, {
        apiVersion: "autoscaling/v1",
        kind: "Scale",
        metadata: { name: "a" },
        spec: { replicas },
      });
    await api.quietly("POST", path, fruit("Creeper", "a", { count: 1, other: "x" }));
    await apply(2, "fieldManager=scaler");
    await apply(2, "fieldManager=scaler&force=true");
    await apply(1, "fieldManager=scaler");
    await apply(4, "fieldManager=other");
    await api.get(`${path}/a`);
    await api.merge(`${path}/a/scale`, { spec: { replicas: 5 } });
    await api.get(`${path}/a`);
    await api.apply(`${path}/a?fieldManager=scaler`, fruit("Creeper", "a", { count: 6 }));
    await api.merge(`${path}/a/scale`, { spec: { replicas: 0 } });
    await apply(2, "fieldManager=scaler");
    await api.get(`${path}/a`);
  },
  "replicas that nobody has set": async (api) => {
    const given = versioned("Hop", "hops", [{
      schema: schema({ count: COUNT, other: TEXT }, { have: COUNT }),
      subresources: { scale: { specReplicasPath: ".spec.count", statusReplicasPath: ".status.have" } },
    }]);
    await api.quietlyDefine(given);
    const path = objects(api, "hops");
    await api.quietly("POST", path, fruit("Hop", "a", { other: "x" }));
    await api.get(`${path}/a/scale`);
    await api.merge(`${path}/a/scale`, { metadata: { labels: { a: "b" } } });
    await api.merge(`${path}/a/scale`, { spec: { replicas: 2 } });
    await api.get(`${path}/a/scale`);
    await api.get(`${path}/a/status`);
  },
  "rules hold for what it writes": async (api) => {
    const given = versioned("Gourd", "gourds", [{
      schema: schema({ count: { type: "integer", maximum: 3 } }, { have: COUNT }),
      subresources: { scale: { specReplicasPath: ".spec.count", statusReplicasPath: ".status.have" } },
    }]);
    await api.quietlyDefine(given);
    const path = objects(api, "gourds");
    await api.quietly("POST", path, fruit("Gourd", "a", { count: 1 }));
    await api.merge(`${path}/a/scale`, { spec: { replicas: 4 } });
    await api.merge(`${path}/a/scale`, { spec: { replicas: 3 } });
  },
  "is found where its version has it": async (api) => {
    const scale = { scale: { specReplicasPath: ".spec.size", statusReplicasPath: ".status.size" } };
    const given = versioned("Pod", "pods", [{}, { subresources: scale }, { name: "v1beta1", deprecated: true }]);
    const group = "legume.example.com";
    await api.quietlyDefine({ ...given, metadata: { name: `pods.${group}` }, spec: { ...given.spec, group } });
    await api.untilStatus(`/apis/${group}/v2/pods`, 200);
    await api.untilAnswer("/apis", ({ body }) => body.groups.some(({ name }: { name: string }) => name === group));
    await api.untilAnswer(`/apis/${group}/v2`, ({ body }) => body.resources?.length === 2);
    for (const path of ["", "/v1", "/v2", "/v1beta1"]) await api.get(`/apis/${group}${path}`);
    await api.get(`/apis/${group}/v1/namespaces/default/pods/a/scale`);
  },
});

/** What `kubectl get` shows. */
const columns = area("columns", {
  "find what their paths say": async (api) => {
    const column = (name: string, type: string, jsonPath: string, rest: Fields = {}) => ({
      name,
      type,
      jsonPath,
      ...rest,
    });
    const ports = ".spec.ports[?(@.number";
    const given = versioned("Fern", "ferns", [{
      schema: {
        openAPIV3Schema: {
          type: "object",
          properties: { spec: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
        },
      },
      additionalPrinterColumns: [
        column("Text", "string", ".spec.text", { priority: 1, description: "a text", format: "byte" }),
        column("Whole", "integer", ".spec.whole", { format: "int64" }),
        column("Part", "number", ".spec.part"),
        column("On", "boolean", ".spec.on"),
        column("At", "date", ".spec.at"),
        column("Map", "string", ".spec.map"),
        column("List", "string", ".spec.list"),
        column("First", "string", ".spec.list[0]"),
        column("Last", "string", ".spec.list[-1]"),
        column("Slice", "string", ".spec.list[1:2]"),
        column("All", "string", ".spec.list[*]"),
        column("Beyond", "string", ".spec.list[9]"),
        column("Key", "string", ".spec.map['a\\.b']"),
        column("Escaped", "string", ".spec.map.a\\.b"),
        column("Equal", "string", '.spec.ports[?(@.name=="web")].number'),
        column("Single", "string", ".spec.ports[?(@.name=='web')].number"),
        column("Unequal", "string", '.spec.ports[?(@.name!="web")].name'),
        column("Above", "string", `${ports}>80)].name`),
        column("AtLeast", "string", `${ports}>=80)].name`),
        column("Below", "string", `${ports}<80)].name`),
        column("AtMost", "string", `${ports}<=80)].name`),
        column("There", "string", ".spec.ports[?(@.open)].name"),
        column("True", "string", ".spec.ports[?(@.open==true)].name"),
        column("Mixed", "string", `${ports}=="80")].name`),
        column("Parenthesis", "string", '.spec.ports[?(@.name=="a)b")].number'),
        column("Deep", "string", "..deep"),
        column("Union", "string", ".spec.list[0,2]"),
        column("Wrong", "integer", ".spec.text"),
        column("Truncated", "integer", ".spec.part"),
        column("None", "string", ".spec.none"),
        column("NoneWhole", "integer", ".spec.none"),
        column("Missing", "string", ".spec.missing.deeper"),
        column("BadDate", "date", ".spec.text"),
        column("NoDate", "date", ".spec.empty"),
        column("Small", "string", ".spec.small"),
        column("Age", "date", ".metadata.creationTimestamp"),
      ],
    }]);
    await api.quietlyDefine(given);
    const path = objects(api, "ferns");
    await api.post(
      path,
      fruit("Fern", "a", {
        text: "a text",
        whole: 12,
        part: 1.75,
        on: false,
        at: "2020-01-01T00:00:00Z",
        none: null,
        empty: "",
        small: 0.00001,
        map: { "a.b": 1, "<": ">" },
        list: ["x", 2, true],
        deep: { deep: 1 },
        ports: [{ name: "web", number: 80, open: true }, { name: "a)b", number: 8080 }, { name: "low", number: 1 }],
      }),
      TABLE,
    );
    await api.quietly("POST", path, { ...fruit("Fern", "b", undefined), spec: undefined });
    await api.get(path, TABLE);
    await api.get(`${path}/b?includeObject=None`, TABLE);
  },
  "what cannot be read ends them": async (api) => {
    const given = versioned("Moss", "mosses", [{
      additionalPrinterColumns: [
        { name: "Size", type: "integer", jsonPath: ".spec.size" },
        { name: "Bad", type: "string", jsonPath: ".spec[" },
        { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
      ],
    }]);
    await api.quietlyDefine(given);
    await api.quietly("POST", objects(api, "mosses"), fruit("Moss", "a", { size: 1 }));
    await api.get(objects(api, "mosses"), TABLE);
  },
});

/** What definitions bring besides schemas. */
export const customFeatures = [...versions, ...deprecation, ...selectable, ...scale, ...columns];

/** Changes of a definition that is there. */
export const changedDefinitions = area("changed definitions", {
  "names that objects are kept by cannot change": async (api) => {
    const given = definition("Rowan", "rowans");
    const path = `${CRDS}/rowans.${GROUP}`;
    await api.quietlyDefine(given);
    await api.merge(path, { spec: { names: { kind: "Ash" } } });
    await api.merge(path, { spec: { names: { plural: "ashes" } } });
    await api.merge(path, { spec: { group: "other.example.com" } });
    await api.merge(path, { spec: { scope: "Cluster" } });
    await api.merge(path, { spec: { names: { shortNames: ["rw"], categories: ["trees"], singular: "rowantree" } } });
    await api.untilAnswer(path, ({ body }) => body.status.acceptedNames.shortNames?.length === 1);
    await api.get(path);
    await api.untilAnswer(
      `/apis/${GROUP}/v1`,
      ({ body }) => body.resources.some((each: { singularName: string }) => each.singularName === "rowantree"),
    );
  },
  "a bad schema is refused in a change too": async (api) => {
    const given = definition("Alder", "alders");
    const path = `${CRDS}/alders.${GROUP}`;
    await api.quietlyDefine(given);
    const at = "/spec/versions/0/schema/openAPIV3Schema/properties/spec";
    await api.jsonPatch(path, [{ op: "add", path: `${at}/properties/a`, value: {} }]);
    await api.jsonPatch(path, [{ op: "add", path: `${at}/properties/a`, value: { ...TEXT, format: "x" } }]);
    await api.jsonPatch(path, [{ op: "add", path: `${at}/properties/b`, value: { ...TEXT, format: "x" } }]);
    await api.jsonPatch(path, [{ op: "add", path: `${at}/properties/c`, value: { ...TEXT, format: "y" } }]);
    await api.jsonPatch(path, [{ op: "add", path: `${at}/description`, value: "" }]);
    await api.jsonPatch(path, [{ op: "remove", path: "/spec/versions/0/schema" }]);
  },
  "what is empty is left out": async (api) => {
    const given = definition("Elder", "elders", {
      schema: {
        type: "object",
        description: "",
        nullable: false,
        required: [],
        properties: {
          spec: {
            type: "object",
            properties: {},
            title: "",
            enum: [],
            allOf: [],
            default: null,
            "x-kubernetes-int-or-string": false,
            "x-kubernetes-validations": [],
          },
          list: { type: "array", items: { type: "string", pattern: "", other: 1 } },
          map: { type: "object", additionalProperties: { type: "string", example: null, nullable: false } },
        },
      },
    });
    const [version] = given.spec.versions;
    await api.post(`${CRDS}?dryRun=All`, {
      ...given,
      spec: {
        ...given.spec,
        preserveUnknownFields: false,
        names: { ...given.spec.names, shortNames: [], categories: [] },
        versions: [{
          ...version,
          deprecated: false,
          additionalPrinterColumns: [{ name: "A", type: "string", jsonPath: ".a", priority: 0, description: "" }],
          selectableFields: [],
          subresources: {},
        }],
      },
    });
  },
  "a status of a definition is written apart": async (api) => {
    const given = definition("Hornbeam", "hornbeams");
    const path = `${CRDS}/hornbeams.${GROUP}`;
    await api.quietlyDefine(given);
    await api.merge(`${path}/status`, { status: { acceptedNames: { kind: "h_h" } } });
    await api.merge(path, { status: { storedVersions: ["v7"] } });
  },
  "objects follow their definition": async (api) => {
    const given = definition("Holly", "hollies");
    await api.quietlyDefine(given);
    const path = objects(api, "hollies");
    await api.quietly("POST", path, {
      apiVersion: FRUIT_VERSION,
      kind: "Holly",
      metadata: { name: "a" },
      spec: { size: 1 },
    });
    await api.quietly("PATCH", `${CRDS}/hollies.${GROUP}`, [{
      op: "add",
      path: "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/color",
      value: { type: "string", default: "red" },
    }], { contentType: "application/json-patch+json" });
    await api.untilAnswer(`${path}/a`, ({ body }) => body.spec.color === "red");
    const { body } = await api.get(`${path}/a`);
    // What is stored lacks the default: the same object again is a change.
    const { body: after } = await api.put(`${path}/a`, body);
    await api.put(`${path}/a`, after);
  },
});
