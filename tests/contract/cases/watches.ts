import { area } from "../contract.ts";
import type { Recorder, WatchEvent } from "../recorder.ts";
import { configMap, widget } from "../widget.ts";

const STREAMING = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";

async function listVersion(api: Recorder): Promise<string> {
  return (await api.quietly("GET", api.widgets())).body.metadata.resourceVersion;
}

function endsInitialEvents(event: WatchEvent): boolean {
  return event.type === "BOOKMARK" && event.object.metadata.annotations?.["k8s.io/initial-events-end"] === "true";
}

/** Watches. */
export const watches = area("watches", {
  "a watch from a resourceVersion shows later changes": async (api) => {
    await api.quietly("POST", api.widgets(), widget("before"));
    const version = await listVersion(api);
    await api.watch(api.widgets(`?watch=1&resourceVersion=${version}`), async (watch) => {
      await api.post(api.widgets(), widget("w", { size: 1 }));
      await api.merge(api.widgets("/w"), { spec: { size: 2 } });
      await api.delete(api.widgets("/w"));
      await watch.until((event) => event.type === "DELETED");
    });
  },
  "a watch shows changes between its resourceVersion and its start": async (api) => {
    const version = await listVersion(api);
    await api.quietly("POST", api.widgets(), widget("w"));
    await api.quietly("PATCH", api.widgets("/w"), { spec: { size: 5 } }, {
      contentType: "application/merge-patch+json",
    });
    await api.watch(api.widgets(`?watch=1&resourceVersion=${version}`), async (watch) => void await watch.take(2));
  },
  "a watch without a resourceVersion begins with existing objects": async (api) => {
    await api.quietly("POST", api.widgets(), widget("a"));
    await api.quietly("POST", api.widgets(), widget("b"));
    await api.watch(api.widgets("?watch=1"), async (watch) => {
      await watch.take(2);
      await api.delete(api.widgets("/a"));
      await watch.take(1);
    });
  },
  "a streaming list ends with a marked bookmark": async (api) => {
    await api.quietly("POST", api.widgets(), widget("a"));
    await api.quietly("POST", api.widgets(), widget("b"));
    await api.watch(api.widgets(`?${STREAMING}`), async (watch) => {
      await watch.until(endsInitialEvents);
      await api.post(api.widgets(), widget("c"));
      await watch.take(1);
    });
  },
  "an empty streaming list is a marked bookmark": async (api) => {
    await api.watch(api.widgets(`?${STREAMING}`), async (watch) => void await watch.until(endsInitialEvents));
  },
  "a streaming list of ConfigMaps by label": async (api) => {
    await api.quietly("POST", api.core("configmaps"), configMap("a", { a: "1" }, { labels: { app: "x" } }));
    await api.quietly("POST", api.core("configmaps"), configMap("b"));
    await api.watch(api.core(`configmaps?${STREAMING}&labelSelector=app%3Dx`), async (watch) => {
      await watch.until(endsInitialEvents);
    });
  },
  "a streaming list needs all its parameters": async (api) => {
    await api.quietly("POST", api.widgets(), widget("w"));
    const none = () => Promise.resolve();
    await api.watch(api.widgets("?watch=1&sendInitialEvents=true&allowWatchBookmarks=true"), none);
    await api.watch(
      api.widgets("?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"),
      async (watch) => void await watch.take(1),
    );
    await api.watch(api.widgets("?sendInitialEvents=true&resourceVersionMatch=NotOlderThan"), none);
    await api.watch(api.widgets("?watch=1&resourceVersionMatch=NotOlderThan&resourceVersion=1"), none);
  },
  "an object that no longer matches is deleted for the watch": async (api) => {
    const version = await listVersion(api);
    await api.watch(api.widgets(`?watch=1&resourceVersion=${version}&labelSelector=app%3Dx`), async (watch) => {
      await api.post(api.widgets(), widget("w"));
      await api.merge(api.widgets("/w"), { metadata: { labels: { app: "x" } } });
      await api.merge(api.widgets("/w"), { spec: { size: 2 } });
      await api.merge(api.widgets("/w"), { metadata: { labels: { app: "y" } } });
      await api.merge(api.widgets("/w"), { metadata: { labels: { app: "x" } } });
      await api.delete(api.widgets("/w"));
      await watch.take(5);
    });
  },
  "one object is watched by its name": async (api) => {
    const version = await listVersion(api);
    await api.watch(
      api.widgets(`?watch=1&resourceVersion=${version}&fieldSelector=metadata.name%3Db`),
      async (watch) => {
        await api.post(api.widgets(), widget("a"));
        await api.post(api.widgets(), widget("b"));
        await watch.take(1);
      },
    );
  },
  "deletion with a finalizer is a change, then a deletion": async (api) => {
    const version = await listVersion(api);
    await api.watch(api.widgets(`?watch=1&resourceVersion=${version}`), async (watch) => {
      await api.post(api.widgets(), widget("w", {}, { finalizers: ["example.com/hold"] }));
      await api.delete(api.widgets("/w"));
      await api.merge(api.widgets("/w"), { metadata: { finalizers: null } });
      await watch.until((event) => event.type === "DELETED");
    });
  },
  "a write of status is a change": async (api) => {
    await api.quietly("POST", api.widgets(), widget("w"));
    const version = await listVersion(api);
    await api.watch(api.widgets(`?watch=1&resourceVersion=${version}`), async (watch) => {
      await api.merge(api.widgets("/w/status"), { status: { phase: "Up" } });
      await watch.take(1);
    });
  },
  "a write without changes causes no event": async (api) => {
    await api.quietly("POST", api.widgets(), widget("w", { size: 1 }));
    const version = await listVersion(api);
    await api.watch(api.widgets(`?watch=1&resourceVersion=${version}`), async (watch) => {
      await api.merge(api.widgets("/w"), { spec: { size: 1 } });
      await api.merge(api.widgets("/w"), { spec: { size: 2 } });
      await watch.take(1);
    });
  },
  "deleting a collection causes an event for each object": async (api) => {
    await api.quietly("POST", api.widgets(), widget("a"));
    await api.quietly("POST", api.widgets(), widget("b"));
    const version = await listVersion(api);
    await api.watch(api.widgets(`?watch=1&resourceVersion=${version}`), async (watch) => {
      await api.quietly("DELETE", api.widgets());
      await watch.take(2);
    });
  },
  "a watch of metadata only": async (api) => {
    await api.quietly("POST", api.widgets(), widget("w"));
    const accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
    await api.watch(api.widgets("?watch=1"), async (watch) => void await watch.take(1), { accept });
  },
  "a resourceVersion that is too old or in the future": async (api) => {
    await api.watch(api.widgets("?watch=1&resourceVersion=1"), async (watch) => void await watch.take(1));
    await api.watch(api.widgets("?watch=1&resourceVersion=nonsense"), () => Promise.resolve());
  },
  "a watch ends after timeoutSeconds": async (api) => {
    await api.quietly("POST", api.widgets(), widget("w"));
    await api.watch(api.widgets("?watch=1&timeoutSeconds=1"), (watch) => watch.toEnd());
  },
});
