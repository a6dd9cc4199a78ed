/** Webhooks of cases: HTTPS servers in this process, which both API servers call by URL. */
import { type Authority, createAuthority } from "../../src/testing/_certificates.ts";
import type { Recorder } from "./recorder.ts";

type Fields = Readonly<Record<string, unknown>>;

/** `request` of an AdmissionReview. */
// deno-lint-ignore no-explicit-any -- A case reads the fields it expects.
export type AdmissionRequest = any;

/** `response` of an AdmissionReview, or a Response that is not a review. */
export type HookAnswer = Fields | Response;

/** A webhook that a case starts. */
export interface Hook {
  readonly phase: "mutate" | "validate";
  /** Returns the response. @default {allows everything} */
  readonly answer?: (request: AdmissionRequest) => HookAnswer | Promise<HookAnswer>;
  /**
   * Fields of the webhook that replace the defaults, which match ConfigMaps of the case's
   * namespace.
   */
  readonly with?: Fields;
  /** Whether the comparison ignores the requests that the webhook received. @default {false} */
  readonly ignoresRequests?: boolean;
}

const GROUP = "admissionregistration.k8s.io/v1";
/** Paths of the configurations. */
export const CONFIGURATIONS = {
  mutate: `/apis/${GROUP}/mutatingwebhookconfigurations`,
  validate: `/apis/${GROUP}/validatingwebhookconfigurations`,
} as const;
const KINDS = { mutate: "MutatingWebhookConfiguration", validate: "ValidatingWebhookConfiguration" } as const;

/** A rule that matches writes of ConfigMaps. */
export const CONFIG_MAPS: Fields = {
  operations: ["CREATE", "UPDATE", "DELETE"],
  apiGroups: [""],
  apiVersions: ["v1"],
  resources: ["configmaps"],
};
/** A rule that matches writes of widgets. */
export const WIDGETS: Fields = {
  operations: ["*"],
  apiGroups: ["contract.example.com"],
  apiVersions: ["v1"],
  resources: ["widgets"],
};

let authority: Promise<Authority> | undefined;

/** Returns a webhook of a configuration. */
export function webhook(name: string, clientConfig: Fields, more: Fields = {}): Fields {
  return {
    name,
    clientConfig,
    rules: [CONFIG_MAPS],
    sideEffects: "None",
    admissionReviewVersions: ["v1"],
    ...more,
  };
}

/** Returns a webhook configuration. */
export function configuration(phase: Hook["phase"], name: string, webhooks: readonly unknown[]): Fields {
  return { apiVersion: GROUP, kind: KINDS[phase], metadata: { name }, webhooks };
}

/** Returns a response with a JSON patch. */
export function patching(...operations: readonly unknown[]): Fields {
  return { allowed: true, patchType: "JSONPatch", patch: btoa(JSON.stringify(operations)) };
}

/**
 * Runs a case with webhooks, and records the requests that they received.
 *
 * @param api The recorder.
 * @param hooks The webhooks by name, in the order in which they are called.
 * @param use Sends the requests of the case.
 */
export async function withHooks(
  api: Recorder,
  hooks: Readonly<Record<string, Hook>>,
  use: () => Promise<void>,
): Promise<void> {
  const seen = new Map(Object.keys(hooks).map((name) => [name, [] as unknown[]]));
  const markers = { mutate: 0, validate: 0 };
  const { server, config } = await startWebhookServer(async (path, review) => {
    if (path === "mutate" || path === "validate") {
      markers[path]++;
      return reviewResponse(review, { allowed: true });
    }
    seen.get(path)?.push(review.request);
    return reviewResponse(review, await hooks[path]?.answer?.(review.request) ?? { allowed: true });
  });
  const phases = (["mutate", "validate"] as const).filter((phase) =>
    Object.values(hooks).some((hook) => hook.phase === phase)
  );
  try {
    for (const phase of phases) {
      const own = Object.entries(hooks).filter(([, hook]) => hook.phase === phase).map(([name, hook]) =>
        webhook(`${name}.example.com`, config(name), { ...inNamespace(api), ...hook.with })
      );
      const marker = webhook("marker.example.com", config(phase), { ...inNamespace(api), rules: [PROBES] });
      await api.quietly(
        "POST",
        CONFIGURATIONS[phase],
        configuration(phase, `${api.namespace}-hooks`, [...own, marker]),
      );
    }
    await untilConfigured(api, () => phases.every((phase) => markers[phase] > 0));
    await api.withFreshCache(use);
  } finally {
    for (const phase of phases) {
      await api.quietly("DELETE", `${CONFIGURATIONS[phase]}/${api.namespace}-hooks`).catch(() => {});
    }
    await server.shutdown();
  }
  for (const [name, requests] of seen) if (!hooks[name]?.ignoresRequests) api.note(`webhook ${name}`, requests);
}

