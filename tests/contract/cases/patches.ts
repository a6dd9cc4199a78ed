import { area } from "../contract.ts";
import { configMap, widget } from "../widget.ts";
import { deployment, deployments } from "../workloads.ts";

/** Merge patches (RFC 7396) and JSON patches (RFC 6902). */
export const patches = area("patches", {
  "a merge patch sets, changes and removes": async (api) => {
    await api.quietly("POST", api.widgets(), widget("w", { size: 1, settings: { a: "1", b: "2" }, words: ["a", "b"] }));
    await api.merge(api.widgets("/w"), { spec: { size: 2, settings: { a: null, c: "3" }, words: ["c"] } });
    await api.merge(api.widgets("/w"), { spec: { size: null, settings: null } });
    await api.merge(api.widgets("/w"), { metadata: { labels: { a: "b" } } });
    await api.merge(api.widgets("/w"), { metadata: { labels: null } });
  },
  "a merge patch of a ConfigMap": async (api) => {
    await api.quietly("POST", api.core("configmaps"), configMap("c", { a: "1", b: "2" }));
    await api.merge(api.core("configmaps/c"), { data: { a: null, c: "3" } });
    await api.merge(api.core("configmaps/c"), { data: { a: 1 } });
    await api.merge(api.core("configmaps/c"), { data: null });
  },
  "an empty merge patch changes nothing": async (api) => {
    await api.quietly("POST", api.widgets(), widget("w"));
    await api.merge(api.widgets("/w"), {});
    await api.merge(api.widgets("/w"), { spec: {} });
  },
  "a merge patch drops unknown fields": async (api) => {
    await api.quietly("POST", api.widgets(), widget("w"));
    await api.merge(api.widgets("/w"), { spec: { other: 1 }, other: 2 });
  },
  "a merge patch that is not a JSON object": async (api) => {
    await api.quietly("POST", api.widgets(), widget("w"));
    for (const body of ["{", "[]", "3", "null", ""]) await api.merge(api.widgets("/w"), body);
    await api.quietly("POST", api.core("configmaps"), configMap("c"));
    for (const body of ["{", "[]", "3"]) await api.merge(api.core("configmaps/c"), body);
  },
  "a JSON patch adds, replaces, removes, moves, copies and tests": async (api) => {
    await api.quietly("POST", api.widgets(), widget("w", { size: 1, words: ["a"], settings: { a: "1" } }));
    await api.jsonPatch(api.widgets("/w"), [
      { op: "test", path: "/spec/size", value: 1 },
      { op: "replace", path: "/spec/size", value: 2 },
      { op: "add", path: "/spec/words/-", value: "c" },
      { op: "add", path: "/spec/words/1", value: "b" },
      { op: "copy", from: "/spec/settings/a", path: "/spec/settings/b" },
      { op: "move", from: "/spec/settings/a", path: "/spec/settings/c~1d" },
    ]);
    await api.jsonPatch(api.widgets("/w"), [{ op: "remove", path: "/spec/words/0" }, {
      op: "remove",
      path: "/spec/settings",
    }]);
  },
  "a JSON patch that does not apply": async (api) => {
    await api.quietly("POST", api.widgets(), widget("w", { size: 1, words: ["a"] }));
    for (
      const operation of [
        { op: "test", path: "/spec/size", value: 2 },
        { op: "remove", path: "/spec/none" },
        { op: "replace", path: "/spec/none", value: 1 },
        { op: "add", path: "/spec/none/deep", value: 1 },
        { op: "add", path: "/spec/words/5", value: "x" },
        { op: "leap", path: "/spec/size" },
        { op: "add", path: "spec", value: 1 },
      ]
    ) await api.jsonPatch(api.widgets("/w"), [operation]);
    await api.jsonPatch(api.widgets("/w"), { op: "remove", path: "/spec/size" });
    await api.jsonPatch(api.widgets("/w"), "[");
    await api.jsonPatch(api.widgets("/w"), []);
  },
  "a JSON patch of a ConfigMap": async (api) => {
    await api.quietly("POST", api.core("configmaps"), configMap("c", { a: "1" }));
    await api.jsonPatch(api.core("configmaps/c"), [{ op: "add", path: "/data/b", value: "2" }]);
    await api.jsonPatch(api.core("configmaps/c"), [{ op: "add", path: "/data/b", value: 2 }]);
  },
  "a strategic merge patch of a built-in kind": async (api) => {
    const path = deployments(api);
    await api.quietly("POST", path, deployment());
    const containers = [{ name: "b", image: "y" }, { name: "a", image: "z" }];
    await api.call("PATCH", `${path}/d`, { spec: { template: { spec: { containers } } } }, {
      contentType: "application/strategic-merge-patch+json",
    });
  },
  "unsupported patch types": async (api) => {
    await api.quietly("POST", api.widgets(), widget("w"));
    for (const contentType of ["application/strategic-merge-patch+json", "application/json", "text/plain"]) {
      await api.call("PATCH", api.widgets("/w"), { spec: { size: 2 } }, { contentType });
    }
  },
});
