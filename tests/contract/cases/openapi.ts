/** OpenAPI v3 as kubectl and other clients read it: kinds, paths and schemas. */
import { area } from "../contract.ts";
import type { Recorder } from "../recorder.ts";
import { GROUP } from "../widget.ts";

/**
 * Returns the action and the kind of each operation, by path and method. Descriptions are not
 * compared, because the in-process server has none for built-in kinds.
 */
// deno-lint-ignore no-explicit-any
function operationsByPath({ paths }: any): unknown {
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
 * Waits until the document of the shared kind exists. The real server creates it some time after it
 * serves the kind.
 */
async function untilPublished(api: Recorder): Promise<void> {
  await api.untilAnswer("/openapi/v3", ({ body }) => body.paths?.[`apis/${GROUP}/v1`] !== undefined);
}

const WIDGET = "com.example.contract.v1.Widget";

/** Documents of built-in kinds that are compared completely. */
const BUILTIN = ["api/v1", "apis/apps/v1", "apis/apiextensions.k8s.io/v1", "apis/autoscaling/v2", "apis/batch/v1"];

export const openapi = area("openapi", {
  "the list of documents": async (api) => {
    await untilPublished(api);
    // Other cases define kinds at the same time.
    const isLasting = (path: string) =>
      /^apis?\/.*v\d/.test(path) && (!path.includes(".example.com") || path.includes(GROUP));
    await api.get("/openapi/v3", { pick: ({ paths }) => Object.keys(paths).filter(isLasting).sort() });
  },
  "the schema of a custom kind": async (api) => {
    await untilPublished(api);
    await api.get(`/openapi/v3/apis/${GROUP}/v1`, { pick: ({ components }) => components.schemas[WIDGET] });
  },
  "other schemas in the document of a custom kind": async (api) => {
    await untilPublished(api);
    await api.get(`/openapi/v3/apis/${GROUP}/v1`, { pick: ({ components }) => components.schemas });
  },
  "operations of a custom kind": async (api) => {
    await untilPublished(api);
    await api.get(`/openapi/v3/apis/${GROUP}/v1`, { pick: operationsByPath });
  },
  "patch types of a custom kind": async (api) => {
    await untilPublished(api);
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
  "operations of built-in kinds": async (api) => {
    for (const path of ["apis/apps/v1", "apis/batch/v1", "apis/coordination.k8s.io/v1"]) {
      await api.get(`/openapi/v3/${path}`, { pick: operationsByPath });
    }
  },
  "missing documents": async (api) => {
    await api.get("/openapi/v3/apis/none/v1");
    await api.get("/openapi/v4");
  },
});
