/** Failing webhooks, reinvocation, and invalid configurations. */
import { area } from "../contract.ts";
import type { Recorder } from "../recorder.ts";
import {
  add,
  allow,
  CONFIG_MAPS,
  configuration,
  CONFIGURATIONS,
  deny,
  type Hook,
  inNamespace,
  mutating,
  patching,
  webhook,
  withHooks,
} from "../webhooks.ts";
import { configMap } from "../widget.ts";

const review = (more: Record<string, unknown> = {}) =>
  Response.json({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", ...more });

/** Failing webhooks and reinvocation. */
export const failures = area("admission failures", {
  ...Object.fromEntries(
    ([["429", { status: 429 }], ["503", { status: 503 }]] as const).map(([name, status]) =>
      [
        `a webhook that answers ${name} with Retry-After is called again`,
        async (api) => {
          let calls = 0;
          const answer = () =>
            calls++ < 2 ? new Response("later", { ...status, headers: { "retry-after": "0" } }) : { allowed: true };
          await withHooks(api, { busy: { phase: "validate", answer, ignoresRequests: true } }, async () => {
            await api.post(api.core("configmaps"), configMap("c"));
          });
          api.note("calls", calls);
        },
      ] as [string, (api: Recorder) => Promise<void>]
    ),
  ),
  "HTTP statuses of webhook responses": async (api) => {
    let status = 0;
    const answer = () => new Response("because", { status });
    await withHooks(api, { odd: { phase: "validate", answer, ignoresRequests: true } }, async () => {
      for (status of [401, 403, 405, 406, 409, 410, 413, 415, 418, 422, 501, 502, 503, 504]) {
        await api.post(api.core("configmaps"), configMap("c"));
      }
    });
  },
  "a webhook that answers 429 without Retry-After is not retried": async (api) => {
    let calls = 0;
    const answer = () => {
      calls++;
      return new Response("later", { status: 429 });
    };
    await withHooks(api, { busy: { phase: "validate", answer, ignoresRequests: true } }, async () => {
      await api.post(api.core("configmaps"), configMap("c"));
    });
    api.note("calls", calls);
  },
  ...Object.fromEntries(
    ([
      ["no response", () => review()],
      ["another uid", () => ({ uid: "1", allowed: true })],
      [
        "another version",
        ({ uid }) =>
          Response.json({
            apiVersion: "admission.k8s.io/v1beta1",
            kind: "AdmissionReview",
            response: { uid, allowed: true },
          }),
      ],
      ["status 500", () => new Response("boom", { status: 500 })],
      ["status 404", () => new Response("", { status: 404 })],
      ["status 400", () => new Response("bad", { status: 400 })],
      ["a patch from a validating webhook", () => patching(add("/data", {}))],
      ["a type of patch from a validating webhook", () => ({ allowed: true, patchType: "JSONPatch" })],
    ] as [string, Hook["answer"] & object][]).map(([name, answer]) =>
      [
        `a validating webhook answers ${name}`,
        async (api) => {
          await withHooks(api, { odd: { phase: "validate", answer, ignoresRequests: true } }, async () => {
            await api.post(api.core("configmaps"), configMap("c"));
          });
        },
      ] as [string, (api: Recorder) => Promise<void>]
    ),
  ),
  ...Object.fromEntries(
    ([
      ["a patch without its type", () => ({ allowed: true, patch: btoa("[]") })],
      ["a type without a patch", () => ({ allowed: true, patchType: "JSONPatch" })],
      [
        "a patch of another type",
        () => ({ allowed: true, patchType: "Other", patch: btoa('[{"op":"remove","path":"/data"}]') }),
      ],
      ["an empty patch", () => patching()],
    ] as [string, Hook["answer"] & object][]).map(([name, answer]) =>
      [
        `a mutating webhook answers ${name}`,
        async (api) => {
          await withHooks(api, { odd: { phase: "mutate", answer, ignoresRequests: true } }, async () => {
            await api.post(api.core("configmaps"), configMap("c"));
          });
        },
      ] as [string, (api: Recorder) => Promise<void>]
    ),
  ),
  "an unreachable webhook": async (api) => {
    const url = "https://127.0.0.1:3/none";
    await withHooks(api, { gone: { ...allow, with: { clientConfig: { url } } } }, async () => {
      await api.post(api.core("configmaps"), configMap("c"));
    });
  },
  "an unreachable webhook with failurePolicy Ignore": async (api) => {
    const clientConfig = { url: "https://127.0.0.1:3/none" };
    await withHooks(api, {
      gone: { ...allow, with: { clientConfig, failurePolicy: "Ignore" } },
      first: { ...allow, phase: "mutate", with: { clientConfig, failurePolicy: "Ignore" } },
      look: allow,
    }, async () => void await api.post(api.core("configmaps"), configMap("c")));
  },
  "a denial with failurePolicy Ignore": async (api) => {
    await withHooks(api, { no: { ...deny, with: { failurePolicy: "Ignore" } } }, async () => {
      await api.post(api.core("configmaps"), configMap("c"));
    });
  },
  "a webhook that times out": async (api) => {
    const late = Promise.withResolvers<void>();
    const answer = async () => {
      await late.promise;
      return { allowed: true };
    };
    await withHooks(api, { slow: { phase: "validate", answer, with: { timeoutSeconds: 1 } } }, async () => {
      await api.post(api.core("configmaps"), configMap("c"));
      late.resolve();
    });
  },
  "a dry run of a webhook with side effects": async (api) => {
    await withHooks(api, {
      none: { ...allow, with: { sideEffects: "None" } },
      dry: { ...allow, with: { sideEffects: "NoneOnDryRun" } },
    }, async () => {
      await api.post(api.core("configmaps?dryRun=All"), configMap("c"));
      await api.get(api.core("configmaps/c"));
    });
  },
  "a webhook with reinvocationPolicy IfNeeded is called again": async (api) => {
    await withHooks(api, {
      a: {
        phase: "mutate",
        with: { reinvocationPolicy: "IfNeeded" },
        answer: ({ object }) =>
          patching(add("/data", { ...object.data, a: String(Object.keys(object.data ?? {}).length) })),
      },
      b: { ...mutating(add("/data/b", "1")), with: { reinvocationPolicy: "Never" } },
    }, async () => void await api.post(api.core("configmaps"), configMap("c")));
  },
  "webhooks are reinvoked at most once": async (api) => {
    const counting = (key: string): Hook => ({
      phase: "mutate",
      with: { reinvocationPolicy: "IfNeeded" },
      answer: ({ object }) =>
        patching(add("/data", { ...object.data, [key]: String(Number(object.data?.[key] ?? 0) + 1) })),
    });
    await withHooks(api, { a: counting("a"), b: counting("b") }, async () => {
      await api.post(api.core("configmaps"), configMap("c"));
    });
  },
  "no webhook is reinvoked if the object was not changed": async (api) => {
    const again = { reinvocationPolicy: "IfNeeded" };
    await withHooks(api, {
      a: { phase: "mutate", with: again },
      b: { ...mutating({ op: "test", path: "/metadata/name", value: "c" }), with: again },
    }, async () => void await api.post(api.core("configmaps"), configMap("c")));
  },
  "admissionReviewVersions v1beta1": async (api) => {
    const answer = () => ({ allowed: false, status: { message: "no" } });
    await withHooks(
      api,
      { old: { phase: "validate", answer, with: { admissionReviewVersions: ["v1beta1"] } } },
      async () => {
        await api.post(api.core("configmaps"), configMap("c"));
      },
    );
  },
});

const URL = { url: "https://127.0.0.1:3/x" };

/** Invalid configurations. */
export const rejectedWebhooks = area("rejected webhooks", {
  ...Object.fromEntries(
    Object.entries({
      "invalid names": [webhook("short", URL), webhook("Not.A.Name", URL), webhook("", URL)],
      "duplicate names": [webhook("a.example.com", URL), webhook("a.example.com", URL)],
      "neither a URL nor a service, and both": [
        webhook("a.example.com", {}),
        webhook("b.example.com", { ...URL, service: { namespace: "n", name: "s" } }),
      ],
      "invalid URLs": [
        webhook("a.example.com", { url: "http://x/y" }),
        webhook("b.example.com", { url: "https://user@x/y?z#f" }),
        webhook("c.example.com", { url: "https://" }),
      ],
      "invalid services": [
        webhook("a.example.com", { service: { namespace: "", name: "" } }),
        webhook("b.example.com", { service: { namespace: "n", name: "s", path: "x//y", port: 0 } }),
      ],
      "an empty rule": [webhook("a.example.com", URL, { rules: [{}] })],
      "rules with stars next to other values, and invalid rules": [
        webhook("a.example.com", URL, {
          rules: [{
            operations: ["*", "CREATE"],
            apiGroups: ["*", "a"],
            apiVersions: ["*", "v1"],
            resources: ["*", "pods"],
          }],
        }),
        webhook("b.example.com", URL, {
          rules: [{
            operations: ["READ"],
            apiGroups: [""],
            apiVersions: [""],
            resources: ["pods/*", "pods/log", "*/*", ""],
            scope: "Odd",
          }],
        }),
      ],
      "invalid policies and timeouts": [
        webhook("a.example.com", URL, {
          failurePolicy: "Maybe",
          matchPolicy: "Maybe",
          sideEffects: "Some",
          timeoutSeconds: 31,
        }),
        webhook("b.example.com", URL, { sideEffects: undefined, timeoutSeconds: 0 }),
      ],
      "invalid admissionReviewVersions": [
        webhook("a.example.com", URL, { admissionReviewVersions: [] }),
        webhook("b.example.com", URL, { admissionReviewVersions: ["v7", "v7", "V1"] }),
      ],
      "invalid match conditions": [
        webhook("a.example.com", URL, {
          matchConditions: [{ name: "x", expression: "object." }, { name: "x", expression: "1" }],
        }),
        webhook("b.example.com", URL, {
          matchConditions: [{ name: "", expression: "" }, { name: "a b", expression: "unknown" }],
        }),
      ],
      "invalid selectors": [
        webhook("a.example.com", URL, { objectSelector: { matchExpressions: [{ key: "x", operator: "Odd" }] } }),
        webhook("b.example.com", URL, { namespaceSelector: { matchExpressions: [{ key: "x", operator: "In" }] } }),
      ],
    }).map(([name, webhooks]) =>
      [name, async (api) => {
        for (const phase of ["mutate", "validate"] as const) {
          await api.post(CONFIGURATIONS[phase], configuration(phase, `${api.namespace}-refused`, webhooks));
        }
      }] as [string, (api: Recorder) => Promise<void>]
    ),
  ),
  "defaults of webhook configurations": async (api) => {
    const bare = {
      name: "a.example.com",
      clientConfig: { service: { namespace: "n", name: "s" } },
      rules: [CONFIG_MAPS],
    };
    const webhooks = [{ ...bare, sideEffects: "None", admissionReviewVersions: ["v1"], ...inNamespace(api) }];
    for (const phase of ["mutate", "validate"] as const) {
      await api.post(CONFIGURATIONS[phase], configuration(phase, `${api.namespace}-defaults`, webhooks));
      await api.quietly("DELETE", `${CONFIGURATIONS[phase]}/${api.namespace}-defaults`);
    }
  },
});
