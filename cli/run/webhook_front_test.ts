import assert from "node:assert/strict";
import { localCertificate } from "@op/sdk/testing";
import { REACHED_PATH, WebhookFront } from "./webhook_front.ts";

Deno.test("WebhookFront counts only AdmissionReviews as calls of the API server, and rejects other requests", async (t) => {
  const certificate = await localCertificate(["127.0.0.1"]);
  await using front = new WebhookFront({ hostname: "127.0.0.1", port: 0, certificate, operatorPort: 1 });
  const send = async (head: string, body = "", host = "127.0.0.1"): Promise<string> => {
    using connection = await Deno.connectTls({
      hostname: "127.0.0.1",
      port: front.port,
      caCerts: [certificate.caCert],
    });
    const lines = [
      `${head} HTTP/1.1`,
      `Host: ${host}`,
      "Connection: close",
      `Content-Length: ${body.length}`,
      "",
      body,
    ];
    await connection.write(new TextEncoder().encode(lines.join("\r\n")));
    return (await new Response(connection.readable).text()).slice(0, 12);
  };
  const cases: readonly (readonly [name: string, ...Parameters<typeof send>])[] = [
    ["a request without a body", `GET ${REACHED_PATH}`],
    ["a body that is not JSON", `POST ${REACHED_PATH}`, "{"],
    ["an object that is not an AdmissionReview", `POST ${REACHED_PATH}`, '{"kind":"Status"}'],
    ["a body that is null", `POST ${REACHED_PATH}`, "null"],
    ["an invalid Host header", `GET ${REACHED_PATH}`, "", "[::1].example"],
  ];
  for (const [name, ...request] of cases) {
    await t.step(name, async () => assert.equal(await send(...request), "HTTP/1.1 400"));
  }
  assert.equal(front.reached, 0);
  const review = { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request: { uid: "a" } };
  assert.equal(await send(`POST ${REACHED_PATH}`, JSON.stringify(review)), "HTTP/1.1 200");
  assert.equal(front.reached, 1);
});
