import { area } from "../contract.ts";
import type { Recorder } from "../recorder.ts";
import { configMap } from "../widget.ts";

/** A reference to a ConfigMap of the case. */
async function owner(
  api: Recorder,
  name: string,
  more: Record<string, unknown> = {},
): Promise<Record<string, unknown>> {
  const { body } = await api.quietly("POST", api.core("configmaps"), configMap(name));
  return { apiVersion: "v1", kind: "ConfigMap", name, uid: body.metadata.uid, ...more };
}

const OPTIONS = { kind: "DeleteOptions", apiVersion: "v1" };

/** What becomes of objects whose owners go. The real server needs kube-controller-manager for it. */
export const garbage = area("garbage collection", {
  "what is owned goes after its owner": async (api) => {
    const owners = [await owner(api, "owner")];
    await api.quietly("POST", api.core("configmaps"), configMap("owned", {}, { ownerReferences: owners }));
    await api.delete(api.core("configmaps/owner"), { ...OPTIONS, propagationPolicy: "Background" });
    await api.untilStatus(api.core("configmaps/owned"), 404);
    await api.get(api.core("configmaps/owned"));
  },
  "what is owned goes before its owner when asked for": async (api) => {
    const owners = [await owner(api, "owner", { blockOwnerDeletion: true })];
    await api.quietly("POST", api.core("configmaps"), configMap("owned", {}, { ownerReferences: owners }));
    await api.watch(api.core("configmaps?watch=1&fieldSelector=metadata.name!%3Dkube-root-ca.crt"), async (watch) => {
      await watch.take(2);
      await api.delete(api.core("configmaps/owner"), { ...OPTIONS, propagationPolicy: "Foreground" });
      await watch.until((event) => event.type === "DELETED" && event.object.metadata.name === "owner");
    });
  },
  "what is orphaned stays and forgets its owner": async (api) => {
    const owners = [await owner(api, "owner")];
    await api.quietly("POST", api.core("configmaps"), configMap("owned", {}, { ownerReferences: owners }));
    await api.delete(api.core("configmaps/owner"), { ...OPTIONS, propagationPolicy: "Orphan" });
    await api.untilStatus(api.core("configmaps/owner"), 404);
    await api.get(api.core("configmaps/owned"));
  },
  "what has another owner stays": async (api) => {
    const owners = [await owner(api, "owner"), await owner(api, "other")];
    await api.quietly("POST", api.core("configmaps"), configMap("owned", {}, { ownerReferences: owners }));
    await api.delete(api.core("configmaps/owner"), OPTIONS);
    await api.untilAnswer(api.core("configmaps/owned"), ({ body }) => body.metadata.ownerReferences.length === 1);
    await api.get(api.core("configmaps/owned"));
  },
  "what names an owner that never was goes": async (api) => {
    const gone = { apiVersion: "v1", kind: "ConfigMap", name: "never", uid: "11111111-1111-1111-1111-111111111111" };
    await api.quietly("POST", api.core("configmaps"), configMap("owned", {}, { ownerReferences: [gone] }));
    await api.untilStatus(api.core("configmaps/owned"), 404);
  },
  "a namespace goes with all that is in it": async (api) => {
    const name = `${api.namespace}-gone`;
    await api.quietly("POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name } });
    await api.quietly("POST", `/api/v1/namespaces/${name}/configmaps`, configMap("c"));
    await api.quietly("DELETE", `/api/v1/namespaces/${name}`);
    await api.untilStatus(`/api/v1/namespaces/${name}`, 404);
    await api.get(`/api/v1/namespaces/${name}/configmaps/c`);
  },
});
