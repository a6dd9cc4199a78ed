import assert from "node:assert/strict";
import { CONFIG_MAPS, configMap, DEFINITIONS, websiteDefinition, WEBSITES, Wire, withWebsites } from "./_wire.ts";

for (const key of ["__proto__", "constructor", "toString", "hasOwnProperty"]) {
  Deno.test(`the API server stores "${key}" like any other key of a map`, async () => {
    await using wire = new Wire();
    const text =
      `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","labels":{"x${key}x":"y"}},"data":{"${key}":"v"}}`;

    const made = await wire.post(CONFIG_MAPS, text);
    const patched = await wire.merge(`${CONFIG_MAPS}/a`, `{"data":{"${key}":"w"}}`);
    const applied = await wire.apply(
      `${CONFIG_MAPS}/a?fieldManager=x&force=true`,
      `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"${key}":"z"}}`,
    );

    assert.deepEqual(Object.entries(made.body.data), [[key, "v"]]);
    assert.deepEqual(Object.entries(patched.body.data), [[key, "w"]]);
    assert.deepEqual(Object.entries(applied.body.data), [[key, "z"]]);
    // deno-lint-ignore no-explicit-any
    assert.equal(({} as any).v, undefined);
  });
}

Deno.test("the API server prunes unknown fields that have names of inherited properties", async () => {
  await using wire = await withWebsites();
  const text = `{"apiVersion":"demo.example.com/v1","kind":"Website","metadata":{"name":"a"},` +
    `"spec":{"host":"aa","constructor":{"x":1},"__proto__":{"replicas":9}}}`;

  const { status, body, headers } = await wire.post(WEBSITES, text);

  assert.equal(status, 201);
  assert.deepEqual(body.spec, { host: "aa", replicas: 1 });
  assert.match(headers.get("warning") ?? "", /spec\.__proto__.*spec\.constructor/);
});

const bodies: readonly { name: string; body: string; type?: string; status: number }[] = [
  { name: "an empty body", body: "", status: 400 },
  { name: "half a body", body: '{"metadata":', status: 400 },
  { name: "a list", body: "[1]", status: 400 },
  // null decodes to an object without a name.
  { name: "null", body: "null", status: 422 },
  { name: "text", body: "hello", status: 400 },
  { name: "an unknown type", body: "{}", type: "text/html", status: 415 },
  { name: "broken YAML", body: "a: [", type: "application/yaml", status: 400 },
];

for (const { name, body, type = "application/json", status } of bodies) {
  Deno.test(`a create request with ${name} gets status ${status}`, async () => {
    await using wire = new Wire();

    const answer = await wire.post(CONFIG_MAPS, body, { contentType: type });

    assert.equal(answer.status, status);
    assert.equal(answer.body.kind, "Status");
  });
}

Deno.test("a create request with a body over 3 MiB gets status 413", async () => {
  await using wire = new Wire();

  const { status, body } = await wire.post(CONFIG_MAPS, configMap("a", { big: "x".repeat(3 * 1024 * 1024) }));

  assert.equal(status, 413);
  assert.equal(body.reason, "RequestEntityTooLarge");
});

Deno.test("a body with 20,000 levels does not stop the API server", async () => {
  await using wire = new Wire();
  const deep = `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`;

  const { status } = await wire.post(CONFIG_MAPS, `{"metadata":{"name":"a"},"data":${deep}}`);
  const after = await wire.post(CONFIG_MAPS, configMap("b"));

  assert(status >= 400);
  assert.equal(after.status, 201);
});

Deno.test("a CustomResourceDefinition whose pattern is not a regular expression is rejected", async () => {
  await using wire = new Wire();
  const definition = JSON.parse(JSON.stringify(websiteDefinition()));
  definition.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.host.pattern = "(";

  const { status, body } = await wire.post(DEFINITIONS, definition);

  assert.equal(status, 422);
  assert.match(body.message, /properties\[host\]\.pattern: Invalid value: "\(": must be a valid regular expression/);
});

const paths: readonly { path: string; status: number }[] = [
  { path: "/nope", status: 404 },
  { path: "/api/v1/nope", status: 404 },
  { path: "/apis/nope.example.com/v1/things", status: 404 },
  { path: "/api/v1/namespaces/default/configmaps/a/nope", status: 404 },
  { path: "/api/v1/namespaces/%zz/configmaps", status: 200 },
  { path: `${CONFIG_MAPS}?limit=x`, status: 400 },
  { path: `${CONFIG_MAPS}?labelSelector=a===b`, status: 400 },
  { path: `${CONFIG_MAPS}?continue=nonsense`, status: 400 },
  { path: `${CONFIG_MAPS}?resourceVersion=nonsense`, status: 400 },
];

for (const { path, status } of paths) {
  Deno.test(`GET ${path} gets status ${status}`, async () => {
    await using wire = new Wire();

    assert.equal((await wire.get(path)).status, status);
  });
}
