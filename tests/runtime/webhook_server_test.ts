/** The webhook server: certificates, shutdown, and which processes start it. */
import assert from "node:assert/strict";
import { operator, webhook } from "../../mod.ts";
import { Namespace } from "../../src/kinds/mod.ts";
import { startOperator } from "../../src/operator/running.ts";
import { systemClock } from "../../src/base/clock.ts";
import { operatorLog } from "../../src/operator/log.ts";
import { CertificateFileWatcher } from "../../src/runtime/webhooks/certificate_files.ts";
import { TlsServer } from "../../src/runtime/webhooks/tls_server.ts";
import { controller } from "../../src/parts/controller.ts";
import { localCertificate } from "../../src/testing/local_certificate.ts";
import { eventually } from "../eventually.ts";
import { freePorts } from "../fixtures/build_operator.ts";
import { serverWithWebhooks, servesWebhooks } from "./_webhooks.ts";
import { Note, noteRules, PATH, post, QUICK, review } from "../fixtures/reviews.ts";

Deno.test("a certificate in files is loaded again when both files have changed, not when one has", async () => {
  const [one, two] = [await localCertificate(), await localCertificate()];
  const files = new Map([["crt", one.certificate], ["key", one.key]]);
  const used: string[] = [];
  const checks: boolean[] = [];
  const followed = new CertificateFileWatcher({
    paths: { certificate: "crt", key: "key" },
    readText: (path) => Promise.resolve(files.get(path)!),
    clock: systemClock,
    log: operatorLog("files"),
    interval: 5,
    onCheck: (areValid) => void checks.push(areValid),
    use: ({ certificate, key }, { server }) => {
      assert(server > Date.now());
      // The server throws too if the key does not belong to the certificate.
      if ((certificate === one.certificate) !== (key === one.key)) throw new Error("not a pair");
      used.push(certificate);
    },
  });
  const stop = new AbortController();
  const running = followed.run(stop.signal);
  await eventually(() => used.length === 1);
  files.set("crt", two.certificate);
  await eventually(() => followed.problem === "not a pair");
  files.set("key", two.key);
  await eventually(() => used.length === 2 && followed.problem === undefined);
  stop.abort();
  await running;
  assert.deepEqual(used, [one.certificate, two.certificate]);
  assert.deepEqual([checks[0], checks.includes(false), checks.at(-1)], [true, true, true]);
});

for (const http2 of [false, true]) {
  Deno.test(`a webhook server that stops completes pending requests over HTTP/${http2 ? 2 : "1.1"}`, async () => {
    const { certificate, key, caCert } = await localCertificate();
    const started = Promise.withResolvers<void>();
    const response = Promise.withResolvers<void>();
    const innerPorts = freePorts(2);
    const options = { hostname: "127.0.0.1", port: 0, clock: systemClock, innerPorts };
    const server = new TlsServer(options, async (request) => {
      await request.text();
      started.resolve();
      await response.promise;
      return new Response("late");
    });
    server.use({ certificate, key });
    using client = Deno.createHttpClient({ caCerts: [caCert], http1: !http2, http2 });
    const pending = post(server.port, "{}", client);
    await started.promise;
    const stopping = server.stop(new AbortController().signal);
    // No new connection is accepted meanwhile, and a new certificate does not start a server.
    await eventually(async () => {
      // A connection that is already in the queue of the port may still be accepted, and closed.
      const connecting = Deno.connect({ hostname: "127.0.0.1", port: server.port });
      await assert.rejects(connecting.then((connection) => connection.close()), isConnectionRefused);
    });
    server.use({ certificate, key });
    response.resolve();
    assert.equal(await (await pending).text(), "late");
    await stopping;
    await assert.rejects(post(server.port, "{}", client));
    for (const port of innerPorts) Deno.listen({ hostname: "127.0.0.1", port }).close();
  });
}

Deno.test("a webhook server without a certificate closes connections without a response", async () => {
  await using server = new TlsServer(
    { hostname: "127.0.0.1", port: 0, clock: systemClock },
    () => Promise.resolve(new Response()),
  );
  assert.equal(server.isServing, false);
  const connection = await Deno.connect({ hostname: "127.0.0.1", port: server.port });
  assert.equal(await connection.read(new Uint8Array(1)), null);
  connection.close();
});

Deno.test("a webhook server rejects an invalid certificate, and continues to use the previous one", async () => {
  const { certificate, key, caCert } = await localCertificate();
  await using server = new TlsServer(
    { hostname: "127.0.0.1", port: 0, clock: systemClock },
    () => Promise.resolve(new Response("ok")),
  );
  server.use({ certificate, key });
  assert.throws(() => server.use({ certificate: "no certificate", key: "no key" }));
  using client = Deno.createHttpClient({ caCerts: [caCert] });
  assert.equal(await (await post(server.port, "{}", client)).text(), "ok");
});

