/**
 * Invalid responses of webhooks: patches that do not apply or make an object invalid, and bodies
 * that are not reviews.
 */
import { area } from "../contract.ts";
import type { Recorder } from "../recorder.ts";
import {
  add,
  type AdmissionRequest,
  CONFIG_MAPS,
  type Hook,
  type HookAnswer,
  patching,
  WIDGETS,
  withHooks,
} from "../webhooks.ts";
import { configMap, widget } from "../widget.ts";

type Answer = HookAnswer | ((request: AdmissionRequest) => HookAnswer);

/** Sends a request for each response of a webhook. */
async function sendForEachAnswer(
  api: Recorder,
  answers: readonly Answer[],
  send: (i: number) => Promise<unknown>,
  hook: Partial<Hook> = {},
): Promise<void> {
  const left = [...answers];
  const answer = (request: AdmissionRequest) => {
    const next = left.shift() ?? {};
    return typeof next === "function" ? next(request) : next;
  };
  await withHooks(api, { odd: { phase: "mutate", answer, ignoresRequests: true, ...hook } }, async () => {
    for (let i = 0; i < answers.length; i++) await send(i);
  });
}

const createConfigMap = (api: Recorder) => (i: number) =>
  api.post(api.core("configmaps"), configMap(`c${i}`, { a: "1" }));
const createWidget = (api: Recorder) => (i: number) => api.post(api.widgets(), widget(`w${i}`, { size: 1 }));

const INAPPLICABLE_OPERATIONS: readonly unknown[] = [
  { op: "replace", path: "/x", value: 1 },
  { op: "remove", path: "/x" },
  { op: "remove", path: "/x/y" },
  { op: "test", path: "/metadata/name", value: "z" },
  { op: "test", path: "/nope", value: 1 },
  { op: "add", path: "/x/y", value: 1 },
  { op: "bogus", path: "/x" },
  { op: "add", path: "/metadata/finalizers/3", value: "a" },
  { op: "move", from: "/x", path: "/y" },
  { op: "copy", from: "/x", path: "/y" },
  { op: "copy", from: "/x/y", path: "/y" },
  { op: "move", path: "/y" },
  { path: "/x" },
  { op: "add", value: 1 },
  { op: "replace", value: 1 },
  { op: "add", path: "x", value: 1 },
  { op: "add", path: "", value: {} },
  { op: "replace", path: "", value: [] },
  { op: "add", path: "/data/b" },
  { op: "add", path: "/metadata/labels/x", value: "y" },
];

/** Patch operations that make an object of any kind invalid, or come close to it. */
const INVALIDATING_OPERATIONS: readonly unknown[] = [
  { op: "replace", path: "/kind", value: "Odd" },
  { op: "replace", path: "/apiVersion", value: "v9" },
  { op: "remove", path: "/kind" },
  { op: "remove", path: "/metadata" },
  { op: "replace", path: "/metadata/name", value: "other" },
  { op: "remove", path: "/metadata/name" },
  { op: "replace", path: "/metadata/namespace", value: "default" },
  { op: "add", path: "/metadata/uid", value: "abc" },
  { op: "add", path: "/metadata/resourceVersion", value: "7" },
  { op: "add", path: "/metadata/generateName", value: "g-" },
  { op: "add", path: "/metadata/managedFields", value: [] },
  { op: "add", path: "/metadata/creationTimestamp", value: "2000-01-01T00:00:00Z" },
  { op: "add", path: "/metadata/deletionTimestamp", value: "2000-01-01T00:00:00Z" },
  { op: "add", path: "/unknown", value: 1 },
];

const WRONG_TYPES: readonly HookAnswer[] = [
  { allowed: "yes" },
  { allowed: null },
  {},
  { allowed: true, warnings: "x" },
  { allowed: true, warnings: [1] },
  { allowed: false, status: "no" },
  { allowed: false, status: { code: "x" } },
  { allowed: false, status: { message: 5 } },
  { allowed: false, status: { code: 399 } },
  { allowed: false, status: { code: 429, details: { retryAfterSeconds: 3 } } },
  { allowed: false, status: { details: { uid: "u", group: "g", kind: "k", name: "n" }, message: 'é\n"q"' } },
  { allowed: true, patch: "***", patchType: "JSONPatch" },
  { allowed: true, patch: 7 },
  { allowed: true, auditAnnotations: { a: "b", "c/d": "e" } },
  { allowed: true, auditAnnotations: 7 },
  { allowed: true, unknown: 1 },
  { uid: 7, allowed: true },
];

const typed = (apiVersion: unknown, kind: unknown) => ({ uid }: AdmissionRequest): Response =>
  Response.json({ apiVersion, kind, response: { uid, allowed: true } });
const review = (response: unknown) => () =>
  Response.json({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response });
const failure = { kind: "Status", apiVersion: "v1", status: "Failure", message: "told", reason: "Odd" };

