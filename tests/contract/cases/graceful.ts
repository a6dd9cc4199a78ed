/** Graceful deletion and delete options. */
import { area } from "../contract.ts";
import type { Recorder } from "../recorder.ts";
import { configMap, widget } from "../widget.ts";

const OPTIONS = { kind: "DeleteOptions", apiVersion: "v1" };

/** Returns a pod. */
function pod(name: string, spec: Record<string, unknown> = {}, metadata: Record<string, unknown> = {}): unknown {
  const containers = [{ name: "a", image: "x" }];
  return { apiVersion: "v1", kind: "Pod", metadata: { name, ...metadata }, spec: { containers, ...spec } };
}

async function createOnNode(
  api: Recorder,
  name: string,
  more: Record<string, unknown> = {},
  metadata = {},
): Promise<void> {
  await api.quietly("POST", api.core("pods"), pod(name, { nodeName: "n", ...more }, metadata));
}

/** Graceful deletion. */
export const graceful = area("graceful deletion", {
  "an unscheduled pod is deleted at once": async (api) => {
    await api.quietly("POST", api.core("pods"), pod("p"));
    await api.delete(api.core("pods/p"));
    await api.get(api.core("pods/p"));
  },
  "a scheduled pod has its grace period": async (api) => {
    await createOnNode(api, "p");
    await api.delete(api.core("pods/p"));
    await api.get(api.core("pods/p"));
  },
  "the grace period of the pod": async (api) => {
    await createOnNode(api, "p", { terminationGracePeriodSeconds: 90 });
    await api.delete(api.core("pods/p"));
  },
  "the grace period of the deletion": async (api) => {
    await createOnNode(api, "p");
    await api.delete(api.core("pods/p"), { ...OPTIONS, gracePeriodSeconds: 7 });
  },
  "a grace period of zero": async (api) => {
    await createOnNode(api, "p");
    await api.delete(api.core("pods/p"), { ...OPTIONS, gracePeriodSeconds: 0 });
    await api.get(api.core("pods/p"));
  },
  "a second deletion can only shorten the grace period": async (api) => {
    await createOnNode(api, "p");
    await api.delete(api.core("pods/p"), { ...OPTIONS, gracePeriodSeconds: 60 });
    await api.delete(api.core("pods/p"), { ...OPTIONS, gracePeriodSeconds: 90 });
    await api.delete(api.core("pods/p"), { ...OPTIONS, gracePeriodSeconds: 10 });
    await api.delete(api.core("pods/p"));
    await api.delete(api.core("pods/p"), { ...OPTIONS, gracePeriodSeconds: 0 });
    await api.get(api.core("pods/p"));
  },
  "a finalizer blocks the deletion of a pod after its grace period": async (api) => {
    await createOnNode(api, "p", {}, { finalizers: ["example.com/a"] });
    await api.delete(api.core("pods/p"));
    await api.delete(api.core("pods/p"), { ...OPTIONS, gracePeriodSeconds: 0 });
    await api.merge(api.core("pods/p"), { metadata: { finalizers: null } });
    await api.get(api.core("pods/p"));
  },
  "a finalizer removed during the grace period": async (api) => {
    await createOnNode(api, "p", {}, { finalizers: ["example.com/a"] });
    await api.delete(api.core("pods/p"));
    await api.merge(api.core("pods/p"), { metadata: { finalizers: null } });
    await api.get(api.core("pods/p"));
    await api.quietly("DELETE", api.core("pods/p"), { ...OPTIONS, gracePeriodSeconds: 0 });
  },
  "a finished pod is deleted at once": async (api) => {
    await createOnNode(api, "p");
    await api.quietly("PATCH", api.core("pods/p/status"), { status: { phase: "Succeeded" } }, {
      contentType: "application/merge-patch+json",
    });
    await api.delete(api.core("pods/p"));
    await api.get(api.core("pods/p"));
  },
  "a pod with a negative grace period": async (api) => {
    await createOnNode(api, "p");
    await api.delete(api.core("pods/p"), { ...OPTIONS, gracePeriodSeconds: -1 });
  },
  "a watch of a terminating pod": async (api) => {
    await api.watch(api.core("pods?watch=1"), async (watch) => {
      await createOnNode(api, "p");
      await api.quietly("DELETE", api.core("pods/p"));
      await api.quietly("DELETE", api.core("pods/p"), { ...OPTIONS, gracePeriodSeconds: 0 });
      await watch.until(({ type }) => type === "DELETED");
    });
  },
  "a ConfigMap has no grace period": async (api) => {
    await api.quietly("POST", api.core("configmaps"), configMap("c"));
    await api.delete(api.core("configmaps/c"), { ...OPTIONS, gracePeriodSeconds: 30 });
    await api.get(api.core("configmaps/c"));
  },
  "a custom object with a finalizer and a grace period": async (api) => {
    await api.quietly("POST", api.widgets(), widget("w", {}, { finalizers: ["example.com/a"] }));
    await api.delete(api.widgets("/w"), { ...OPTIONS, gracePeriodSeconds: 30 });
  },
  "a dry run of a deletion": async (api) => {
    await createOnNode(api, "p");
    await api.delete(api.core("pods/p?dryRun=All"));
    await api.delete(api.core("pods/p"), { ...OPTIONS, dryRun: ["All"], gracePeriodSeconds: 0 });
    await api.get(api.core("pods/p"));
    await api.quietly("POST", api.widgets(), widget("w", {}, { finalizers: ["example.com/a"] }));
    await api.delete(api.widgets("/w?dryRun=All"));
    await api.get(api.widgets("/w"));
  },
  "options in the query": async (api) => {
    await createOnNode(api, "p");
    await api.delete(api.core("pods/p?gracePeriodSeconds=3"));
    await api.quietly("POST", api.widgets(), widget("w"));
    await api.delete(api.widgets("/w?propagationPolicy=Foreground"));
    await api.delete(api.widgets("/w?gracePeriodSeconds=x"));
  },
  "orphanDependents and propagationPolicy": async (api) => {
    await api.quietly("POST", api.widgets(), widget("w"));
    await api.delete(api.widgets("/w"), { ...OPTIONS, propagationPolicy: "Background", orphanDependents: true });
    await api.delete(api.widgets("/w"), { ...OPTIONS, orphanDependents: true });
  },
  "a repeated deletion with another propagation policy": async (api) => {
    await api.quietly("POST", api.widgets(), widget("w", {}, { finalizers: ["example.com/a"] }));
    await api.delete(api.widgets("/w"), { ...OPTIONS, propagationPolicy: "Foreground" });
    await api.delete(api.widgets("/w"), { ...OPTIONS, propagationPolicy: "Background" });
  },
  "an object that is being deleted can be updated": async (api) => {
    await api.quietly("POST", api.widgets(), widget("w", {}, { finalizers: ["example.com/a"] }));
    await api.quietly("DELETE", api.widgets("/w"));
    await api.merge(api.widgets("/w"), { spec: { size: 7 }, metadata: { labels: { a: "b" } } });
    await api.merge(api.widgets("/w/status"), { status: { phase: "Down" } });
    await api.apply(api.widgets("/w?fieldManager=m"), widget("w", { color: "red" }));
  },
  "the event of a deletion has a new resourceVersion": async (api) => {
    await api.watch(api.core("configmaps?watch=1&labelSelector=x"), async (watch) => {
      await api.quietly("POST", api.core("configmaps"), configMap("c", {}, { labels: { x: "" } }));
      await api.quietly("DELETE", api.core("configmaps/c"));
      await watch.until(({ type }) => type === "DELETED");
    });
  },
});

