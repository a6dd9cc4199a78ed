import assert from "node:assert/strict";
import { Namespace } from "../kinds/mod.ts";
import { Client } from "./client.ts";
import type { Outgoing, Transport } from "./connection.ts";
import { type TokenSource, withToken } from "./http.ts";

Deno.test("withToken adds the token to every request and leaves the rest of it alone", async () => {
  const { sent, send } = server(() => 200);
  const { fetch } = withToken({ fetch: send }, () => Promise.resolve("one"));
  const headers = { "content-type": "application/json" };
  await fetch(new Request("http://cluster/x?y=1", { method: "POST", body: "{}", headers }));
  assert.deepEqual(sent, [{
    method: "POST",
    url: "http://cluster/x?y=1",
    type: "application/json",
    authorization: "Bearer one",
    body: "{}",
  }]);
});

Deno.test("a client sends a refused request once more, whole, with a token read anew", async () => {
  const { sent, send } = server((authorization) => authorization === "Bearer two" ? 201 : 401);
  const client = clientWith(send, rotating());
  await client.create(Namespace, { metadata: { name: "a" } });
  assert.deepEqual(sent.map(({ authorization }) => authorization), ["Bearer one", "Bearer two"]);
  assert.equal(sent[0]?.body, sent[1]?.body);
  assert.equal(JSON.parse(sent[1]?.body ?? "").metadata.name, "a");
});

Deno.test("a client hands over the refusal when the token is still the same, or refused again", async (t) => {
  for (const [name, fresh, requests] of [["the same", "one", 1], ["refused again", "two", 2]] as const) {
    await t.step(name, async () => {
      const { sent, send } = server(() => 401);
      const client = clientWith(send, (again) => Promise.resolve(again ? fresh : "one"));
      await assert.rejects(client.get(Namespace, "a"), { status: 401 });
      assert.equal(sent.length, requests);
    });
  }
});

Deno.test("of two requests that were refused at once, both are sent again", async () => {
  const { sent, send } = server((authorization) => authorization === "Bearer two" ? 200 : 401);
  const client = clientWith(send, rotating());
  await Promise.all([client.get(Namespace, "a"), client.get(Namespace, "b")]);
  assert.deepEqual(sent.map(({ authorization }) => authorization).sort(), [
    "Bearer one",
    "Bearer one",
    "Bearer two",
    "Bearer two",
  ]);
});

/** By plain values, as over TLS; {@linkcode withToken}'s own test goes by Request. */
function clientWith(send: Transport, token: TokenSource): Client {
  const plain = (url: string, outgoing: Outgoing): Promise<Response> => send(new Request(url, outgoing));
  return new Client({ url: "http://cluster", ...withToken({ fetch: send, send: plain }, token), close() {} });
}

/** Answers "one", and "two" from when it was first read anew. */
function rotating(): TokenSource {
  let token = "one";
  return (again) => {
    if (again) token = "two";
    return Promise.resolve(token);
  };
}

interface Sent {
  method: string;
  url: string;
  type: string | null;
  authorization: string | null;
  body: string;
}

function server(answer: (authorization: string | null) => number) {
  const sent: Sent[] = [];
  const send = async (request: Request): Promise<Response> => {
    const authorization = request.headers.get("authorization");
    const type = request.headers.get("content-type");
    sent.push({ method: request.method, url: request.url, type, authorization, body: await request.text() });
    return new Response("{}", { status: answer(authorization) });
  };
  return { sent, send };
}