const UNREVIEWABLE_BODIES: readonly Answer[] = [
  ...["", "null", "[]", "<html>", "{}", '"x"', "7"].map((text) => () => new Response(text)),
  () => new Response("{", { headers: { "content-type": "application/json" } }),
  typed(undefined, undefined),
  typed("admission.k8s.io/v1", undefined),
  typed(undefined, "AdmissionReview"),
  typed("admission.k8s.io/v1", "Odd"),
  typed("admission.k8s.io/v2", "AdmissionReview"),
  typed("v1", "Pod"),
  typed(1, "AdmissionReview"),
  review([]),
  review("x"),
  review(null),
  () => Response.json(failure),
  () => Response.json({ ...failure, code: 409 }, { status: 409 }),
  () => Response.json({ ...failure, code: 500 }, { status: 500 }),
  () => new Response(null, { status: 204 }),
];

/** Invalid responses of webhooks. */
export const invalidResponses = area("admission failures", {
  "JSON patch operations that do not apply": async (api) => {
    await sendForEachAnswer(api, INAPPLICABLE_OPERATIONS.map((each) => patching(each)), createConfigMap(api));
    await sendForEachAnswer(api, INAPPLICABLE_OPERATIONS.map((each) => patching(each)), createWidget(api), {
      with: { rules: [WIDGETS] },
    });
  },
  "patches that are not lists of operations": (api) => {
    const texts = [
      "not json",
      "{}",
      "[1]",
      "[null]",
      "null",
      '"x"',
      "[",
      '[{"op":1}]',
      '[{"op":"add","path":7}]',
      "[[]]",
      "1",
      "[{}]",
    ];
    return sendForEachAnswer(
      api,
      texts.map((text) => ({ allowed: true, patchType: "JSONPatch", patch: btoa(text) })),
      createConfigMap(api),
    );
  },
  "patches that make a created object invalid": async (api) => {
    await sendForEachAnswer(api, INVALIDATING_OPERATIONS.map((each) => patching(each)), createConfigMap(api));
    await sendForEachAnswer(api, INVALIDATING_OPERATIONS.map((each) => patching(each)), createWidget(api), {
      with: { rules: [WIDGETS] },
    });
    const types = [
      patching({ op: "replace", path: "/data", value: "x" }),
      patching(add("/metadata/annotations", { a: 1 })),
      patching(add("/metadata/ownerReferences", [{ apiVersion: "v1", kind: "Pod", name: "x" }])),
    ];
    await sendForEachAnswer(api, types, (i) => api.post(api.core("configmaps"), configMap(`d${i}`, { a: "1" })));
  },
  "patches that make an updated object invalid": async (api) => {
    await api.quietly("POST", api.core("configmaps"), configMap("c"));
    await api.quietly("POST", api.widgets(), widget("w"));
    const update = (rule: object) => ({ with: { rules: [{ ...rule, operations: ["UPDATE"] }] } });
    const answers = INVALIDATING_OPERATIONS.map((each) => patching(each));
    const change = (i: number) => api.merge(api.core("configmaps/c"), { data: { n: String(i) } });
    await sendForEachAnswer(api, answers, change, update(CONFIG_MAPS));
    const changeWidget = (i: number) => api.merge(api.widgets("/w"), { spec: { settings: { n: String(i) } } });
    await sendForEachAnswer(api, answers, changeWidget, update(WIDGETS));
  },
  "responses with fields of wrong types": async (api) => {
    await sendForEachAnswer(api, WRONG_TYPES, createConfigMap(api));
    await sendForEachAnswer(
      api,
      WRONG_TYPES,
      (i) => api.post(api.core("configmaps"), configMap(`v${i}`)),
      { phase: "validate" },
    );
  },
  "response bodies that are not reviews": async (api) => {
    await sendForEachAnswer(api, UNREVIEWABLE_BODIES, createConfigMap(api));
    await sendForEachAnswer(api, UNREVIEWABLE_BODIES, (i) => api.post(api.core("configmaps"), configMap(`v${i}`)), {
      phase: "validate",
    });
    const older = { with: { admissionReviewVersions: ["v1beta1"] } };
    const untyped = UNREVIEWABLE_BODIES.slice(0, 15);
    await sendForEachAnswer(api, untyped, (i) => api.post(api.core("configmaps"), configMap(`o${i}`)), older);
  },
  "long, numerous and malformed warnings": (api) => {
    const long = (count: number) => "x".repeat(count);
    const warnings = [
      ["a", "a", "b"],
      ["", " ", "x\ny", 'é\u0007"q"\\'],
      [long(300)],
      [long(5000)],
      Array.from({ length: 60 }, (_, i) => `${i} ${long(100)}`),
      [long(4090), "short"],
      ["é".repeat(3000)],
    ];
    return sendForEachAnswer(api, warnings.map((each) => ({ allowed: true, warnings: each })), createConfigMap(api));
  },
  "warnings of several webhooks": async (api) => {
    const warning = (phase: Hook["phase"], ...warnings: string[]): Hook => ({
      phase,
      answer: () => ({ allowed: true, warnings }),
    });
    await withHooks(api, {
      a: warning("mutate", "one", "two"),
      b: warning("mutate", "two", "three"),
      c: warning("validate", "four", "one"),
    }, async () => {
      await api.post(api.core("configmaps"), configMap("c"));
      await api.post(api.core("configmaps?dryRun=All"), configMap("d"));
      await api.post(api.core("configmaps"), { ...configMap("e"), odd: 1 });
      await api.delete(api.core("configmaps/c"));
    });
  },
});
