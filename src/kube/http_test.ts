import assert from "node:assert/strict";
import { withToken } from "./http.ts";

Deno.test("withToken adds the token to every request and leaves the rest of it alone", async () => {
  const { sent, send } = server(() => 200);
  const transport = withToken(send, () => Promise.resolve("one"));
  const headers = { "content-type": "application/json" };
  await transport(new Request("http://cluster/x?y=1", { method: "POST", body: "{}", headers }));
  assert.deepEqual(sent, [{
    method: "POST",
    url: "http://cluster/x?y=1",
    type: "application/json",
    authorization: "Bearer one",
    body: "{}",
  }]);
});

Deno.test("withToken sends a refused request once more, whole, with a token read anew", async () => {
  const { sent, send } = server((authorization) => authorization === "Bearer two" ? 201 : 401);
  const transport = withToken(send, (again) => Promise.resolve(again ? "two" : "one"));
  const response = await transport(new Request("http://cluster/x", { method: "POST", body: '{"a":1}' }));
  assert.equal(response.status, 201);
  assert.deepEqual(sent.map(({ authorization, body }) => [authorization, body]), [
    ["Bearer one", '{"a":1}'],
    ["Bearer two", '{"a":1}'],
  ]);
});

Deno.test("withToken hands back the refusal when the token is still the same, or refused again", async (t) => {
  for (const [name, fresh, requests] of [["the same", "one", 1], ["refused again", "two", 2]] as const) {
    await t.step(name, async () => {
      const { sent, send } = server(() => 401);
      const transport = withToken(send, (again) => Promise.resolve(again ? fresh : "one"));
      assert.equal((await transport(new Request("http://cluster/x"))).status, 401);
      assert.equal(sent.length, requests);
    });
  }
});

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
