/** Server-side apply of fields of all shapes: ownership, removal and conflicts. */
import { area } from "../contract.ts";
import type { Recorder } from "../recorder.ts";
import { configMap, widget } from "../widget.ts";

/**
 * Applies specs of one widget in order, each as `[manager, spec]`. A manager can be followed by
 * query parameters.
 */
async function inTurn(api: Recorder, ...turns: readonly (readonly [string, unknown])[]): Promise<void> {
  for (const [manager, spec] of turns) {
    await api.apply(api.widgets(`/w?fieldManager=${manager}`), widget("w", spec));
  }
}

export const appliedShapes = area("applied shapes", {
  "an empty object is owned": (api) =>
    inTurn(api, ["one", { nested: {} }], ["one", {}], ["two", { nested: { depth: 3 } }], ["one", { nested: {} }]),
  "an empty map of settings": (api) =>
    inTurn(api, ["one", { settings: {} }], ["two", { settings: { a: "1" } }], ["one", {}], ["two", {}]),
  "an empty list of ports": (api) =>
    inTurn(api, ["one", { ports: [] }], ["two", { ports: [{ port: 1 }] }], ["one", { ports: [] }], ["two", {}]),
  "an empty set": (api) => inTurn(api, ["one", { tags: [] }], ["two", { tags: ["a"] }], ["one", {}], ["two", {}]),
  "a map that loses its last key": (api) =>
    inTurn(api, ["one", { settings: { a: "1" } }], ["one", { settings: {} }], ["one", {}]),
  "keys of a map are owned one by one": (api) =>
    inTurn(
      api,
      ["one", { settings: { a: "1", b: "1" } }],
      ["two", { settings: { b: "1", c: "1" } }],
      ["one", { settings: { a: "2" } }],
      ["two", { settings: { c: "2" } }],
    ),
  "a conflict over the key of a map": (api) =>
    inTurn(
      api,
      ["one", { settings: { a: "1" } }],
      ["two", { settings: { a: "2" } }],
      ["two&force=true", { settings: { a: "2" } }],
      ["one", { settings: { a: "1" } }],
    ),
  "several conflicts with several managers": (api) =>
    inTurn(
      api,
      ["one", { color: "red", settings: { a: "1" } }],
      ["two", { size: 2, tags: ["x"] }],
      ["three", { color: "blue", size: 3, settings: { a: "2" } }],
      ["three&force=true", { color: "blue", size: 3, settings: { a: "2" } }],
    ),
  "an atomic map is owned as a whole": (api) =>
    inTurn(
      api,
      ["one", { pair: { a: "1", b: "2" } }],
      ["two", { pair: { a: "1" } }],
      ["two", { pair: { b: "2", a: "1" } }],
      ["one", { pair: { a: "3" } }],
      ["one&force=true", { pair: { a: "3" } }],
      ["two", {}],
      ["one", {}],
    ),
  "an atomic list is owned as a whole": (api) =>
    inTurn(
      api,
      ["one", { words: ["a", "b"] }],
      ["two", { words: ["b", "a"] }],
      ["two", { words: ["a", "b"] }],
      ["one", { words: ["a"] }],
      ["two", {}],
      ["one", { words: ["a"] }],
    ),
  "an item of a list map with two managers": (api) =>
    inTurn(
      api,
      ["one", { ports: [{ port: 1, name: "a" }] }],
      ["two", { ports: [{ port: 1 }] }],
      ["one", { ports: [] }],
      ["two", { ports: [] }],
    ),
  "an item of a list map that loses a field": (api) =>
    inTurn(api, ["one", { ports: [{ port: 1, name: "a" }] }], ["one", { ports: [{ port: 1 }] }]),
  "an item of a list map whose key has a default": (api) =>
    inTurn(
      api,
      ["one", { ports: [{ port: 1, protocol: "TCP" }] }],
      ["two", { ports: [{ port: 1, name: "x" }] }],
      ["two", { ports: [{ port: 1, protocol: "UDP", name: "x" }] }],
    ),
  "the order of a list map follows the last apply": (api) =>
    inTurn(
      api,
      ["one", { ports: [{ port: 1 }, { port: 2 }, { port: 3 }] }],
      ["one", { ports: [{ port: 3 }, { port: 1 }, { port: 2 }] }],
      ["two", { ports: [{ port: 4 }, { port: 2 }] }],
      ["one", { ports: [{ port: 2 }, { port: 5 }, { port: 1 }] }],
    ),
  "the order of a set follows the last apply": (api) =>
    inTurn(
      api,
      ["one", { tags: ["a", "b", "c"] }],
      ["two", { tags: ["d", "b"] }],
      ["one", { tags: ["c", "a"] }],
      ["two", { tags: ["a", "d", "e"] }],
    ),
  "an item that appears twice in a set": (api) =>
    inTurn(api, ["one", { tags: ["a", "a"] }], ["one", { tags: ["a"] }], ["two", { tags: ["b", "a", "b"] }]),
  "an item that appears twice in a list map": (api) =>
    inTurn(api, ["one", { ports: [{ port: 1, name: "a" }, { port: 1, name: "b" }] }]),
  "null is not owned": (api) => inTurn(api, ["one", { size: null, color: "red" }], ["two", { color: null, size: 2 }]),
  "a default has no owner": async (api) => {
    await inTurn(api, ["one", {}], ["two", { nested: { depth: 1 } }], ["one", { nested: { depth: 2 } }]);
  },
  "fields without a schema are owned key by key": (api) =>
    inTurn(
      api,
      ["one", { free: { a: { b: 1 }, list: [1, 2] } }],
      ["two", { free: { a: { c: 2 }, list: [1, 2] } }],
      ["two", { free: { a: { c: 2 }, list: [3] } }],
      ["one", { free: { list: [4] } }],
    ),
  "a field that changes its shape": (api) =>
    inTurn(
      api,
      ["one", { free: { a: { b: 1 } } }],
      ["one", { free: { a: "text" } }],
      ["one", { free: { a: [1] } }],
      ["two", { free: { a: { b: 1 } } }],
    ),
  "an integer or string": (api) =>
    inTurn(
      api,
      ["one", { either: 80 }],
      ["two", { either: "80" }],
      ["two&force=true", { either: "http" }],
      ["one", { either: 1 }],
    ),
  "fields of a nested object have separate owners": (api) =>
    inTurn(
      api,
      ["one", { team: { lead: "a", members: 2 } }],
      ["two", { team: { lead: "a" } }],
      ["one", { team: { members: 3 } }],
      ["two", {}],
    ),
  "an apply without fields": (api) => inTurn(api, ["one", { size: 2 }], ["two", {}], ["one", {}], ["one", { size: 2 }]),
  "a manager that applies again after it gave up its fields": (api) =>
    inTurn(api, ["one", { size: 2 }], ["two&force=true", { size: 3 }], ["one", {}], ["one&force=true", { size: 4 }]),
  "force without a conflict": (api) => inTurn(api, ["one&force=true", { size: 2 }], ["one&force=true", { size: 2 }]),
  "a dry run adds no owner": async (api) => {
    await api.apply(api.widgets("/w?fieldManager=one&dryRun=All"), widget("w", { size: 2 }));
    await api.get(api.widgets("/w"));
    await inTurn(api, ["one", { size: 2 }], ["one&dryRun=All", { size: 3 }], ["two&dryRun=All", { size: 3 }]);
    await api.get(api.widgets("/w"));
  },
  "a resourceVersion must be current": async (api) => {
    const { body } = await api.apply(api.widgets("/w?fieldManager=one"), widget("w", { size: 2 }));
    const { resourceVersion } = body.metadata;
    await api.apply(api.widgets("/w?fieldManager=one"), widget("w", { size: 3 }, { resourceVersion }));
    await api.apply(api.widgets("/w?fieldManager=one"), widget("w", { size: 4 }, { resourceVersion }));
    await api.apply(api.widgets("/new?fieldManager=one"), widget("new", { size: 4 }, { resourceVersion: "1" }));
  },
  "the uid of another object": async (api) => {
    await inTurn(api, ["one", { size: 2 }]);
    const uid = "11111111-1111-1111-1111-111111111111";
    await api.apply(api.widgets("/w?fieldManager=one"), widget("w", { size: 3 }, { uid }));
  },
  "a wrong name, and no name": async (api) => {
    await api.apply(api.widgets("/w?fieldManager=one"), widget("other"));
    await api.apply(api.widgets("/w?fieldManager=one"), { ...widget("w"), metadata: {} });
    await api.apply(api.widgets("/W_?fieldManager=one"), widget("W_"));
    await api.apply(api.widgets("/w?fieldManager=one"), widget("w", {}, { namespace: "other" }));
  },
  "labels and annotations of several managers": async (api) => {
    const path = (manager: string) => api.widgets(`/w?fieldManager=${manager}`);
    await api.apply(path("one"), widget("w", {}, { labels: { a: "1", b: "1" }, annotations: { x: "1" } }));
    await api.apply(path("two"), widget("w", {}, { labels: { b: "1", c: "1" }, annotations: { y: "1" } }));
    await api.apply(path("two"), widget("w", {}, { labels: { a: "2" } }));
    await api.apply(path("one"), widget("w", {}, { annotations: { x: "2" } }));
    await api.apply(path("two"), widget("w"));
  },
  "owner references are merged by uid": async (api) => {
    const owners: unknown[] = [];
    for (const name of ["x", "y"]) {
      const { body } = await api.quietly("POST", api.core("configmaps"), configMap(name));
      owners.push({ apiVersion: "v1", kind: "ConfigMap", name, uid: body.metadata.uid });
    }
    await api.apply(api.widgets("/w?fieldManager=one"), widget("w", {}, { ownerReferences: [owners[0]] }));
    await api.apply(api.widgets("/w?fieldManager=two"), widget("w", {}, { ownerReferences: [owners[1]] }));
    await api.apply(api.widgets("/w?fieldManager=one"), widget("w", {}, { ownerReferences: [] }));
  },
  "finalizers are a set": async (api) => {
    const path = (manager: string) => api.widgets(`/w?fieldManager=${manager}`);
    await api.apply(path("one"), widget("w", {}, { finalizers: ["example.com/a", "example.com/b"] }));
    await api.apply(path("two"), widget("w", {}, { finalizers: ["example.com/b", "example.com/c"] }));
    await api.apply(path("one"), widget("w"));
    await api.apply(path("two"), widget("w", {}, { finalizers: ["bad"] }));
    await api.apply(path("two"), widget("w"));
  },
  "creationTimestamp, generation and the like have no owner": async (api) => {
    await api.apply(
      api.widgets("/w?fieldManager=one"),
      widget("w", { size: 1 }, { creationTimestamp: "2020-01-01T00:00:00Z", generation: 7, selfLink: "x" }),
    );
    await api.apply(api.widgets("/w?fieldManager=one"), widget("w", { size: 1 }, { creationTimestamp: null }));
  },
  "an object that is being deleted": async (api) => {
    await api.apply(api.widgets("/w?fieldManager=one"), widget("w", {}, { finalizers: ["example.com/a"] }));
    await api.quietly("DELETE", api.widgets("/w"));
    await api.apply(api.widgets("/w?fieldManager=one"), widget("w", { size: 4 }, { finalizers: ["example.com/a"] }));
    await api.apply(api.widgets("/w?fieldManager=two"), widget("w", {}, { finalizers: ["example.com/b"] }));
    await api.apply(api.widgets("/w?fieldManager=one"), widget("w", { size: 4 }));
    await api.get(api.widgets("/w"));
  },
  "fieldValidation of unknown and duplicate fields": async (api) => {
    const path = (query: string) => api.widgets(`/w?fieldManager=one&fieldValidation=${query}`);
    await api.apply(path("Strict"), widget("w", { other: 1 }));
    await api.apply(path("Warn"), widget("w", { other: 1 }));
    await api.apply(path("Ignore"), widget("w", { other: 1 }));
    await api.apply(path("Strict"), "apiVersion: contract.example.com/v1\nkind: Widget\nspec: {size: 1, size: 2}\n");
    await api.apply(path("Warn"), "apiVersion: contract.example.com/v1\nkind: Widget\nspec: {size: 1, size: 2}\n");
    await api.apply(path("Loose"), widget("w"));
  },
  "a list in place of an object": async (api) => {
    await api.apply(api.widgets("/w?fieldManager=one"), "[]");
    await api.apply(api.widgets("/w?fieldManager=one"), "3");
    await api.apply(api.widgets("/w?fieldManager=one"), "");
    await api.apply(api.widgets("/w?fieldManager=one"), "null");
    await api.apply(api.widgets("/w?fieldManager=one"), "a: b\n---\nc: d\n");
  },
  "a field of a wrong type": async (api) => {
    await inTurn(api, ["one", { size: "x" }], ["one", { tags: "x" }], ["one", { settings: [] }], ["one", "text"]);
    await inTurn(api, ["one", { ports: [1] }], ["one", { ports: [{}] }], ["one", { settings: { a: 1 } }]);
    await inTurn(api, ["one", { tags: [1] }], ["one", { tags: [null] }], ["one", { tags: [{}] }]);
  },
  "a field manager with odd characters": async (api) => {
    await api.apply(api.widgets("/w?fieldManager=a%20b%2Fc"), widget("w", { size: 1 }));
    await api.apply(api.widgets("/w?fieldManager=%07bell"), widget("w", { size: 2 }));
    await api.apply(api.widgets(`/w?fieldManager=${"m".repeat(128)}`), widget("w", { size: 1 }));
  },
});
