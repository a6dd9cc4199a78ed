/** Calls the etcd of a real cluster over its socket (etcd's JSON gateway, `/v3/kv`). */
import type { RealCluster } from "../../src/testing/real_cluster.ts";

/** Compacts etcd's history up to now. */
export async function compactEtcd(cluster: RealCluster): Promise<void> {
  const { header } = await ask(cluster, "/v3/kv/range", { key: btoa("/registry") });
  await ask(cluster, "/v3/kv/compaction", { revision: header.revision, physical: true });
}

async function ask(
  { folder }: RealCluster,
  path: string,
  body: unknown,
): Promise<{ readonly header: { readonly revision: string } }> {
  using socket = await Deno.connect({ transport: "unix", path: `${folder}/etcd.sock` });
  const text = JSON.stringify(body);
  const request = `POST ${path} HTTP/1.0\r\nHost: etcd\r\nContent-Type: application/json\r\n` +
    `Content-Length: ${text.length}\r\n\r\n${text}`;
  await socket.write(new TextEncoder().encode(request));
  let answer = "";
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(4096);
  for (let count = await socket.read(buffer); count !== null; count = await socket.read(buffer)) {
    answer += decoder.decode(buffer.subarray(0, count), { stream: true });
  }
  if (!answer.includes(" 200 ")) throw new Error(`etcd refused ${path}: ${answer}`);
  return JSON.parse(answer.slice(answer.indexOf("\r\n\r\n")));
}
