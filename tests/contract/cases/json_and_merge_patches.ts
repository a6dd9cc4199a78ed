/** Edge cases of JSON patches and merge patches. */
import { area } from "../contract.ts";
import type { Recorder } from "../recorder.ts";
import { configMap, widget } from "../widget.ts";
import { deployment, deployments } from "../workloads.ts";

/** Creates a widget and applies JSON patches in order. */
async function jsonPatches(api: Recorder, spec: unknown, ...patches: readonly unknown[]): Promise<void> {
  await api.quietly("POST", api.widgets(), widget("w", spec, { labels: { a: "1" }, annotations: { "x.y/z": "1" } }));
  for (const patch of patches) await api.jsonPatch(api.widgets("/w"), patch);
}

async function mergePatches(api: Recorder, spec: unknown, ...patches: readonly unknown[]): Promise<void> {
  await api.quietly("POST", api.widgets(), widget("w", spec, { labels: { a: "1" }, annotations: { "x.y/z": "1" } }));
  for (const patch of patches) await api.merge(api.widgets("/w"), patch);
}

/** Creates a ConfigMap and applies JSON patches in order. */
async function configPatches(api: Recorder, ...patches: readonly unknown[]): Promise<void> {
  await api.quietly("POST", api.core("configmaps"), configMap("c", { a: "1" }, { labels: { l: "1" } }));
  for (const patch of patches) await api.jsonPatch(api.core("configmaps/c"), patch);
}

const words = { words: ["a", "b", "c"] };

