import assert from "node:assert/strict";
import { systemClock } from "../base/clock.ts";
import { ConfigMap } from "../kinds/mod.ts";
import { localAuthority } from "../testing/local_certificate.ts";
import { Client } from "./client.ts";
import { http2Transport } from "./http2_transport.ts";

/** How a server ends a connection in the middle of the handshake, and what is told. */
const ENDS: readonly { name: string; says: string; answer: (connection: Deno.TcpConn) => Promise<unknown> }[] = [
  {
    name: "closes it",
    says: 'the connection was closed during the TLS handshake: look at what listens at "AUTHORITY", at proxies',
    answer: (connection) => connection.read(new Uint8Array(10_000)),
  },
  {
    name: "speaks plain HTTP",
    says: '"AUTHORITY" does not speak TLS: is the port right, and is there a proxy before it?',
    async answer(connection) {
      await connection.read(new Uint8Array(10_000));
      await connection.write(new TextEncoder().encode("HTTP/1.1 400 Bad Request\r\n\r\n"));
    },
  },
];

for (const { name, says, answer } of ENDS) {
  Deno.test(`a server that ${name} during the TLS handshake is told as such, with its address`, async () => {
    const { caCert } = await localAuthority();
    using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const authority = `127.0.0.1:${listener.addr.port}`;
    const serving = (async () => {
      for await (const connection of listener) {
        await answer(connection);
        connection.close();
      }
    })().catch(() => undefined);
    const transport = http2Transport({ ca: () => caCert, clock: systemClock });
    const client = new Client({ url: `https://${authority}`, ...transport }, { clock: systemClock });
    await assert.rejects(client.list(ConfigMap), ({ message }: Error) => {
      const begin = `Cannot list ConfigMap: no answer from "https://${authority}": ${
        says.replace("AUTHORITY", authority)
      }`;
      return message.startsWith(begin) || assert.fail(message);
    });
    transport.close();
    listener.close();
    await serving;
  });
}
