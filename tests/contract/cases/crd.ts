import assert from "node:assert/strict";
import { area } from "../contract.ts";
import { CRDS, type Recorder } from "../recorder.ts";
import { definition, FRUIT_VERSION } from "../definition.ts";

/** Waits until a condition of a definition has a status. */
async function condition(api: Recorder, name: string, type: string, status: string): Promise<void> {
  await api.untilAnswer(
    `${CRDS}/${name}`,
    ({ body }) =>
      body.status?.conditions?.some((c: { type: string; status: string }) => c.type === type && c.status === status),
  );
}

/** Creation, changes and deletion of kinds. */
export const crd = area("definitions", {
  "a definition is completed, accepted and established": async (api) => {
    const apples = definition("Apple", "apples");
    await api.post(CRDS, apples);
    await condition(api, apples.metadata.name, "Established", "True");
    await api.get(`${CRDS}/${apples.metadata.name}`);
  },
  "a create of an existing definition is rejected": async (api) => {
    const pears = definition("Pear", "pears");
    await api.quietlyDefine(pears);
    await api.post(CRDS, pears);
  },
  "a second definition of a kind is not accepted": async (api) => {
    await api.quietlyDefine(definition("Plum", "plums"));
    const others = definition("Plum", "otherplums");
    await api.quietly("POST", CRDS, others);
    await condition(api, others.metadata.name, "NamesAccepted", "False");
    await api.get(`${CRDS}/${others.metadata.name}`);
  },
  "deleting a definition deletes its objects and its path": async (api) => {
    const figs = definition("Fig", "figs");
    const path = `/apis/${figs.spec.group}/v1/namespaces/${api.namespace}/figs`;
    await api.quietlyDefine(figs);
    await api.post(path, { apiVersion: FRUIT_VERSION, kind: "Fig", metadata: { name: "one" } });
    await api.quietly("DELETE", `${CRDS}/${figs.metadata.name}`);
    await api.untilStatus(`${CRDS}/${figs.metadata.name}`, 404);
    await api.untilStatus(path, 404);
    await api.get(path);
    await api.get(`${CRDS}/${figs.metadata.name}`);
    await api.quietlyDefine(figs);
    // The real server may return 404 once, while it replaces the old handler.
    const { body } = await api.untilAnswer(path, ({ status }) => status === 200);
    assert.deepEqual((body as { items: unknown[] }).items, []);
  },
  "a cluster-scoped kind has no namespaces": async (api) => {
    const suns = definition("Sun", "suns", { scope: "Cluster" });
    await api.quietlyDefine(suns);
    const sun = { apiVersion: FRUIT_VERSION, kind: "Sun", metadata: { name: "one" } };
    await api.post(`/apis/${suns.spec.group}/v1/suns`, sun);
    await api.get(`/apis/${suns.spec.group}/v1/suns/one`);
    await api.post(`/apis/${suns.spec.group}/v1/namespaces/${api.namespace}/suns`, sun);
    await api.get(`/apis/${suns.spec.group}/v1/suns`);
  },
  "a field that is added to the schema is stored from then on": async (api) => {
    const limes = definition("Lime", "limes");
    const path = `/apis/${limes.spec.group}/v1/namespaces/${api.namespace}/limes`;
    const lime = (name: string) => ({
      apiVersion: FRUIT_VERSION,
      kind: "Lime",
      metadata: { name },
      spec: { size: 1, juice: 5 },
    });
    await api.quietlyDefine(limes);
    await api.post(path, lime("before"));
    await api.quietly("PATCH", `${CRDS}/${limes.metadata.name}`, [{
      op: "add",
      path: "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/juice",
      value: { type: "integer", default: 7 },
    }], { contentType: "application/json-patch+json" });
    // The default is set once the new schema is in use.
    await api.untilAnswer(`${path}/before`, ({ body }) => body.spec.juice === 7);
    await api.post(path, lime("after"));
    await api.get(path);
  },
  "two versions of a kind show the same object": async (api) => {
    const kiwis = definition("Kiwi", "kiwis", { versions: ["v1", "v2"] });
    const path = (version: string) => `/apis/${kiwis.spec.group}/${version}/namespaces/${api.namespace}/kiwis`;
    await api.quietlyDefine(kiwis);
    await api.untilStatus(path("v2"), 200);
    await api.post(path("v2"), {
      apiVersion: `fruit.example.com/v2`,
      kind: "Kiwi",
      metadata: { name: "one" },
      spec: { size: 1 },
    });
    await api.get(`${path("v1")}/one`);
    await api.get(`${path("v2")}/one`);
    await api.get(path("v1"));
  },
  "a definition must be named after plural and group": async (api) => {
    await api.post(CRDS, { ...definition("Date", "dates"), metadata: { name: "dates.other.example.com" } });
  },
  "a definition needs a structural schema": async (api) => {
    const bad = (schema: unknown) => definition("Nut", "nuts", { schema });
    await api.post(CRDS, bad(undefined));
    await api.post(CRDS, bad({ type: "object", properties: { spec: {} } }));
    await api.post(CRDS, bad({ type: "object", properties: { spec: { type: "array" } } }));
    await api.post(CRDS, bad({ type: "object", properties: { spec: { type: "strin" } } }));
    await api.post(CRDS, bad({ properties: {} }));
    await api.post(
      CRDS,
      bad({
        type: "object",
        properties: { spec: { type: "object", properties: { a: { type: "integer", default: "x" } } } },
      }),
    );
  },
  "a definition has exactly one stored version": async (api) => {
    const both = definition("Yam", "yams", { versions: ["v1", "v2"] });
    const versions = both.spec.versions as { storage: boolean }[];
    await api.post(CRDS, { ...both, spec: { ...both.spec, versions: versions.map((v) => ({ ...v, storage: true })) } });
    await api.post(CRDS, {
      ...both,
      spec: { ...both.spec, versions: versions.map((v) => ({ ...v, storage: false })) },
    });
  },
  "the scope of a definition is immutable": async (api) => {
    const oaks = definition("Oak", "oaks");
    await api.quietlyDefine(oaks);
    await api.merge(`${CRDS}/${oaks.metadata.name}`, { spec: { scope: "Cluster" } });
  },
});
