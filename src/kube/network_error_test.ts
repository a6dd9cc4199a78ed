import assert from "node:assert/strict";
import { systemClock } from "../base/clock.ts";
import { ConfigMap } from "../kinds/mod.ts";
import { localAuthority } from "../testing/local_certificate.ts";
import { Client } from "./client.ts";
import { Http2Transport } from "./http2/mod.ts";

/** Ways in which a server ends the TLS handshake, and the resulting error. */
const CASES: readonly {
  name: string;
  code: string;
  message: string;
  serve: (connection: Deno.TcpConn) => Promise<unknown>;
}[] = [
  {
    name: "closes the connection",
    code: "HandshakeClosed",
    message: 'the connection was closed during the TLS handshake. Check the process that listens on "AUTHORITY"',
    serve: (connection) => connection.read(new Uint8Array(10_000)),
  },
  {
    name: "responds in plain HTTP",
    code: "NotTls",
    message: '"AUTHORITY" does not use TLS. Check the port',
    async serve(connection) {
      await connection.read(new Uint8Array(10_000));
      await connection.write(new TextEncoder().encode("HTTP/1.1 400 Bad Request\r\n\r\n"));
    },
  },
];

for (const { name, code, message, serve } of CASES) {
  Deno.test(`the error for a server that ${name} during the TLS handshake has a code and quotes the address`, async () => {
    const { caCert } = await localAuthority();
    using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const authority = `127.0.0.1:${listener.addr.port}`;
    const serving = (async () => {
      for await (const connection of listener) {
        await serve(connection);
        connection.close();
      }
    })().catch(() => undefined);
    const transport = new Http2Transport({ ca: () => caCert, clock: systemClock });
    const connection = {
      url: `https://${authority}`,
      fetch: transport.fetch,
      send: transport.send.bind(transport),
      close() {},
    };
    const client = new Client(connection, { clock: systemClock });
    await assert.rejects(client.list(ConfigMap), (error: Error & { code?: string }) => {
      assert.equal(error.code, code);
      const start = `Cannot list ConfigMap: no response from "https://${authority}": ${
        message.replace("AUTHORITY", authority)
      }`;
      return error.message.startsWith(start) || assert.fail(error.message);
    });
    transport.close();
    listener.close();
    await serving;
  });
}
