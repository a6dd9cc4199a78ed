/**
 * The tests provoke each error in the running Deno, so they fail when a new version changes a
 * message that the SDK recognizes.
 */
import assert from "node:assert/strict";
import { localAuthority } from "../testing/local_certificate.ts";
import { connectionFailure, isFetchFailure, isStackOverflow, sandboxDenial } from "./deno_errors.ts";

/** Returns the error that a function throws. */
async function thrownBy(cause: () => unknown): Promise<unknown> {
  try {
    await cause();
  } catch (error) {
    return error;
  }
  throw new Error("No error was thrown");
}

/**
 * Runs a function with the address of a server that responds to each connection with bytes and
 * closes it.
 */
async function withServer(response: string, use: (address: Deno.NetAddr) => Promise<void>): Promise<void> {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const serving = (async () => {
    for await (const connection of listener) {
      await connection.read(new Uint8Array(10_000));
      await connection.write(new TextEncoder().encode(response)).catch(() => {});
      connection.close();
    }
  })().catch(() => {});
  await use(listener.addr);
  listener.close();
  await serving;
}

/** Returns a port on which no process listens. */
function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

Deno.test("connectionFailure recognizes a port on which no process listens", async () => {
  const port = freePort();
  const connect = await thrownBy(() => Deno.connect({ hostname: "127.0.0.1", port }));
  assert.equal(connectionFailure(connect), "ConnectionRefused");
  const fetched = await thrownBy(() => fetch(`http://127.0.0.1:${port}/`));
  assert.equal(connectionFailure(fetched), "ConnectionRefused");
  assert.equal(isFetchFailure(fetched), true);
});

Deno.test("connectionFailure recognizes an unknown name", async () => {
  const error = await thrownBy(() => fetch("http://no-such-host.invalid/"));
  assert.equal(connectionFailure(error), "NameNotFound");
  assert.equal(isFetchFailure(error), true);
});

Deno.test("connectionFailure recognizes a connection that ends before the response", async () => {
  await withServer("", async ({ port }) => {
    const error = await thrownBy(() => fetch(`http://127.0.0.1:${port}/`));
    assert.equal(connectionFailure(error), "ConnectionClosed");
    assert.equal(isFetchFailure(error), true);
  });
});

Deno.test("connectionFailure recognizes a server without TLS", async () => {
  await withServer("HTTP/1.1 400 Bad Request\r\n\r\n", async ({ port }) => {
    const error = await thrownBy(() => fetch(`https://127.0.0.1:${port}/`));
    assert.equal(connectionFailure(error), "NotTls");
    assert.equal(isFetchFailure(error), true);
  });
});

Deno.test("connectionFailure recognizes certificates that are not trusted or not valid", async () => {
  const authority = await localAuthority();
  const { certificate: cert, key } = await authority.server(["localhost"]);
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, cert, key, onListen() {} }, () => new Response());
  const { port } = server.addr;
  assert.equal(connectionFailure(await thrownBy(() => fetch(`https://localhost:${port}/`))), "UntrustedCertificate");
  using client = Deno.createHttpClient({ caCerts: [authority.caCert] });
  const error = await thrownBy(() => fetch(`https://127.0.0.1:${port}/`, { client }));
  assert.equal(connectionFailure(error), "InvalidCertificate");
});

Deno.test("isFetchFailure recognizes a response that ends early", async () => {
  await withServer("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nab", async ({ port }) => {
    const response = await fetch(`http://127.0.0.1:${port}/`);
    assert.equal(isFetchFailure(await thrownBy(() => response.text())), true);
  });
});

Deno.test("isFetchFailure returns false for wrong arguments and other programming errors", async () => {
  assert.equal(isFetchFailure(await thrownBy(() => fetch("foo://host"))), false);
  const client = undefined as unknown as { fetch(): unknown };
  assert.equal(isFetchFailure(await thrownBy(() => client.fetch())), false);
  assert.equal(isFetchFailure(new Error("fetch failed")), false);
});

const DENIALS: readonly { name: string; use: () => unknown; expected: ReturnType<typeof sandboxDenial> }[] = [
  {
    name: "a file",
    use: () => Deno.readTextFile("/etc/passwd"),
    expected: { permission: "read", target: "/etc/passwd", isUnnamedFolder: false },
  },
  {
    name: "a host",
    use: () => fetch("https://example.com/"),
    expected: { permission: "net", target: "example.com:443", isUnnamedFolder: false },
  },
  {
    name: "a variable",
    use: () => Deno.env.get("TOKEN"),
    expected: { permission: "env", target: "TOKEN", isUnnamedFolder: false },
  },
  { name: "all variables", use: () => Deno.env.toObject(), expected: { permission: "env", isUnnamedFolder: false } },
  {
    name: "a temporary file",
    use: () => Deno.makeTempFile(),
    expected: { permission: "write", target: "<TMP>", isUnnamedFolder: true },
  },
  {
    name: "a program",
    use: () => new Deno.Command("/bin/sh").output(),
    expected: { permission: "run", target: "/bin/sh", isUnnamedFolder: false },
  },
];

for (const { name, use, expected } of DENIALS) {
  Deno.test({
    name: `sandboxDenial returns the permission that ${name} needs`,
    permissions: "none",
    async fn() {
      assert.deepEqual(sandboxDenial(await thrownBy(use)), expected);
    },
  });
}

Deno.test("sandboxDenial returns undefined for errors that the sandbox did not throw", () => {
  assert.equal(sandboxDenial(new TypeError("Requires net access to")), undefined);
  assert.equal(sandboxDenial(new Deno.errors.PermissionDenied("Permission denied (os error 13)")), undefined);
  assert.equal(sandboxDenial("Requires net access"), undefined);
});

Deno.test("isStackOverflow recognizes endless recursion", async () => {
  const recurse = (): unknown => [recurse()];
  assert.equal(isStackOverflow(await thrownBy(recurse)), true);
  assert.equal(isStackOverflow(await thrownBy(() => "x".repeat(-1))), false);
});
