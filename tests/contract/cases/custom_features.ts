import { area } from "../contract.ts";
import { definition } from "../definition.ts";
import { CRDS } from "../recorder.ts";
import {
  collectionPath,
  COUNT,
  type Fields,
  fruit,
  GROUP,
  MERGE,
  schema,
  TABLE,
  TEXT,
  untilVersions,
  versionedDefinition,
} from "./_kinds_with_versions.ts";

/** Selectable fields. */
const selectable = area("selectable fields", {
  "lists, watches and deletions use selectable fields": async (api) => {
    const given = versionedDefinition("Cherry", "cherries", [{
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
    const path = collectionPath(api, "cherries");
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
  "each version has its own selectable fields": async (api) => {
    const given = versionedDefinition("Damson", "damsons", [
      { schema: schema({ color: TEXT }), selectableFields: [{ jsonPath: ".spec.color" }] },
      { schema: schema({ color: TEXT, size: COUNT }), selectableFields: [{ jsonPath: ".spec.size" }] },
    ]);
    await api.quietlyDefine(given);
    await untilVersions(api, "damsons", { v1: 200, v2: 200 });
    await api.quietly("POST", collectionPath(api, "damsons"), fruit("Damson", "a", { color: "red" }));
    await api.get(`${collectionPath(api, "damsons", "v1")}?fieldSelector=spec.color%3Dred`);
    await api.get(`${collectionPath(api, "damsons", "v2")}?fieldSelector=spec.color%3Dred`);
    await api.get(`${collectionPath(api, "damsons", "v2")}?fieldSelector=spec.size%3D`);
  },
  "a cluster-scoped kind has no metadata.namespace": async (api) => {
    const given = definition("Orchard", "orchards", { scope: "Cluster" });
    await api.quietlyDefine(given);
    await api.get(`/apis/${GROUP}/v1/orchards?fieldSelector=metadata.namespace%3Da`);
    await api.get(`/apis/${GROUP}/v1/orchards?fieldSelector=metadata.name%3Da`);
  },
});

/** The subresource scale. */
const scale = area("scale", {
  "scale reads and writes the configured paths": async (api) => {
    const given = versionedDefinition("Vine", "vines", [{
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
    const path = collectionPath(api, "vines");
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
  "fields of scale are owned": async (api) => {
    const given = versionedDefinition("Creeper", "creepers", [{
      schema: schema({ count: COUNT, other: TEXT }, { have: COUNT }),
      subresources: { scale: { specReplicasPath: ".spec.count", statusReplicasPath: ".status.have" } },
    }]);
    await api.quietlyDefine(given);
    const path = collectionPath(api, "creepers");
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
  "replicas that are not set": async (api) => {
    const given = versionedDefinition("Hop", "hops", [{
      schema: schema({ count: COUNT, other: TEXT }, { have: COUNT }),
      subresources: { scale: { specReplicasPath: ".spec.count", statusReplicasPath: ".status.have" } },
    }]);
    await api.quietlyDefine(given);
    const path = collectionPath(api, "hops");
    await api.quietly("POST", path, fruit("Hop", "a", { other: "x" }));
    await api.get(`${path}/a/scale`);
    await api.merge(`${path}/a/scale`, { metadata: { labels: { a: "b" } } });
    await api.merge(`${path}/a/scale`, { spec: { replicas: 2 } });
    await api.get(`${path}/a/scale`);
    await api.get(`${path}/a/status`);
  },
  "rules are checked for a write of scale": async (api) => {
    const given = versionedDefinition("Gourd", "gourds", [{
      schema: schema({ count: { type: "integer", maximum: 3 } }, { have: COUNT }),
      subresources: { scale: { specReplicasPath: ".spec.count", statusReplicasPath: ".status.have" } },
    }]);
    await api.quietlyDefine(given);
    const path = collectionPath(api, "gourds");
    await api.quietly("POST", path, fruit("Gourd", "a", { count: 1 }));
    await api.merge(`${path}/a/scale`, { spec: { replicas: 4 } });
    await api.merge(`${path}/a/scale`, { spec: { replicas: 3 } });
  },
  "scale is found in versions that have it": async (api) => {
    const scale = { scale: { specReplicasPath: ".spec.size", statusReplicasPath: ".status.size" } };
    const given = versionedDefinition("Pod", "pods", [{}, { subresources: scale }, {
      name: "v1beta1",
      deprecated: true,
    }]);
    const group = "legume.example.com";
    await api.quietlyDefine({ ...given, metadata: { name: `pods.${group}` }, spec: { ...given.spec, group } });
    await api.untilStatus(`/apis/${group}/v2/pods`, 200);
    await api.untilAnswer("/apis", ({ body }) => body.groups.some(({ name }: { name: string }) => name === group));
    await api.untilAnswer(`/apis/${group}/v2`, ({ body }) => body.resources?.length === 2);
    for (const path of ["", "/v1", "/v2", "/v1beta1"]) await api.get(`/apis/${group}${path}`);
    await api.get(`/apis/${group}/v1/namespaces/default/pods/a/scale`);
  },
});

/** Columns of tables. */
const columns = area("columns", {
  "columns contain the values at their paths": async (api) => {
    const column = (name: string, type: string, jsonPath: string, rest: Fields = {}) => ({
      name,
      type,
      jsonPath,
      ...rest,
    });
    const ports = ".spec.ports[?(@.number";
    const given = versionedDefinition("Fern", "ferns", [{
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
    const path = collectionPath(api, "ferns");
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
  "a column with an invalid path is empty": async (api) => {
    const given = versionedDefinition("Moss", "mosses", [{
      additionalPrinterColumns: [
        { name: "Size", type: "integer", jsonPath: ".spec.size" },
        { name: "Bad", type: "string", jsonPath: ".spec[" },
        { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
      ],
    }]);
    await api.quietlyDefine(given);
    await api.quietly("POST", collectionPath(api, "mosses"), fruit("Moss", "a", { size: 1 }));
    await api.get(collectionPath(api, "mosses"), TABLE);
  },
});

/** Features of definitions other than schemas and versions. */
export const customFeatures = [...selectable, ...scale, ...columns];
