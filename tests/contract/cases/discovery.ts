import { area } from "../contract.ts";
import { GROUP } from "../widget.ts";

const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/** Discovery, health and version. */
export const discovery = area("discovery", {
  "names the versions of the core group": async (api) => void await api.get("/api"),
  "names all groups": async (api) => void await api.get("/apis"),
  "lists the resources of the core group": async (api) => void await api.get("/api/v1"),
  "lists the resources of a built-in group": async (api) => void await api.get("/apis/apps/v1"),
  "describes a built-in group": async (api) => void await api.get("/apis/apps"),
  "describes a custom group": async (api) => void await api.get(`/apis/${GROUP}`),
  "lists the resources of a custom group": async (api) => void await api.get(`/apis/${GROUP}/v1`),
  "answers aggregated discovery of the core group": async (api) => void await api.get("/api", { accept: AGGREGATED }),
  "answers aggregated discovery of all other groups": async (api) =>
    void await api.get("/apis", { accept: AGGREGATED }),
  "answers 404 to other groups, versions and paths": async (api) => {
    await api.get("/apis/none.example.com");
    await api.get("/apis/none.example.com/v1");
    await api.get(`/apis/${GROUP}/v2`);
    await api.get(`/apis/${GROUP}/v1/namespaces/default/gadgets`);
    await api.get("/api/v2");
    await api.get("/api/v1/nothings");
    await api.get("/nothing");
  },
  "reports its health": async (api) => {
    await api.get("/healthz");
    await api.get("/livez");
    await api.get("/readyz");
    await api.get("/livez?exclude=etcd");
  },
  "reports its health check by check": async (api) => {
    for (const check of ["ping", "etcd", "log?verbose", "nothing", "etcd/more", ""]) {
      for (const probe of ["healthz", "livez", "readyz"]) await api.get(`/${probe}/${check}`);
    }
    for (const check of ["etcd-readiness", "informer-sync", "shutdown"]) await api.get(`/readyz/${check}`);
    await api.get("/livez/shutdown");
  },
  "reports its version": async (api) => void await api.get("/version"),
});
