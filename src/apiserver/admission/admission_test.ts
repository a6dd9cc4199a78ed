import assert from "node:assert/strict";
import { VirtualClock } from "../../base/virtual_clock.ts";
import { type Apiserver, type ApiserverOptions, createApiserver } from "../mod.ts";

/** Creates an API server with one webhook, which the Service "shop/guard" serves. */
async function withWebhook(
  respond: (review: { request: { uid: string; object: Record<string, unknown> } }, request: Request) => unknown,
  { kind = "ValidatingWebhookConfiguration", ...more }: Record<string, unknown> = {},
): Promise<{ server: Apiserver; clock: VirtualClock }> {
  const clock = new VirtualClock();
  const service: ApiserverOptions["service"] = async ({ namespace, name, port }, request) => {
    if (`${namespace}/${name}:${port}` !== "shop/guard:443") return undefined;
    const review = await request.clone().json();
    const response = await respond(review, request);
    return Response.json({ ...review, response: { uid: review.request.uid, ...response as object } });
  };
  const server = createApiserver({ clock, service });
  const plural = `${String(kind).toLowerCase()}s`;
  await post(server, `/apis/admissionregistration.k8s.io/v1/${plural}`, {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind,
    metadata: { name: "guard" },
    webhooks: [{
      name: "guard.example.com",
      clientConfig: { service: { namespace: "shop", name: "guard", path: "/ask" } },
      rules: [{ operations: ["*"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] }],
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
      ...more,
    }],
  });
  return { server, clock };
}

async function send(server: Apiserver, method: string, path: string, body?: unknown) {
  const request = new Request(`http://server${path}`, {
    method,
    headers: { "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json" },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const response = await server.fetch(request);
  return { status: response.status, body: await response.json() };
}

function post(server: Apiserver, path: string, body: unknown) {
  return send(server, "POST", path, body);
}

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const configMap = (data: Record<string, string> = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "c" },
  data,
});

Deno.test("a webhook with a service is called through the option service", async () => {
  const urls: string[] = [];
  const { server } = await withWebhook((_review, { url }) => {
    urls.push(url);
    return { allowed: false, status: { message: "closed" } };
  });
  const { status, body } = await post(server, CONFIG_MAPS, configMap());

  assert.equal(status, 400);
  assert.equal(body.message, 'admission webhook "guard.example.com" denied the request: closed');
  assert.deepEqual(urls, ["https://guard.shop.svc/ask?timeout=10s"]);
});

Deno.test("a webhook whose service does not exist fails", async () => {
  const { server } = await withWebhook(() => ({ allowed: true }), {
    clientConfig: { service: { namespace: "shop", name: "guard", port: 8443 } },
  });
  const { status, body } = await post(server, CONFIG_MAPS, configMap());
  assert.equal(status, 500);
  assert.match(body.message, /failed to call webhook: Post ".*": service "guard" not found$/);
});

Deno.test("a webhook call fails after its timeout, by the server's clock", async () => {
  const called = Promise.withResolvers<void>();
  const { server, clock } = await withWebhook(() => {
    called.resolve();
    return new Promise(() => {});
  }, { timeoutSeconds: 5 });
  const response = post(server, CONFIG_MAPS, configMap());
  await called.promise;
  clock.step(clock.now() + 4999);
  clock.step(clock.now() + 1);

  assert.match((await response).body.message, /failed to call webhook: Post ".*": context deadline exceeded$/);
});

Deno.test("an update starts again if the object changes while webhooks run", async () => {
  let isFirst = true;
  const { server } = await withWebhook(async ({ request }) => {
    if (!isFirst || (request.object?.data as Record<string, string>).a !== "mine") return { allowed: true };
    isFirst = false;
    await send(server, "PATCH", `${CONFIG_MAPS}/c`, { data: { b: "theirs" } });
    return { allowed: true };
  });
  await post(server, CONFIG_MAPS, configMap({ a: "0" }));
  const { body } = await send(server, "PATCH", `${CONFIG_MAPS}/c`, { data: { a: "mine" } });

  assert.deepEqual(body.data, { a: "mine", b: "theirs" });
});

Deno.test("a create is rejected if another client creates the object while webhooks run", async () => {
  let isFirst = true;
  const { server } = await withWebhook(async () => {
    if (isFirst) {
      isFirst = false;
      await post(server, CONFIG_MAPS, configMap({ a: "theirs" }));
    }
    return { allowed: true };
  });
  assert.equal((await post(server, CONFIG_MAPS, configMap({ a: "mine" }))).status, 409);
  assert.deepEqual((await send(server, "GET", `${CONFIG_MAPS}/c`)).body.data, { a: "theirs" });
});
