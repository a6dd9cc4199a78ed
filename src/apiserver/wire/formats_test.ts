import assert from "node:assert/strict";
import { CONFIG_MAPS, configMap, Wire } from "../_wire.ts";
import { fromProtobuf, PROTOBUF, toProtobuf } from "./protobuf/envelope.ts";

/** Returns the headers, status and bytes of a response. */
async function send(
  { server }: Wire,
  path: string,
  headers: Record<string, string>,
  init: RequestInit = {},
): Promise<{ headers: Headers; status: number; bytes: Uint8Array<ArrayBuffer> }> {
  const response = await server.fetch(new Request(`http://server${path}`, { ...init, headers }));
  return {
    headers: response.headers,
    status: response.status,
    bytes: new Uint8Array(await response.arrayBuffer()),
  };
}

Deno.test("the API server compresses large responses for clients that accept gzip", async () => {
  await using wire = new Wire();
  await wire.post(CONFIG_MAPS, configMap("large", { a: "x".repeat(200_000) }));
  await wire.post(CONFIG_MAPS, configMap("small"));

  const large = await send(wire, `${CONFIG_MAPS}/large`, { "accept-encoding": "gzip" });
  const small = await send(wire, `${CONFIG_MAPS}/small`, { "accept-encoding": "gzip" });
  const plain = await send(wire, `${CONFIG_MAPS}/large`, {});
  const unpacked = new Response(new Blob([large.bytes]).stream().pipeThrough(new DecompressionStream("gzip")));

  assert.equal(large.headers.get("content-encoding"), "gzip");
  assert(large.bytes.length < 10_000, `${large.bytes.length}`);
  assert.equal((await unpacked.json()).data.a.length, 200_000);
  assert.deepEqual([small.headers.get("content-encoding"), plain.headers.get("content-encoding")], [null, null]);
});

Deno.test("the API server accepts and returns protobuf", async () => {
  await using wire = new Wire();
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", labels: { x: "1" } }, data: { b: "ü" } };
  const both = { accept: PROTOBUF, "content-type": PROTOBUF };

  const created = await send(wire, CONFIG_MAPS, both, {
    method: "POST",
    body: toProtobuf(object) as Uint8Array<ArrayBuffer>,
  });
  const read = await send(wire, `${CONFIG_MAPS}/a`, both);
  const missing = await send(wire, `${CONFIG_MAPS}/none`, both);
  assert.equal(created.status, 201);
  assert.equal(read.headers.get("content-type"), PROTOBUF);
  const { metadata, ...rest } = fromProtobuf(read.bytes) ?? assert.fail("no protobuf");
  assert.deepEqual(rest, { apiVersion: "v1", kind: "ConfigMap", data: { b: "ü" } });
  assert.deepEqual((metadata as { labels: unknown }).labels, { x: "1" });
  assert.equal((fromProtobuf(missing.bytes) ?? {}).reason, "NotFound");
});

Deno.test("toProtobuf and fromProtobuf preserve values with their own JSON form", () => {
  const object = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: "p",
      creationTimestamp: "2030-01-02T03:04:05Z",
      managedFields: [{ manager: "m", fieldsType: "FieldsV1", fieldsV1: { "f:spec": { "f:nodeName": {} } } }],
    },
    spec: {
      // A pointer in Go, so zero differs from absent.
      terminationGracePeriodSeconds: 0,
      volumes: [{ name: "v", emptyDir: { sizeLimit: "1Gi" } }],
      containers: [{
        name: "c",
        resources: { limits: { cpu: "500m" } },
        livenessProbe: { httpGet: { port: "http" } },
        readinessProbe: { tcpSocket: { port: 80 } },
      }],
    },
  };

  assert.deepEqual(fromProtobuf(toProtobuf(object)), object);
});

Deno.test("fromProtobuf returns undefined for bytes that are not a protobuf object", () => {
  for (const bytes of [[], [0x6b, 0x38, 0x73, 0x00], [0x6b, 0x38, 0x73, 0x00, 0x67, 0xff], [1, 2, 3]]) {
    assert.equal(fromProtobuf(Uint8Array.from(bytes)), undefined);
  }
});
