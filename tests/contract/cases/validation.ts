import { area } from "../contract.ts";
import { definition, FRUIT_VERSION } from "../definition.ts";
import type { Recorder } from "../recorder.ts";
import { widget } from "../widget.ts";

/** Tries to create a widget with each of the specs. */
async function tryEach(api: Recorder, specs: readonly unknown[]): Promise<void> {
  for (const [i, spec] of specs.entries()) await api.post(api.widgets(), widget(`w${i}`, spec));
}

/** Validation, defaults and pruning of custom kinds. */
export const validation = area("validation", {
  "fills in defaults": (api) =>
    tryEach(api, [{}, { size: 4, nested: { depth: 2 } }, { ports: [{ port: 1 }] }, { nested: {} }]),
  "fills in defaults when spec itself is missing": async (api) => {
    await api.post(api.widgets(), { ...widget("w"), spec: undefined });
  },
  "drops unknown fields": (api) =>
    tryEach(api, [{ size: 1, other: 1, nested: { depth: 1, other: 1 } }, { ports: [{ port: 1, other: 1 }] }]),
  "keeps unknown fields with x-kubernetes-preserve-unknown-fields": (api) =>
    tryEach(api, [{ free: { a: { b: [1, null, "x"] } } }]),
  "rejects other types": (api) =>
    tryEach(api, [
      { size: "3" },
      { size: 3.5 },
      { title: 3 },
      { enabled: "yes" },
      { words: "a" },
      { words: [1] },
      { settings: { a: 1 } },
      { settings: [] },
      { nested: 3 },
      { ratio: "1" },
      [],
      "text",
      3,
    ]),
  "rejects null unless it is nullable": (api) =>
    tryEach(api, [{ note: null }, { size: null }, { title: null }, { words: null }, { nested: null }]),
  "checks bounds of numbers": (api) =>
    tryEach(api, [{ size: 0 }, { size: 11 }, { size: 10 }, { ratio: 0 }, { ratio: 0.5 }, { count: 7 }, { count: 10 }, {
      count: 3000000000,
    }]),
  "checks lengths and patterns of strings": (api) =>
    tryEach(api, [{ title: "a" }, { title: "abcdefghi" }, { title: "ABC" }, { title: "abc" }, { title: "1" }]),
  "checks enumerations": (api) => tryEach(api, [{ color: "red" }, { color: "pink" }, { color: "" }]),
  "checks formats": (api) =>
    tryEach(api, [
      { when: "2026-01-01T00:00:00Z" },
      { when: "yesterday" },
      { address: "10.0.0.1" },
      { address: "10.0.0.256" },
    ]),
  "checks numbers of items and properties": (api) =>
    tryEach(api, [{ words: [] }, { words: ["a", "b", "c", "d"] }, { settings: { a: "1", b: "2", c: "3", d: "4" } }]),
  "checks required fields": (api) =>
    tryEach(api, [{ team: {} }, { team: { lead: "x" } }, { team: { lead: "x", members: 2 } }, { ports: [{}] }]),
  "accepts integers or strings with x-kubernetes-int-or-string": (api) =>
    tryEach(api, [{ either: 1 }, { either: "1" }, { either: true }, { either: 1.5 }, { either: {} }]),
  "rejects duplicates in sets and list maps": (api) =>
    tryEach(api, [
      { tags: ["a", "b", "a"] },
      { ports: [{ port: 1 }, { port: 1, protocol: "TCP" }] },
      { ports: [{ port: 1 }, { port: 1, protocol: "UDP" }] },
    ]),
  "checks rules": async (api) => {
    const gaps = definition("Gap", "gaps", {
      schema: {
        type: "object",
        properties: {
          spec: {
            type: "object",
            properties: { low: { type: "integer" }, high: { type: "integer" }, name: { type: "string", maxLength: 9 } },
            "x-kubernetes-validations": [
              {
                rule: "!has(self.low) || !has(self.high) || self.low <= self.high",
                message: "low must not be above high",
              },
              { rule: "!has(oldSelf.name) || has(self.name) && self.name == oldSelf.name", message: "the name stays" },
            ],
          },
        },
      },
    });
    await api.quietlyDefine(gaps);
    const path = `/apis/${gaps.spec.group}/v1/namespaces/${api.namespace}/gaps`;
    const gap = (name: string, spec: unknown) => ({ apiVersion: FRUIT_VERSION, kind: "Gap", metadata: { name }, spec });
    await api.post(path, gap("a", { low: 2, high: 1 }));
    await api.post(path, gap("a", { low: "2", high: 1 }));
    await api.post(path, gap("a", { low: 1, high: 2, name: "x" }));
    await api.merge(`${path}/a`, { spec: { name: "y" } });
    await api.merge(`${path}/a`, { spec: { high: 0 } });
    await api.merge(`${path}/a`, { spec: { high: 3 } });
  },
  "reports all errors together": (api) =>
    tryEach(api, [{ size: 11, color: "pink", title: "A", team: {}, words: [], tags: ["a", "a"] }]),
  "rejects an invalid update": async (api) => {
    const { body } = await api.post(api.widgets(), widget("w", { size: 2 }));
    await api.put(api.widgets("/w"), { ...body, spec: { size: 12 } });
    await api.merge(api.widgets("/w"), { spec: { size: 12 } });
    await api.get(api.widgets("/w"));
  },
  "rejects invalid names": async (api) => {
    for (const name of ["Big", "a_b", "-a", "a..b", "a".repeat(254), ""]) await api.post(api.widgets(), widget(name));
  },
  "rejects invalid labels, annotations, finalizers and owners": async (api) => {
    const owner = { apiVersion: "v1", kind: "ConfigMap", name: "x", uid: "" };
    for (
      const metadata of [
        { labels: { "a b": "c" } },
        { labels: { a: "b c" } },
        { labels: { a: "x".repeat(64) } },
        { annotations: { "a b": "c" } },
        { finalizers: ["bad"] },
        { finalizers: ["example.com/good"] },
        { ownerReferences: [owner] },
        { ownerReferences: [{ ...owner, uid: "1", controller: true }, { ...owner, uid: "2", controller: true }] },
        { labels: { a: 1 } },
      ]
    ) await api.post(api.widgets(), widget(`w-${JSON.stringify(metadata).length}`, {}, metadata));
  },
});
