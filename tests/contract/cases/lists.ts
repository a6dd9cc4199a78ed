import { area } from "../contract.ts";
import type { Recorder } from "../recorder.ts";
import { configMap, GROUP, widget } from "../widget.ts";

const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

/** Creates three widgets: a red and a blue one with labels, and a green one without. */
async function threeWidgets(api: Recorder): Promise<void> {
  await api.quietly("POST", api.widgets(), widget("a", { color: "red" }, { labels: { app: "x", tier: "front" } }));
  await api.quietly("POST", api.widgets(), widget("b", { color: "green" }));
  await api.quietly("POST", api.widgets(), widget("c", { color: "blue" }, { labels: { app: "y" } }));
}

/** Lists and collections. */
export const lists = area("lists", {
  "an empty list": async (api) => {
    await api.get(api.widgets());
    await api.get(api.core("secrets"));
  },
  "a list is sorted by name": async (api) => {
    for (const name of ["b", "a-b", "a", "a.b"]) await api.quietly("POST", api.widgets(), widget(name));
    await api.get(api.widgets());
  },
  "a list across namespaces": async (api) => {
    const name = `${api.namespace}-2`;
    await api.quietly("POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name } });
    const selected = { labels: { across: "yes" } };
    await api.quietly("POST", `/apis/${GROUP}/v1/namespaces/${name}/widgets`, widget("a", {}, selected));
    await api.quietly("POST", api.widgets(), widget("b", {}, selected));
    await api.get(`/apis/${GROUP}/v1/widgets?labelSelector=across%3Dyes`);
  },
  "a label selector": async (api) => {
    await threeWidgets(api);
    const selectors = [
      "app=x",
      "app==y",
      "app!=x",
      "app",
      "!app",
      "app in (x,y)",
      "app notin (x)",
      "app=x,tier=front",
      "app=x,tier=back",
    ];
    for (const selector of selectors) await api.get(api.widgets(`?labelSelector=${encodeURIComponent(selector)}`));
  },
  "an invalid label selector is rejected": async (api) => {
    for (const selector of ["app in x", "a b", "=x"]) {
      await api.get(api.widgets(`?labelSelector=${encodeURIComponent(selector)}`));
    }
  },
  "a field selector": async (api) => {
    await threeWidgets(api);
    const selectors = [
      "metadata.name=a",
      "metadata.name!=a",
      `metadata.namespace=${api.namespace}`,
      "spec.color=blue",
      "spec.size=3",
    ];
    for (const selector of selectors) await api.get(api.widgets(`?fieldSelector=${encodeURIComponent(selector)}`));
    await api.quietly("POST", api.core("configmaps"), configMap("c"));
    await api.get(api.core("configmaps?fieldSelector=metadata.name%3Dc"));
    await api.get(api.core("configmaps?fieldSelector=data.a%3Dc"));
  },
  "a list in pages": async (api) => {
    await threeWidgets(api);
    const { body: first } = await api.get(api.widgets("?limit=2"));
    await api.get(api.widgets(`?limit=2&continue=${encodeURIComponent(first.metadata.continue)}`));
    await api.get(api.widgets("?limit=3"));
    await api.get(api.widgets("?limit=1&labelSelector=app"));
  },
  "later pages do not have objects created after the first page": async (api) => {
    await threeWidgets(api);
    const { body: first } = await api.get(api.widgets("?limit=1"));
    await api.quietly("POST", api.widgets(), widget("bb"));
    await api.quietly("DELETE", api.widgets("/c"));
    await api.get(api.widgets(`?limit=5&continue=${encodeURIComponent(first.metadata.continue)}`));
  },
  "an invalid continue token is rejected": async (api) => {
    await api.get(api.widgets("?limit=2&continue=nonsense"));
  },
  "a list at a resourceVersion": async (api) => {
    await threeWidgets(api);
    const { body } = await api.get(api.widgets());
    const version = body.metadata.resourceVersion;
    await api.quietly("DELETE", api.widgets("/b"));
    await api.get(api.widgets(`?resourceVersion=${version}&resourceVersionMatch=Exact`));
    await api.get(api.widgets("?resourceVersion=x"));
    await api.get(api.widgets("?resourceVersionMatch=Exact"));
    await api.get(api.widgets("?resourceVersion=1&resourceVersionMatch=Nonsense"));
  },
  "a collection is deleted": async (api) => {
    await threeWidgets(api);
    await api.delete(api.widgets("?labelSelector=app%3Dx"));
    await api.get(api.widgets());
    await api.delete(api.widgets());
    await api.get(api.widgets());
  },
  "a collection of ConfigMaps is deleted": async (api) => {
    await api.quietly("POST", api.core("configmaps"), configMap("c", {}, { labels: { mine: "yes" } }));
    await api.delete(api.core("configmaps?labelSelector=mine"));
    await api.get(api.core("configmaps?labelSelector=mine"));
  },
  "a table of a custom kind": async (api) => {
    await threeWidgets(api);
    await api.get(api.widgets(), { accept: TABLE });
    await api.get(api.widgets("/a"), { accept: TABLE });
    await api.get(api.widgets("?includeObject=None&limit=1"), { accept: TABLE });
  },
  "a table of ConfigMaps": async (api) => {
    await api.quietly("POST", api.core("configmaps"), configMap("c", { a: "1" }, { labels: { mine: "yes" } }));
    await api.get(api.core("configmaps?labelSelector=mine"), { accept: TABLE });
  },
  "metadata only": async (api) => {
    await threeWidgets(api);
    await api.get(api.widgets("/a"), { accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1" });
    await api.get(api.widgets("?limit=1"), {
      accept: "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
    });
  },
});
