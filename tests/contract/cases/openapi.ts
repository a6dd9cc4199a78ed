/**
 * OpenAPI v3, as far as kubectl and other clients read it: which kinds, paths and schemas there
 * are.
 */
import { area } from "../contract.ts";
import type { Recorder } from "../recorder.ts";
import { GROUP } from "../widget.ts";

/**
 * Operations by path: what each does, and to which kind. Built-in kinds of the server in the
 * process have no texts.
 */
// deno-lint-ignore no-explicit-any
function actions({ paths }: any): unknown {
  const known = Object.entries(paths).filter(([path]) => !path.includes("/watch/") && !path.endsWith("/"));
  return Object.fromEntries(known.map(([path, item]) => [path, operations(item)]));
}

function operations(item: unknown): unknown {
  return Object.fromEntries(
    Object.entries(item as Record<string, Readonly<Record<string, unknown>>>).filter(([method]) =>
      method !== "parameters"
    ).map(([method, each]) => [
      method,
      [each["x-kubernetes-action"], each["x-kubernetes-group-version-kind"]],
    ]),
  );
}

/**
 * Waits until the document of the shared kind is there: the real server makes it some time after
 * the kind is served.
 */
async function published(api: Recorder): Promise<void> {
  await api.untilAnswer("/openapi/v3", ({ body }) => body.paths?.[`apis/${GROUP}/v1`] !== undefined);
}

const WIDGET = "com.example.contract.v1.Widget";

/** Documents of built-in kinds that are compared word for word. */
const BUILTIN = ["api/v1", "apis/apps/v1", "apis/apiextensions.k8s.io/v1", "apis/autoscaling/v2", "apis/batch/v1"];

export const openapi = area("openapi", {
  "the documents that there are": async (api) => {
    await published(api);
    // Other cases define kinds of their own meanwhile.
    const isLasting = (path: string) =>
      /^apis?\/.*v\d/.test(path) && (!path.includes(".example.com") || path.includes(GROUP));
    await api.get("/openapi/v3", { pick: ({ paths }) => Object.keys(paths).filter(isLasting).sort() });
  },
  "the schema of a custom kind": async (api) => {
    await published(api);
    await api.get(`/openapi/v3/apis/${GROUP}/v1`, { pick: ({ components }) => components.schemas[WIDGET] });
  },
  "the schemas beside that of a custom kind": async (api) => {
    await published(api);
    await api.get(`/openapi/v3/apis/${GROUP}/v1`, { pick: ({ components }) => components.schemas });
  },
  "what can be done with a custom kind": async (api) => {
    await published(api);
    await api.get(`/openapi/v3/apis/${GROUP}/v1`, { pick: actions });
  },
  "what a patch of a custom kind may say": async (api) => {
    await published(api);
    const path = `/apis/${GROUP}/v1/namespaces/{namespace}/widgets/{name}`;
    // deno-lint-ignore no-explicit-any
    const pick = ({ paths }: any) =>
      paths[path].patch.parameters.map(({ name }: { name: string }) => name).filter((name: string) =>
        /^(?:dry|field)/.test(name)
      );
    await api.get(`/openapi/v3/apis/${GROUP}/v1`, { pick });
  },
  "schemas of built-in kinds": async (api) => {
    for (const path of BUILTIN) {
      await api.get(`/openapi/v3/${path}`, { pick: ({ components }) => components.schemas });
    }
  },
  "what can be done with built-in kinds": async (api) => {
    for (const path of ["apis/apps/v1", "apis/batch/v1", "apis/coordination.k8s.io/v1"]) {
      await api.get(`/openapi/v3/${path}`, { pick: actions });
    }
  },
  "documents that there are not": async (api) => {
    await api.get("/openapi/v3/apis/none/v1");
    await api.get("/openapi/v4");
  },
});