/** Deletion of collections. */
export const collections = area("deleted collections", {
  "a label selector deletes only matching objects": async (api) => {
    for (const name of ["a", "b", "c"]) {
      await api.quietly(
        "POST",
        api.core("configmaps"),
        configMap(name, {}, { labels: { keep: String(name === "b") } }),
      );
    }
    await api.delete(api.core("configmaps?labelSelector=keep%3Dfalse"));
    await api.get(api.core("configmaps?labelSelector=keep"));
  },
  "objects with a finalizer are only marked": async (api) => {
    await api.quietly("POST", api.widgets(), widget("a"));
    await api.quietly("POST", api.widgets(), widget("b", {}, { finalizers: ["example.com/a"] }));
    await api.delete(api.widgets());
    await api.get(api.widgets());
  },
  "a dry run": async (api) => {
    await api.quietly("POST", api.widgets(), widget("a"));
    await api.delete(api.widgets("?dryRun=All"));
    await api.get(api.widgets());
  },
  "a field selector": async (api) => {
    await api.quietly("POST", api.widgets(), widget("a", { color: "red" }));
    await api.quietly("POST", api.widgets(), widget("b", { color: "blue" }));
    await api.delete(api.widgets("?fieldSelector=spec.color%3Dred"));
    await api.get(api.widgets());
  },
});
