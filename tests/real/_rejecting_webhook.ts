/**
 * A webhook with which a real API server rejects or delays some writes, so that responses are the
 * server's own.
 */
import { ValidatingWebhookConfiguration } from "../../src/kinds/admissionregistration_v1.gen.ts";
import type { Client } from "../../src/kube/client.ts";
import { localCertificate } from "../../src/testing/local_certificate.ts";
import { eventually } from "../eventually.ts";

/** A write that the server reviews. */
export interface Asked {
  readonly user: string;
  readonly resource: string;
}

/** Returns the status with which a write is rejected, or `undefined` to allow it. */
export type Verdict = (asked: Asked) => Promise<number | undefined> | number | undefined;

/**
 * Registers the webhook for writes of some users. Disposing of the result removes it.
 *
 * @param client The administrator's client.
 * @param users The users whose writes are reviewed.
 * @param resources The reviewed resources, such as `configmaps` or `notes/status`.
 * @param verdict Decides about a write.
 */
export async function refusals(
  client: Client,
  users: readonly string[],
  resources: readonly string[],
  verdict: Verdict,
): Promise<AsyncDisposable> {
  const { certificate: cert, key, caCert } = await localCertificate();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, cert, key, onListen() {} }, async (request) => {
    const { request: { uid, userInfo, resource, subResource } } = await request.json();
    const whole = subResource ? `${resource.resource}/${subResource}` : resource.resource;
    const code = await verdict({ user: userInfo.username, resource: whole });
    const response = code === undefined
      ? { uid, allowed: true }
      : { uid, allowed: false, status: { code, reason: REASONS[code], message: "not now" } };
    return Response.json({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response });
  });
  const metadata = { name: "refusals" };
  await client.create(ValidatingWebhookConfiguration, {
    metadata,
    webhooks: [{
      name: "refusals.test.example.com",
      clientConfig: { url: `https://127.0.0.1:${server.addr.port}/`, caBundle: btoa(caCert) },
      rules: [{ apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: [...resources] }],
      matchConditions: [{ name: "users", expression: `request.userInfo.username in ${JSON.stringify(users)}` }],
      admissionReviewVersions: ["v1"],
      sideEffects: "None",
      timeoutSeconds: 30,
    }],
  });
  return {
    async [Symbol.asyncDispose]() {
      await eventually(() => client.delete(ValidatingWebhookConfiguration, metadata.name));
      await server.shutdown();
    },
  };
}

const REASONS: Readonly<Record<number, string>> = { 409: "Conflict", 429: "TooManyRequests" };
