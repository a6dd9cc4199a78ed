import assert from "node:assert/strict";
import { Namespace } from "../kinds/mod.ts";
import { Client } from "./client.ts";
import type { Connection, Outgoing } from "./connection.ts";
import { type TokenSource, withToken } from "./http.ts";

Deno.test("withToken adds the token to a request and changes nothing else", async () => {
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

Deno.test("a client repeats a request after a 401, with the new token", async () => {
  const { sent, send } = server((authorization) => authorization === "Bearer two" ? 201 : 401);
  const client = clientWith(send, rotating());
  await client.create(Namespace, { metadata: { name: "a" } });
  assert.deepEqual(sent.map(({ authorization }) => authorization), ["Bearer one", "Bearer two"]);
  assert.equal(sent[0]?.body, sent[1]?.body);
  assert.equal(JSON.parse(sent[1]?.body ?? "").metadata.name, "a");
});

Deno.test("a client throws the 401 if the token is unchanged, or rejected again", async (t) => {
  for (const [name, fresh, requests] of [["unchanged", "one", 1], ["rejected again", "two", 2]] as const) {
    await t.step(name, async () => {
      const { sent, send } = server(() => 401);
      const client = clientWith(send, (again) => Promise.resolve(again ? fresh : "one"));
      await assert.rejects(client.get(Namespace, "a"), { status: 401 });
      assert.equal(sent.length, requests);
    });
  }
});

Deno.test("a client repeats both of two concurrent requests after a 401", async () => {
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

/** Returns a client that sends plain values, as over TLS. */
function clientWith(send: Connection["fetch"], token: TokenSource): Client {
  const plain = (url: string, outgoing: Outgoing): Promise<Response> => send(new Request(url, outgoing));
  return new Client({ url: "http://cluster", ...withToken({ fetch: send, send: plain }, token), close() {} });
}

/** Returns the token "one", and "two" after it was read again. */
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