export const jsonPatchCases = area("JSON patches", {
  "the end of a list": (api) =>
    jsonPatches(api, { words: ["a"] }, [{ op: "add", path: "/spec/words/-", value: "b" }], [
      { op: "replace", path: "/spec/words/-", value: "c" },
    ], [{ op: "remove", path: "/spec/words/-" }]),
  "negative and malformed indexes": (api) =>
    jsonPatches(
      api,
      words,
      [{ op: "remove", path: "/spec/words/-1" }],
      [{ op: "add", path: "/spec/words/-1", value: "z" }],
      [{ op: "replace", path: "/spec/words/01", value: "z" }],
      [{ op: "replace", path: "/spec/words/x", value: "z" }],
      [{ op: "replace", path: "/spec/words/9", value: "z" }],
      [{ op: "add", path: "/spec/words/1e0", value: "z" }],
    ),
  "the index after the end": (api) =>
    jsonPatches(api, { words: ["a"] }, [{ op: "add", path: "/spec/words/1", value: "b" }], [
      { op: "replace", path: "/spec/words/2", value: "c" },
    ], [{ op: "remove", path: "/spec/words/2" }]),
  "keys with slashes and tildes": (api) =>
    jsonPatches(
      api,
      {},
      [{ op: "replace", path: "/metadata/annotations/x.y~1z", value: "2" }],
      [{ op: "add", path: "/metadata/annotations/a~0b", value: "2" }],
      [{ op: "remove", path: "/metadata/annotations/x.y~1z" }],
    ),
  "add replaces an existing value": (api) =>
    jsonPatches(api, { size: 1 }, [{ op: "add", path: "/spec/size", value: 2 }]),
  "test of a string, a number, a list and an object": (api) =>
    jsonPatches(
      api,
      { size: 1, color: "red", words: ["a"], settings: { a: "1" } },
      [{ op: "test", path: "/spec/color", value: "red" }],
      [{ op: "test", path: "/spec/size", value: 1.0 }],
      [{ op: "test", path: "/spec/words", value: ["a"] }],
      [{ op: "test", path: "/spec/settings", value: { a: "1" } }],
      [{ op: "test", path: "/spec/settings", value: { a: "2" } }],
      [{ op: "test", path: "/spec/words", value: ["a", "b"] }],
    ),
  "test of a missing value": (api) =>
    jsonPatches(
      api,
      {},
      [{ op: "test", path: "/spec/none", value: null }],
      [{ op: "test", path: "/spec/none", value: 1 }],
      [{ op: "test", path: "/none/deep", value: null }],
      [{ op: "test", path: "/spec/size", value: null }],
    ),
  "a failing test discards the patch": (api) =>
    jsonPatches(api, { size: 1 }, [{ op: "replace", path: "/spec/size", value: 2 }, {
      op: "test",
      path: "/spec/size",
      value: 1,
    }]),
  "move within a list": (api) =>
    jsonPatches(api, words, [{ op: "move", from: "/spec/words/0", path: "/spec/words/2" }], [
      { op: "move", from: "/spec/words/2", path: "/spec/words/0" },
    ]),
  "move and copy of a missing value": (api) =>
    jsonPatches(api, {}, [{ op: "move", from: "/spec/none", path: "/spec/size" }], [
      { op: "copy", from: "/spec/none", path: "/spec/size" },
    ]),
  "move into itself": (api) =>
    jsonPatches(api, { settings: { a: "1" } }, [{ op: "move", from: "/spec/settings", path: "/spec/settings/b" }]),
  "copy of an object": (api) =>
    jsonPatches(api, { settings: { a: "1" } }, [{ op: "copy", from: "/spec/settings", path: "/spec/pair" }]),
  "an operation without a required field": (api) =>
    jsonPatches(
      api,
      { size: 1 },
      [{ op: "add", path: "/spec/size" }],
      [{ op: "replace", path: "/spec/size" }],
      [{ op: "move", path: "/spec/size" }],
      [{ op: "remove" }],
      [{ path: "/spec/size" }],
      [{}],
      [1],
      ["x"],
    ),
  "null as a value": (api) =>
    jsonPatches(
      api,
      { size: 1, color: "red" },
      [{ op: "replace", path: "/spec/color", value: null }],
      [{ op: "add", path: "/spec/title", value: null }],
    ),
  "the whole document": (api) =>
    jsonPatches(api, {}, [{ op: "replace", path: "", value: {} }], [{ op: "remove", path: "" }], [
      { op: "add", path: "/", value: 1 },
    ]),
  "immutable metadata": (api) =>
    jsonPatches(
      api,
      {},
      [{ op: "replace", path: "/metadata/name", value: "v" }],
      [{ op: "replace", path: "/metadata/namespace", value: "default" }],
      [{ op: "replace", path: "/metadata/uid", value: "11111111-1111-1111-1111-111111111111" }],
      [{ op: "remove", path: "/metadata/uid" }],
      [{ op: "remove", path: "/metadata/creationTimestamp" }],
      [{ op: "replace", path: "/metadata/generation", value: 77 }],
      [{ op: "remove", path: "/metadata/name" }],
      [{ op: "replace", path: "/metadata/resourceVersion", value: "1" }],
      [{ op: "replace", path: "/metadata/resourceVersion", value: "x" }],
      [{ op: "remove", path: "/metadata/resourceVersion" }],
    ),
  "kind and apiVersion are immutable": (api) =>
    jsonPatches(
      api,
      {},
      [{ op: "replace", path: "/kind", value: "Gadget" }],
      [{ op: "replace", path: "/apiVersion", value: "v9" }],
      [{ op: "remove", path: "/kind" }],
      [{ op: "remove", path: "/metadata" }],
      [{ op: "remove", path: "/spec" }],
    ),
  "more than ten thousand operations": (api) =>
    jsonPatches(api, { size: 1 }, Array.from({ length: 10_001 }, () => ({ op: "test", path: "/spec/size", value: 1 }))),
  "of a ConfigMap: keys": (api) =>
    configPatches(
      api,
      [{ op: "add", path: "/data/b", value: "2" }],
      [{ op: "remove", path: "/data/a" }],
      [{ op: "remove", path: "/data/a" }],
      [{ op: "remove", path: "/data" }],
      [{ op: "add", path: "/data/b", value: "2" }],
      [{ op: "add", path: "/data", value: {} }],
    ),
  "of a ConfigMap: unknown fields": (api) =>
    configPatches(api, [{ op: "add", path: "/other", value: 1 }], [{ op: "add", path: "/metadata/other", value: 1 }]),
  "of a ConfigMap: metadata": (api) =>
    configPatches(
      api,
      [{ op: "replace", path: "/metadata/name", value: "v" }],
      [{ op: "replace", path: "/metadata/namespace", value: "default" }],
      [{ op: "remove", path: "/metadata/labels" }],
      [{ op: "add", path: "/metadata/labels/a", value: "1" }],
      [{ op: "add", path: "/metadata/finalizers", value: ["x.example.com/a"] }],
      [{ op: "remove", path: "/metadata/finalizers/0" }],
    ),
  "a patch of status": async (api) => {
    await api.quietly("POST", api.widgets(), widget("w", { size: 1 }));
    await api.jsonPatch(api.widgets("/w/status"), [{ op: "add", path: "/status", value: { phase: "Up" } }]);
    await api.jsonPatch(api.widgets("/w/status"), [{ op: "replace", path: "/spec/size", value: 2 }]);
    await api.jsonPatch(api.widgets("/w/status"), [{ op: "add", path: "/status/ready", value: -1 }]);
    await api.jsonPatch(api.widgets("/w"), [{ op: "remove", path: "/status" }]);
    await api.jsonPatch(api.widgets("/w/status"), [{ op: "remove", path: "/status/phase" }]);
  },
  "a patch of a missing object": async (api) => {
    await api.jsonPatch(api.widgets("/none"), [{ op: "remove", path: "/spec" }]);
    await api.jsonPatch(api.core("configmaps/none"), [{ op: "remove", path: "/data" }]);
  },
  "a patch with dryRun": async (api) => {
    await api.quietly("POST", api.widgets(), widget("w", { size: 1 }));
    await api.jsonPatch(api.widgets("/w?dryRun=All"), [{ op: "replace", path: "/spec/size", value: 2 }]);
    await api.get(api.widgets("/w"));
  },
  "fieldValidation of a patch": async (api) => {
    await api.quietly("POST", api.widgets(), widget("w", { size: 1 }));
    for (const how of ["Strict", "Warn", "Ignore"]) {
      const patch = [{ op: "add", path: `/spec/other${how}`, value: 2 }];
      await api.jsonPatch(api.widgets(`/w?fieldValidation=${how}`), patch);
      await api.jsonPatch(
        api.widgets(`/w?fieldValidation=${how}`),
        `[{"op":"test","path":"/spec/size","value":1,"value":1}]`,
      );
      await api.jsonPatch(
        api.widgets(`/w?fieldValidation=${how}`),
        [{ op: "test", path: "/spec/size", value: 1, other: 1 }],
      );
    }
  },
});

