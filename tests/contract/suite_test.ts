import assert from "node:assert/strict";
import { area, type Send } from "./contract.ts";
import type { Exception } from "./exceptions.ts";
import { explain, report, type Result, runSuite } from "./suite.ts";

const CASES = area("greetings", {
  "greets": async (api) => void await api.get("/hello"),
  "takes leave": async (api) => void await api.get("/goodbye"),
});

/** Returns a server that accepts all POST requests and responds to each path with a word. */
function server(words: Record<string, string>): Send {
  return (request) => {
    const { pathname } = new URL(request.url);
    if (request.method === "POST") return Promise.resolve(Response.json({}, { status: 201 }));
    return Promise.resolve(Response.json({ word: words[pathname] }));
  };
}

function run(other: Send, exceptions: readonly Exception[] = []): Promise<Result[]> {
  const servers = { real: server({ "/hello": "hi", "/goodbye": "bye" }), other };
  return runSuite(CASES, servers, { namespaceOf: () => "x", exceptions });
}

const rude = server({ "/hello": "hi", "/goodbye": "go" });

Deno.test("runSuite finds no difference between equal responses", async () => {
  const results = await run(server({ "/hello": "hi", "/goodbye": "bye" }));

  assert.deepEqual(results.map(({ differences }) => differences), [[], []]);
});

Deno.test("runSuite reports both values of a difference", async () => {
  const [same, different] = await run(rude);

  assert.deepEqual(same?.differences, []);
  assert.deepEqual(different?.differences, [
    { path: "steps[0].body.word", call: "GET /goodbye", expected: "bye", actual: "go" },
  ]);
  assert(different && explain(different).includes('real: "bye"\n    ours: "go"'));
});

Deno.test("runSuite compares status, Content-Type and Warning", async () => {
  const [first] = await run((request) => {
    if (request.method === "POST") return Promise.resolve(Response.json({}));
    const headers = { "Content-Type": "text/plain", Warning: '299 - "well"' };
    return Promise.resolve(new Response('{"word":"hi"}', { status: 202, headers }));
  });

  assert.deepEqual(first?.differences.map(({ path }) => path).sort(), [
    "steps[0].contentType",
    "steps[0].status",
    "steps[0].warning",
  ]);
});

Deno.test("runSuite reports the error of a case that does not run to its end", async () => {
  const [first] = await run(() => Promise.resolve(new Response("down", { status: 503 })));

  assert.equal(first?.differences.at(-1)?.path, "failure");
  assert.match(String(first?.differences.at(-1)?.actual), /got status 503 down/);
});

Deno.test("runSuite reports a case that fails on both servers", async () => {
  const down = () => Promise.resolve(new Response("down", { status: 503 }));

  const [first] = await runSuite(CASES, { real: down, other: down }, { namespaceOf: () => "x", exceptions: [] });

  assert.deepEqual(first?.differences.map(({ path }) => path), ["failure"]);
});

Deno.test("an exception allows only the differences at its path", async () => {
  const exception = { area: "greetings", name: "takes leave", path: /body\.word$/, reason: "it is in a hurry" };

  const [, allowed] = await run(rude, [exception]);
  const [, uncovered] = await run(rude, [{ ...exception, path: /status$/ }]);

  assert.deepEqual(allowed?.differences, []);
  assert.deepEqual(allowed?.excused, [exception]);
  assert.equal(uncovered?.differences.length, 1);
});

Deno.test("runSuite reports exceptions that are not needed", async () => {
  const exception = { area: "greetings", name: "greets", reason: "it is shy" };

  const [first] = await run(rude, [exception]);

  assert.deepEqual(first?.stale, [exception]);
  assert(first && explain(first).includes('The exception "it is shy" is not needed any more'));
});

Deno.test("report counts by area and names exceptions", async () => {
  const exception = { area: "greetings", name: "takes leave", reason: "it is in a hurry" };

  const lines = report(await run(rude, [exception])).split("\n").map((line) => line.replaceAll(/ +/g, " "));

  assert(lines.includes("greetings 2 1 1 0"));
  assert(lines.includes(" greetings: takes leave: it is in a hurry"));
  assert(report(await run(rude)).split("\n").map((line) => line.replaceAll(/ +/g, " ")).includes("all 2 1 0 1"));
});
