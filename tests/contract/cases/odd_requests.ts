/**
 * Unusual requests: bodies that are not objects, unusual numbers, paths with unusual characters.
 */
import { area } from "../contract.ts";
import { APPLY, JSON_PATCH, MERGE, type Recorder } from "../recorder.ts";
import { configMap, widget } from "../widget.ts";

const STRATEGIC = "application/strategic-merge-patch+json";
const YAML = "application/yaml";

/** Paths of ConfigMaps and widgets: of the collection, and of one object. */
function both(api: Recorder): readonly [collection: string, object: object, path: string][] {
  return [
    [api.core("configmaps"), configMap("c"), api.core("configmaps/c")],
    [api.widgets(), widget("c"), api.widgets("/c")],
  ];
}

const BODIES = ["null", "", " ", "{}", "[]", "1", '"x"', "true"];

/** Returns a Deployment as a string, with the given literal as replicas. */
function deploymentText(replicas: string): string {
  const spec = `"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},` +
    `"spec":{"containers":[{"name":"c","image":"x"}]}}`;
  return `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"replicas":${replicas},${spec}}}`;
}

/**
 * Removes the quoted object from a message, because the real server quotes its fields in the order
 * of Go's types.
 */
function withoutQuotedObject(
  { code, reason, message, spec }: Readonly<Record<"code" | "reason" | "spec", unknown>> & { message?: string },
): unknown {
  return { code, reason, message: message?.split('": ').at(-1), spec };
}

/** Unusual requests. */
export const oddRequests = area("bad input", {
  "updates that are not objects": async (api) => {
    for (const [collection, object, path] of both(api)) {
      await api.quietly("POST", collection, object);
      for (const body of BODIES) {
        for (const contentType of ["application/json", YAML]) {
          await api.post(collection, body, { contentType });
          await api.put(path, body, { contentType });
        }
      }
    }
  },
  "patches that are not objects": async (api) => {
    for (const [collection, object, path] of both(api)) {
      await api.quietly("POST", collection, object);
      for (const body of BODIES) {
        for (const contentType of [MERGE, STRATEGIC, JSON_PATCH, APPLY]) {
          await api.call("PATCH", `${path}?fieldManager=m`, body, { contentType });
        }
      }
    }
  },
  "delete options that are not objects": async (api) => {
    for (const [collection, object, path] of both(api)) {
      for (const body of BODIES) {
        await api.quietly("POST", collection, object).catch(() => {});
        // If there is a body, the query is ignored.
        await api.delete(`${path}?dryRun=All`, body);
      }
    }
  },
  "integers with a decimal point or exponent": async (api) => {
    const place = `/apis/apps/v1/namespaces/${api.namespace}/deployments?dryRun=All`;
    for (const number of ["1e3", "1.0", "1E2", "-0", "0.1e1", "1e-1", "1.5", "3000000000"]) {
      await api.post(place, deploymentText(number));
      await api.post(place, deploymentText(number), { contentType: YAML });
      const text = JSON.stringify(widget("w", { size: 0 })).replace('"size":0', `"size":${number}`);
      await api.post(api.widgets("?dryRun=All"), text);
      const priority =
        `{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"${api.namespace}"},`;
      await api.post("/apis/scheduling.k8s.io/v1/priorityclasses?dryRun=All", `${priority}"value":${number}}`);
    }
  },
  "patches with integers with a decimal point or exponent": async (api) => {
    const place = `/apis/apps/v1/namespaces/${api.namespace}/deployments`;
    await api.quietly("POST", place, deploymentText("1"));
    for (const number of ["1e1", "2.0", "1.5", "4"]) {
      const add = (path: string, value: string) => `[{"op":"add","path":"${path}","value":${value}}]`;
      for (
        const [body, contentType] of [
          [`{"spec":{"replicas":${number}}}`, MERGE],
          [`{"spec":{"replicas":${number}}}`, STRATEGIC],
          [add("/spec/replicas", number), JSON_PATCH],
          [add("/spec/strategy", `{"rollingUpdate":{"maxSurge":${number}}}`), JSON_PATCH],
          [add("/spec/template/spec/securityContext", `{"runAsUser":${number}}`), JSON_PATCH],
          [`{"spec":{"template":{"spec":{"securityContext":{"supplementalGroups":[1,${number}]}}}}}`, MERGE],
          [
            `[{"op":"add","path":"/spec/replicas","value":${number}},{"op":"replace","path":"/spec/replicas","value":3}]`,
            JSON_PATCH,
          ],
        ] as const
      ) await api.call("PATCH", `${place}/d`, body, { contentType, pick: withoutQuotedObject });
    }
  },
  "activeDeadlineSeconds of a pod": async (api) => {
    for (const activeDeadlineSeconds of [0, 1, 2 ** 31 - 1, 2 ** 31, -1]) {
      const spec = { containers: [{ name: "c", image: "x" }], activeDeadlineSeconds };
      await api.post(api.core("pods?dryRun=All"), { apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, spec });
    }
  },
  "names with unusual characters": async (api) => {
    const names = ["%ff", "a%ffb", "%e4%f6", "%c3%bc", "%EF%BF%BD", "c%00", "%20", "c%3f", "c%25", "C"];
    for (const [collection, object] of both(api)) {
      for (const name of names) {
        await api.get(`${collection}/${name}`);
        await api.put(`${collection}/${name}`, object);
        await api.merge(`${collection}/${name}`, {});
        await api.delete(`${collection}/${name}`);
      }
    }
  },
  "too many slashes in a path": async (api) => {
    for (const [collection, object] of both(api)) {
      await api.post(`${collection}//`, object);
      for (const rest of ["/", "//", "/%2f", "/c/", "/c//", "/c%2f", "//c"]) await api.get(`${collection}${rest}`);
      await api.put(`${collection}//`, object);
      await api.delete(`${collection}/c//`);
      await api.delete(`${collection}//`);
    }
    for (const path of ["/api//v1/namespaces", "/api/v1//namespaces", `/api/v1/namespaces//configmaps`]) {
      await api.get(path, { pick: ({ kind, code, message }) => ({ kind, code, message }) });
    }
  },
  "generation distinguishes an empty list from none": async (api) => {
    const place = `/apis/networking.k8s.io/v1/namespaces/${api.namespace}/networkpolicies`;
    const spec = { podSelector: {}, ingress: [{ from: [{ podSelector: {} }] }] };
    const metadata = { name: "n" };
    const policy = { apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", metadata, spec };
    await api.post(place, policy);
    for (
      const changes of [
        { ingress: [{ ...spec.ingress[0], ports: [] }] },
        { ingress: [{}] },
        { ingress: [] },
        { ingress: null },
        { egress: [] },
        { policyTypes: [] },
        { podSelector: { matchLabels: {} } },
        { podSelector: { matchExpressions: [] } },
        {},
      ]
    ) await api.merge(`${place}/n`, { spec: changes });
    await api.put(`${place}/n`, { ...policy, spec: { ...spec, egress: [] } });
    await api.apply(`${place}/n?fieldManager=m&force=true`, { ...policy, spec: { ...spec, egress: [] } });
    await api.get(`${place}/n`);
  },
});
