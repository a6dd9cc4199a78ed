/** Cases about the order of events, and about when watches start and end. */
import { area } from "../contract.ts";
import { definition, FRUIT_VERSION } from "../definition.ts";
import { CRDS, type Recorder } from "../recorder.ts";
import { configMap, widget } from "../widget.ts";

const STREAMING = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";

async function versionOf(api: Recorder, path: string): Promise<string> {
  return (await api.quietly("GET", path)).body.metadata.resourceVersion;
}

/** Order, beginnings and ends of watches. */
export const watchOrder = area("watch order", {
  "two watches see the same changes in the same order": async (api) => {
    const path = api.widgets(`?watch=1&resourceVersion=${await versionOf(api, api.widgets())}`);
    await api.watch(path, (first) =>
      api.watch(path, async (second) => {
        for (const name of ["c", "a", "b"]) await api.quietly("POST", api.widgets(), widget(name));
        await api.merge(api.widgets("/a"), { spec: { size: 2 } });
        await api.delete(api.widgets("/c"));
        await api.post(api.widgets(), widget("c"));
        await first.take(6);
        await second.take(6);
      }));
  },
  "a watch from the resourceVersion of an object": async (api) => {
    const { body } = await api.quietly("POST", api.core("configmaps"), configMap("a", {}, { labels: { mine: "yes" } }));
    const version = body.metadata.resourceVersion;
    await api.watch(api.core(`configmaps?watch=1&resourceVersion=${version}&labelSelector=mine`), async (watch) => {
      await api.merge(api.core("configmaps/a"), { data: { x: "1" } });
      await api.delete(api.core("configmaps/a"));
      await watch.take(2);
    });
  },
  "a watch from version 0 begins with existing objects": async (api) => {
    await api.quietly("POST", api.widgets(), widget("b"));
    await api.quietly("POST", api.widgets(), widget("a"));
    // A watch from resourceVersion 0 begins with the cache of the real server, which is updated
    // with a delay.
    await api.untilStatus(api.widgets("/a?resourceVersion=0"), 200);
    await api.watch(api.widgets("?watch=1&resourceVersion=0"), async (watch) => {
      await watch.take(2);
      await api.merge(api.widgets("/b"), { spec: { size: 2 } });
      await watch.take(1);
    });
  },
  "a streaming list is at least as new as its resourceVersion": async (api) => {
    await api.quietly("POST", api.widgets(), widget("a"));
    const { body } = await api.quietly("POST", api.widgets(), widget("b"));
    const version = body.metadata.resourceVersion;
    await api.watch(api.widgets(`?${STREAMING}&resourceVersion=${version}`), async (watch) => {
      await watch.until(({ type }) => type === "BOOKMARK");
      await api.delete(api.widgets("/a"));
      await watch.take(1);
    });
  },
  "a streaming list of metadata, and as a table": async (api) => {
    await api.quietly("POST", api.widgets(), widget("a"));
    for (const as of ["PartialObjectMetadata", "Table"]) {
      const accept = `application/json;as=${as};g=meta.k8s.io;v=v1`;
      await api.watch(api.widgets(`?${STREAMING}`), async (watch) => {
        // A table does not distinguish the marked bookmark from others.
        await watch.take(as === "Table" ? 1 : 2);
        await api.merge(api.widgets("/a"), { spec: { size: as === "Table" ? 4 : 5 } });
        await watch.take(1);
      }, { accept });
    }
  },
  "a dry run causes no event": async (api) => {
    await api.quietly("POST", api.widgets(), widget("a"));
    await api.watch(api.widgets(`?watch=1&resourceVersion=${await versionOf(api, api.widgets())}`), async (watch) => {
      await api.post(api.widgets("?dryRun=All"), widget("b"));
      await api.merge(api.widgets("/a?dryRun=All"), { spec: { size: 9 } });
      await api.delete(api.widgets("/a?dryRun=All"));
      await api.post(api.widgets(), widget("a"));
      await api.post(api.widgets(), widget("c"));
      await watch.take(1);
    });
  },
  "applies that create, change and change nothing": async (api) => {
    await api.watch(api.widgets(`?watch=1&resourceVersion=${await versionOf(api, api.widgets())}`), async (watch) => {
      const path = api.widgets("/a?fieldManager=one");
      await api.apply(path, widget("a", { size: 1 }));
      await api.apply(path, widget("a", { size: 1 }));
      await api.apply(path, widget("a", { size: 2 }));
      await api.apply(api.widgets("/a?fieldManager=two"), widget("a", { size: 2 }));
      await watch.take(3);
    });
  },
  "cluster-scoped objects by label": async (api) => {
    const path = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    const role = (name: string, labels: object) => ({
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata: { name: `${api.namespace}-${name}`, labels },
      rules: [],
    });
    const version = await versionOf(api, path);
    const query = `watch=1&resourceVersion=${version}&labelSelector=of%3D${api.namespace}`;
    await api.watch(`${path}?${query}`, async (watch) => {
      await api.quietly("POST", path, role("a", {}));
      await api.quietly("POST", path, role("b", { of: api.namespace }));
      await api.merge(`${path}/${api.namespace}-a`, { metadata: { labels: { of: api.namespace } } });
      await api.merge(`${path}/${api.namespace}-b`, { metadata: { labels: null } });
      await watch.take(3);
    });
  },
  "deletion of a namespace with objects": async (api) => {
    const name = `${api.namespace}-end`;
    await api.quietly("POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name } });
    const path = api.widgets().replace(api.namespace, name);
    await api.quietly("POST", path, widget("a"));
    await api.quietly("POST", path, widget("b", {}, { finalizers: ["example.com/hold"] }));
    await api.watch(`${path}?watch=1`, async (watch) => {
      await watch.take(2);
      await api.quietly("DELETE", `/api/v1/namespaces/${name}`);
      await watch.take(2);
      await api.merge(`${path}/b`, { metadata: { finalizers: null } });
      await watch.take(1);
    });
  },
  "deletion of a definition with objects": async (api) => {
    const given = definition("Marula", "marulas");
    await api.quietlyDefine(given);
    const path = `/apis/${FRUIT_VERSION}/namespaces/${api.namespace}/marulas`;
    for (const name of ["a", "b"]) {
      await api.quietly("POST", path, { apiVersion: FRUIT_VERSION, kind: "Marula", metadata: { name } });
    }
    await api.watch(`${path}?watch=1`, async (watch) => {
      await watch.take(2);
      await api.quietly("DELETE", `${CRDS}/${given.metadata.name}`);
      await watch.take(2);
    });
    await api.untilStatus(`${CRDS}/${given.metadata.name}`, 404);
    await api.untilStatus(path, 404);
    await api.get(path);
  },
  "a list and a watch of all namespaces at the same version": async (api) => {
    const labels = { of: api.namespace };
    await api.quietly("POST", api.core("configmaps"), configMap("a", {}, { labels }));
    const query = `labelSelector=of%3D${api.namespace}`;
    const { body } = await api.get(`/api/v1/configmaps?${query}`);
    await api.quietly("POST", api.core("configmaps"), configMap("b", {}, { labels }));
    const path = `/api/v1/configmaps?watch=1&${query}&resourceVersion=${body.metadata.resourceVersion}`;
    await api.watch(path, async (watch) => void await watch.take(1));
  },
});
