/**
 * Commands with an operator of external kinds. Commands that need a cluster are tested in
 * tests/real.
 */
import assert from "node:assert/strict";
import { eventually } from "../tests/eventually.ts";
import { type OperatorFolder, operatorFolder } from "./_operator_folder.ts";
import { RecordedIo } from "./_recorded_io.ts";
import { cli } from "./cli.ts";

const MAIN = `
const Route = resource({
  group: "gateway.example.com",
  version: "v1",
  kind: "Route",
  external: true,
  spec: s.object({ host: s.string() }),
});
const routes = controller(Route, { reconcile() {} });
export default operator({ name: "gateway", parts: { routes } });
`;

/** Writes the CRD of the project that installs the kind. */
async function writeUpstreamCrd(folder: OperatorFolder, property = "host"): Promise<void> {
  const names = { kind: "Route", plural: "routes", singular: "route", listKind: "RouteList" };
  const spec = { type: "object", properties: { [property]: { type: "string" } }, required: [property] };
  const openAPIV3Schema = { type: "object", properties: { spec }, required: ["spec"] };
  const versions = [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }];
  await folder.write(
    "upstream.json",
    JSON.stringify({
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "routes.gateway.example.com" },
      spec: { group: "gateway.example.com", names, scope: "Namespaced", versions },
    }),
  );
}

Deno.test("op crd print and op crd docs omit external kinds", async () => {
  await using folder = await operatorFolder(MAIN);
  const crds = await folder.op("crd", "print");
  assert.deepEqual([crds.code, crds.stdout], [0, ""]);
  const docs = await folder.op("crd", "docs", "main.ts");
  assert.deepEqual([docs.code, docs.stderr], [1, 'Cannot document "main.ts": the operator has no kinds of its own.\n']);
});

Deno.test("op crd diff compares an external kind with the CRD of the project that it belongs to", async () => {
  await using folder = await operatorFolder(MAIN);
  await writeUpstreamCrd(folder);
  const same = await folder.op("crd", "diff", "main.ts", "upstream.json");
  assert.deepEqual([same.code, same.stdout], [0, "No changes\n"], same.stderr);
  await writeUpstreamCrd(folder, "hostname");
  const other = await folder.op("crd", "diff", "main.ts", "upstream.json");
  assert.equal(other.code, 1);
  assert.match(other.stdout, /^breaking {3}routes\.gateway\.example\.com v1 \.spec\.host: /m);
});

Deno.test("op crd diff of external kinds fails if the other file has none of them", async () => {
  await using folder = await operatorFolder(MAIN);
  await using notes = await operatorFolder();
  await folder.write("other.yaml", (await notes.op("crd", "print")).stdout);
  const { code, stderr } = await folder.op("crd", "diff", "main.ts", "other.yaml");
  assert.deepEqual([code, stderr], [
    1,
    'Cannot compare "main.ts": all kinds of the operator are external, and the other file has none of them.\n',
  ]);
});

Deno.test("op new controller rejects an external kind that the operator declares", async () => {
  await using folder = await operatorFolder(MAIN);
  const args = ["--kind", "Route", "--group", "gateway.example.com", "--api-version", "v1"];
  const { code, stderr } = await folder.op("new", "controller", ...args);
  assert.equal(code, 1);
  assert.match(stderr, /already has routes\.gateway\.example\.com\. Write another controller for it by hand/);
});

Deno.test("op dev --local installs external kinds on its own API server", async () => {
  await using folder = await operatorFolder(MAIN.replace('name: "gateway",', 'name: "gateway", health: false,'));
  const stop = new AbortController();
  const io = Object.assign(new RecordedIo(folder.path), { stop: stop.signal });
  const ended = cli(["dev", "--local"], io);
  await eventually(() => assert.match(io.stderr, /Controller started/), {
    state: () => io.stdout + io.stderr,
  });
  assert.match(io.stdout, /^applied CustomResourceDefinition routes\.gateway\.example\.com$/m);
  stop.abort();
  assert.equal(await ended, 0, io.stderr);
});
