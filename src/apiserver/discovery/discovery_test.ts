import assert from "node:assert/strict";
import { CONFIG_MAPS, configMap, website, WEBSITES, Wire, withWebsites } from "../_wire.ts";

const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

Deno.test("discovery lists built-in and custom kinds, with and without aggregation", async () => {
  await using wire = await withWebsites();

  const { body: core } = await wire.get("/api/v1");
  const { body: plain } = await wire.get("/apis/demo.example.com/v1");
  const { body: all } = await wire.get("/apis", { accept: AGGREGATED });

  const names = (list: { resources: { name: string }[] }) => list.resources.map(({ name }) => name);
  assert(names(core).includes("pods/log"));
  assert.deepEqual(names(plain), ["websites", "websites/status"]);
  const groups = all.items.map((item: { metadata: { name: string } }) => item.metadata.name);
  assert(groups.includes("apps") && groups.includes("demo.example.com"));
});

Deno.test("the API server serves its health and version", async () => {
  await using wire = new Wire();

  for (const path of ["/healthz", "/livez", "/readyz"]) assert.equal((await wire.get(path)).body, "ok");
  assert.equal((await wire.get("/version")).body.gitVersion, "v1.36.3");
});

Deno.test("the API server serves single health checks, and lists the excluded ones with verbose", async () => {
  await using wire = new Wire();

  assert.equal((await wire.get("/readyz/etcd")).body, "ok");
  assert.equal((await wire.get("/readyz/unknown")).status, 404);
  assert.equal(
    (await wire.get("/livez?verbose&exclude=etcd&exclude=disk")).body,
    "[+]ping ok\n[+]log ok\n[+]etcd excluded: ok\n" +
      'warn: some health checks cannot be excluded: no matches for "disk"\nlivez check passed\n',
  );
});

Deno.test("OpenAPI v3 has a document with all references for each group and version", async () => {
  await using wire = await withWebsites();
  const { body: text } = await wire.get("/openapi/v3");
  const index = JSON.parse(text); // Its content type is text/plain, as in the real server.

  for (const { serverRelativeURL } of Object.values(index.paths) as { serverRelativeURL: string }[]) {
    const { status, body } = await wire.get(serverRelativeURL);
    assert.equal(status, 200);
    for (const [, name] of JSON.stringify(body).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)) {
      assert(Object.hasOwn(body.components.schemas, name!), `${serverRelativeURL} lacks ${name}`);
    }
  }
  assert(Object.hasOwn(index.paths, "apis/demo.example.com/v1"));
});

Deno.test("a table has the columns of a kind and the age of objects", async () => {
  await using wire = await withWebsites();
  await wire.post(WEBSITES, website("a", { host: "aa" }));
  await wire.post(CONFIG_MAPS, configMap("a", { one: "1", two: "2" }));
  wire.clock.step(wire.clock.now() + 61_000);
  const accept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

  const { body: websites } = await wire.get(WEBSITES, { accept });
  const { body: configMaps } = await wire.get(CONFIG_MAPS, { accept });

  assert.deepEqual(websites.rows[0].cells, ["a", "aa"]);
  assert.deepEqual(configMaps.columnDefinitions.map((column: { name: string }) => column.name), [
    "Name",
    "Data",
    "Age",
  ]);
  assert.deepEqual(configMaps.rows[0].cells, ["a", 2, "61s"]);
});

Deno.test("an unsupported Accept header gets status 406, and the first supported type is used", async () => {
  await using wire = new Wire();

  const none = await wire.get(CONFIG_MAPS, { accept: "text/html" });
  const second = await wire.get(CONFIG_MAPS, { accept: "application/vnd.kubernetes.protobuf,application/json" });
  const yaml = await wire.get("/api/v1/namespaces/default", { accept: "application/yaml" });

  assert.equal(none.status, 406);
  assert.equal(second.status, 200);
  assert.match(yaml.body, /^apiVersion: v1\nkind: Namespace\n/);
});

Deno.test("an Event is the same object in both API groups", async () => {
  await using wire = new Wire();
  const regarding = { kind: "ConfigMap", name: "a", namespace: "default" };
  await wire.post("/apis/events.k8s.io/v1/namespaces/default/events", {
    metadata: { name: "e" },
    regarding,
    note: "text",
    reason: "Made",
    action: "Make",
    type: "Normal",
    eventTime: "2030-01-01T00:00:00.000000Z",
    reportingController: "example.com/test",
    reportingInstance: "test",
  });

  const { body } = await wire.get("/api/v1/namespaces/default/events/e");

  assert.deepEqual(body.involvedObject, regarding);
  assert.deepEqual([body.apiVersion, body.message, body.reportingComponent], ["v1", "text", "example.com/test"]);
});