export const mergePatchCases = area("merge patches", {
  "null in a new nested object": (api) =>
    mergePatches(api, {}, { spec: { free: { a: null, b: { c: null, d: 1 } } } }, { spec: { settings: { a: null } } }),
  "null for a missing field": (api) => mergePatches(api, {}, { spec: { color: null }, status: null }),
  "a list is replaced as a whole": (api) =>
    mergePatches(api, words, { spec: { words: ["z"] } }, { spec: { words: [] } }),
  "an object that replaces a string, and vice versa": (api) =>
    mergePatches(api, { free: { a: "x" } }, { spec: { free: { a: { b: 1 } } } }, { spec: { free: { a: [1] } } }, {
      spec: { free: { a: "y" } },
    }),
  "labels and annotations": (api) =>
    mergePatches(
      api,
      {},
      { metadata: { labels: { a: null, b: "2" }, annotations: { "x.y/z": null } } },
      { metadata: { labels: { "bad key!": "1" } } },
      { metadata: { labels: { b: "not a value!" } } },
      { metadata: { labels: { b: 1 } } },
      { metadata: { annotations: null, labels: null } },
    ),
  "immutable metadata": (api) =>
    mergePatches(
      api,
      {},
      { metadata: { name: "v" } },
      { metadata: { namespace: "default" } },
      { metadata: { uid: "11111111-1111-1111-1111-111111111111" } },
      { metadata: { resourceVersion: "1" } },
      { metadata: { creationTimestamp: "2020-01-01T00:00:00Z" } },
      { metadata: { deletionTimestamp: "2020-01-01T00:00:00Z" } },
      { metadata: { generation: 99 } },
      { metadata: { generateName: "x" } },
      { metadata: null },
    ),
  "kind and version": (api) =>
    mergePatches(api, {}, { kind: "Gadget" }, { apiVersion: "v9" }, { apiVersion: null }, { kind: null }, {
      kind: "Widget",
      apiVersion: "contract.example.com/v1",
    }),
  "finalizers and owners": async (api) => {
    await mergePatches(
      api,
      {},
      { metadata: { finalizers: ["example.com/a"] } },
      {
        metadata: { finalizers: ["nodomain"] },
      },
      { metadata: { ownerReferences: [{ kind: "X" }] } },
      { metadata: { finalizers: null } },
    );
  },
  "resourceVersion as a condition": async (api) => {
    const { body } = await api.quietly("POST", api.widgets(), widget("w", { size: 1 }));
    const { resourceVersion } = body.metadata;
    await api.merge(api.widgets("/w"), { metadata: { resourceVersion }, spec: { size: 2 } });
    await api.merge(api.widgets("/w"), { metadata: { resourceVersion }, spec: { size: 3 } });
    await api.merge(api.widgets("/w"), { metadata: { resourceVersion: "" }, spec: { size: 4 } });
    await api.merge(api.widgets("/w"), { metadata: { resourceVersion: "0" }, spec: { size: 5 } });
    await api.merge(api.widgets("/w"), { metadata: { resourceVersion: null }, spec: { size: 6 } });
  },
  "a patch of status": async (api) => {
    await api.quietly("POST", api.widgets(), widget("w", { size: 1 }));
    await api.merge(api.widgets("/w/status"), { spec: { size: 5 }, status: { phase: "Up" } });
    await api.merge(api.widgets("/w/status"), { metadata: { labels: { a: "1" } }, status: { ready: 1 } });
    await api.merge(api.widgets("/w"), { status: { phase: "Down" } });
    await api.merge(api.widgets("/w/status"), { status: null });
    await api.merge(api.widgets("/w/status"), { status: [] });
    await api.merge(api.widgets("/w/status"), { status: { ready: "x" } });
  },
  "a patch of scale": async (api) => {
    const path = deployments(api);
    await api.quietly("POST", path, deployment());
    await api.get(`${path}/d/scale`);
    await api.merge(`${path}/d/scale`, { spec: { replicas: 4 } });
    await api.merge(`${path}/d/scale`, { spec: { replicas: -1 } });
    await api.merge(`${path}/d/scale`, { spec: { replicas: "x" } });
    await api.jsonPatch(`${path}/d/scale`, [{ op: "replace", path: "/spec/replicas", value: 2 }]);
    await api.get(`${path}/d`);
    await api.merge(`${path}/d`, { spec: { selector: null } });
    await api.merge(`${path}/d`, { spec: { selector: null, template: { spec: null } } });
  },
  "fieldValidation of a patch": async (api) => {
    await api.quietly("POST", api.widgets(), widget("w", { size: 1 }));
    for (const how of ["Strict", "Warn", "Ignore"]) {
      await api.merge(api.widgets(`/w?fieldValidation=${how}`), { spec: { other: 1 } });
      await api.merge(api.widgets(`/w?fieldValidation=${how}`), `{"spec":{"size":2,"size":3}}`);
      await api.merge(api.widgets(`/w?fieldValidation=${how}`), { metadata: { other: 1 } });
    }
    await api.quietly("POST", api.core("configmaps"), configMap("c"));
    for (const how of ["Strict", "Warn", "Ignore"]) {
      await api.merge(api.core(`configmaps/c?fieldValidation=${how}`), { other: 1, metadata: { strange: 1 } });
      await api.merge(api.core(`configmaps/c?fieldValidation=${how}`), `{"data":{"a":"2","a":"3"}}`);
    }
  },
  "an immutable ConfigMap": async (api) => {
    await api.quietly("POST", api.core("configmaps"), { ...configMap("c", { a: "1" }), immutable: true });
    await api.merge(api.core("configmaps/c"), { data: { a: "2" } });
    await api.merge(api.core("configmaps/c"), { immutable: false });
    await api.merge(api.core("configmaps/c"), { metadata: { labels: { a: "b" } } });
  },
  "a Secret": async (api) => {
    await api.quietly("POST", api.core("secrets"), {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "s" },
      data: { a: "YQ==" },
    });
    await api.merge(api.core("secrets/s"), { stringData: { b: "text" } });
    await api.merge(api.core("secrets/s"), { data: { a: null } });
    await api.merge(api.core("secrets/s"), { data: { c: "???" } });
    await api.merge(api.core("secrets/s"), { type: "other" });
  },
  "a Namespace": async (api) => {
    const path = `/api/v1/namespaces/${api.namespace}`;
    await api.merge(path, { metadata: { labels: { team: "a" } } });
    await api.merge(path, { spec: { finalizers: [] } });
    await api.merge(path, { status: { phase: "Terminating" } });
  },
  "numbers keep their precision": (api) =>
    mergePatches(
      api,
      {},
      `{"spec":{"free":{"a":1.50,"b":1e3,"c":12345678901234,"d":-0}}}`,
      `{"spec":{"ratio":2.0,"count":5}}`,
    ),
  "unusual names": (api) =>
    mergePatches(
      api,
      {},
      `{"spec":{"free":{"__proto__":{"x":1},"constructor":1,"":"empty"}}}`,
      `{"metadata":{"annotations":{"toString":"1","__proto__":"2"}}}`,
      `{"__proto__":{"spec":null}}`,
    ),
});