Deno.test("a webhook server that stops closes its connections at the deadline", async () => {
  const { certificate, key, caCert } = await localCertificate();
  const started = Promise.withResolvers<void>();
  const response = Promise.withResolvers<Response>();
  const server = new TlsServer({ hostname: "127.0.0.1", port: 0, clock: systemClock }, async (request) => {
    await request.text();
    started.resolve();
    return await response.promise;
  });
  server.use({ certificate, key });
  using client = Deno.createHttpClient({ caCerts: [caCert] });
  const pending = assert.rejects(post(server.port, "{}", client));
  await started.promise;
  const deadline = new AbortController();
  const stopping = server.stop(deadline.signal);
  deadline.abort();
  await pending;
  response.resolve(new Response());
  await stopping;
});

Deno.test("a connection with the previous certificate is closed after its next response, and its server when it has no connections", async () => {
  const [one, two] = [await localCertificate(), await localCertificate()];
  const innerPorts = freePorts(2);
  const options = { hostname: "127.0.0.1", port: 0, clock: systemClock, innerPorts };
  await using server = new TlsServer(options, () => Promise.resolve(new Response("ok")));
  server.use(one);
  using persistentClient = Deno.createHttpClient({ caCerts: [one.caCert], http2: false });
  const request = async (client: Deno.HttpClient) => {
    const response = await post(server.port, "{}", client);
    return [await response.text(), response.headers.get("connection")];
  };
  assert.deepEqual(await request(persistentClient), ["ok", null]);
  server.use(two);
  assert.deepEqual(await request(persistentClient), ["ok", "close"]);
  // The client must open a new connection now, and it does not trust the new certificate.
  await eventually(() => server.connections === 0);
  await assert.rejects(request(persistentClient));
  using newClient = Deno.createHttpClient({ caCerts: [two.caCert] });
  assert.deepEqual(await request(newClient), ["ok", null]);
  // The port of the first server is free again.
  await eventually(() => server.use(one));
});

Deno.test("the port of a certificate that no client used is free after the next rotation", async () => {
  const [one, two] = [await localCertificate(), await localCertificate()];
  const innerPorts = freePorts(2);
  const options = { hostname: "127.0.0.1", port: 0, clock: systemClock, innerPorts };
  await using server = new TlsServer(options, () => Promise.resolve(new Response("ok")));
  server.use(one);
  server.use(two);
  await eventually(() => Deno.listen({ hostname: "127.0.0.1", port: innerPorts[0]! }).close());
});

Deno.test("if earlier certificates use all ports, the oldest server is closed, and the next attempt to use the new certificate succeeds", async () => {
  const [one, two, three] = [await localCertificate(), await localCertificate(), await localCertificate()];
  const innerPorts = freePorts(2);
  const options = { hostname: "127.0.0.1", port: 0, clock: systemClock, innerPorts };
  await using server = new TlsServer(options, () => Promise.resolve(new Response("ok")));
  const clients = [one, two, three].map(({ caCert }) => Deno.createHttpClient({ caCerts: [caCert], http1: false }));
  const request = async (client: Deno.HttpClient) => await (await post(server.port, "{}", client)).text();
  try {
    for (const [i, certificate] of [one, two].entries()) {
      server.use(certificate);
      assert.equal(await request(clients[i]!), "ok");
    }
    // HTTP/2 connections stay open until the client is closed, so both servers are still in use.
    assert.throws(
      () => server.use(three),
      (error: Error) => error.cause instanceof Deno.errors.AddrInUse,
    );
    assert.equal(await request(clients[1]!), "ok");
    await eventually(() => server.use(three));
    assert.equal(await request(clients[2]!), "ok");
  } finally {
    for (const client of clients) client.close();
  }
});

Deno.test("an operator can start without its controllers, or without its webhooks", async () => {
  const { connection } = await serverWithWebhooks();
  let reconciled = 0;
  const op = operator({
    name: "notes",
    parts: {
      namespaces: controller(Namespace, { reconcile: () => void reconciled++ }),
      noteRules: webhook(Note, { validate() {} }),
    },
    health: false,
    leaderElection: false,
    webhooks: { hostname: "127.0.0.1", port: 0 },
  });
  const options = { connection, serveWebhooks: true, certificateTimes: QUICK, checkAccess: false };
  {
    await using running = startOperator(op, { ...options, skipControllers: true });
    await eventually(() => servesWebhooks(running));
    assert.deepEqual(running.readiness().map(({ name }) => name), ["webhooks"]);
    assert.equal(reconciled, 0);
  }
  {
    await using running = startOperator(op, { ...options, skipWebhooks: true });
    await eventually(() => reconciled > 0);
    assert.equal(running.webhooks, undefined);
    assert.equal(running.webhookPort, undefined);
  }
});