/** Returns `response` of a ConversionReview, or a Response that is not a review. */
export type Conversion = (request: AdmissionRequest) => HookAnswer | Promise<HookAnswer>;

/**
 * Runs a case with a conversion webhook.
 *
 * @param convert Returns the response of the webhook.
 * @param use Sends the requests of the case. It receives `conversion` for a definition.
 */
export async function withConverter(convert: Conversion, use: (conversion: Fields) => Promise<void>): Promise<void> {
  const { server, config } = await startWebhookServer(async (_, review) =>
    reviewResponse(review, await convert(review.request))
  );
  try {
    await use({
      strategy: "Webhook",
      webhook: { conversionReviewVersions: ["v1"], clientConfig: config("convert") },
    });
  } finally {
    await server.shutdown();
  }
}

/** Starts a TLS server for webhooks. `config` returns the client configuration for a path. */
async function startWebhookServer(
  answer: (path: string, review: AdmissionRequest) => Promise<Response>,
): Promise<{ server: Deno.HttpServer; config: (path: string) => Fields }> {
  authority ??= createAuthority();
  const signer = await authority;
  const { certificate, key } = await signer.server(["127.0.0.1"]);
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, cert: certificate, key, onListen() {} },
    async (request) => await answer(new URL(request.url).pathname.slice(1), await request.json()),
  );
  const url = `https://127.0.0.1:${(server.addr as Deno.NetAddr).port}`;
  return { server, config: (path) => ({ url: `${url}/${path}`, caBundle: btoa(signer.certificate) }) };
}

/** Returns a selector of the case's namespace. Other cases run at the same time. */
export function inNamespace(api: Recorder): Fields {
  return { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": api.namespace } } };
}

/**
 * A rule for requests that no case sends. They are sent to detect when a configuration takes
 * effect.
 */
const PROBES: Fields = { ...CONFIG_MAPS, resources: ["serviceaccounts"] };

async function untilConfigured(api: Recorder, isConfigured: () => boolean): Promise<void> {
  const probe = { apiVersion: "v1", kind: "ServiceAccount", metadata: { generateName: "probe-" } };
  while (!isConfigured()) {
    await api.quietly("POST", api.core("serviceaccounts?dryRun=All"), probe);
    if (!isConfigured()) await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

function reviewResponse(review: AdmissionRequest, answer: HookAnswer): Response {
  if (answer instanceof Response) return answer;
  const { apiVersion, kind } = review;
  return Response.json({ apiVersion, kind, response: { uid: review.request.uid, ...answer } });
}

/** A webhook that allows everything. */
export const allow: Hook = { phase: "validate" };
/** A webhook that denies everything. */
export const deny: Hook = { phase: "validate", answer: () => ({ allowed: false, status: { message: "not today" } }) };

/** Returns a webhook that applies a JSON patch to every object. */
export function mutating(...operations: readonly unknown[]): Hook {
  return { phase: "mutate", answer: () => patching(...operations) };
}

/** Returns the operation `add` of a JSON patch. */
export function add(path: string, value: unknown): Fields {
  return { op: "add", path, value };
}