Deno.test("the leader and the standby both serve webhooks", async () => {
  const { connection } = await serverWithWebhooks();
  const { certificate, key, caCert } = await localCertificate();
  const folder = await Deno.makeTempDir();
  try {
    await Promise.all([
      Deno.writeTextFile(`${folder}/tls.crt`, certificate),
      Deno.writeTextFile(`${folder}/tls.key`, key),
    ]);
    const reconcilers: string[] = [];
    const replica = (host: string) =>
      startOperator(
        operator({
          name: "notes",
          parts: {
            namespaces: controller(Namespace, { reconcile: () => void reconcilers.push(host) }),
            noteRules,
          },
          health: false,
          leaderElection: true,
          webhooks: {
            hostname: "127.0.0.1",
            port: 0,
            certificate: { certificate: `${folder}/tls.crt`, key: `${folder}/tls.key` },
          },
        }),
        { connection, identity: host, serveWebhooks: true, checkAccess: false },
      );
    await using leader = replica("one");
    await eventually(() => leader.isLeading && reconcilers.length > 0);
    await using standby = replica("two");
    using client = Deno.createHttpClient({ caCerts: [caCert] });
    for (const replica of [leader, standby]) {
      await eventually(() => servesWebhooks(replica));
      await eventually(async () => {
        const text = await replica.metrics.text();
        assert.match(text, /^certwatcher_read_certificate_total [1-9]/m);
        const [, left] = /^op_certificate_expiry_seconds\{certificate="server"\} (\S+)$/m.exec(text) ?? [];
        assert(Number(left) > 3600, `${left} seconds are left`);
      });
      for (const [noteText, allowed] of [["hello", true], ["forbidden", false]] as const) {
        const response = await post(replica.webhookPort!, review(noteText), client);
        assert.equal((await response.json()).response.allowed, allowed);
      }
    }
    const raw = await postedRaw(leader.webhookPort!, caCert, "accept-encoding: gzip");
    // Deno 2.4 compresses responses unless the server opts out.
    assert.doesNotMatch(raw, /content-encoding/i);
    assert.match(raw, /"allowed":true/);
    await eventually(() => standby.readiness().some(({ message }) => message.startsWith("stands by, one_")));
    assert.deepEqual([leader.isLeading, standby.isLeading], [true, false]);
    assert.deepEqual(new Set(reconcilers), new Set(["one"]));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

/** Returns the raw response to a request with a header that `fetch` would set itself. */
async function postedRaw(port: number, authority: string, header: string): Promise<string> {
  const body = JSON.stringify(review());
  using connection = await Deno.connectTls({ hostname: "127.0.0.1", port, caCerts: [authority] });
  const head = [
    `POST ${PATH} HTTP/1.1`,
    "host: 127.0.0.1",
    "content-type: application/json",
    `content-length: ${body.length}`,
    header,
    "connection: close",
  ];
  await connection.write(new TextEncoder().encode(`${head.join("\r\n")}\r\n\r\n${body}`));
  return await new Response(connection.readable).text();
}

Deno.test("a process whose webhooks have no certificate is not ready, and reports the missing file", async () => {
  const { connection } = await serverWithWebhooks();
  const op = operator({
    name: "notes",
    parts: { noteRules },
    health: false,
    webhooks: {
      hostname: "127.0.0.1",
      port: 0,
      certificate: { certificate: "/missing/tls.crt", key: "/missing/tls.key" },
    },
  });
  await using running = startOperator(op, { connection, serveWebhooks: true, checkAccess: false });
  const line = () => running.readiness().find(({ name }) => name === "webhooks");
  await eventually(() => line()?.message.includes("/missing/tls.crt") === true);
  assert.deepEqual([line()?.isReady, line()?.decides], [false, true]);
});

Deno.test("a controller that waits for an RBAC permission does not make the webhooks unready", async () => {
  const { healthResponse } = await import("../../src/operator/health.ts");
  const lines = (isServed: boolean) => [
    { name: "webhooks", isReady: isServed, message: "", decides: true },
    { name: "controller notes", isReady: false, message: "waits" },
  ];
  const status = async (isServed: boolean) =>
    (await healthResponse(new Request("http://h/readyz"), {
      lag: 0,
      metrics: undefined,
      readiness: () => lines(isServed),
    }))
      .status;
  assert.equal(await status(true), 200);
  assert.equal(await status(false), 503);
});

function isConnectionRefused(error: unknown): boolean {
  return error instanceof Deno.errors.ConnectionRefused || error instanceof Deno.errors.ConnectionReset;
}
