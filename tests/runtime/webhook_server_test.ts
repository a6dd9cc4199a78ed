/** The webhook server: certificates from files, HTTP versions, shutdown, and replicas. */
import assert from "node:assert/strict";
import { operator, webhook } from "../../mod.ts";
import { Namespace } from "../../src/kinds/mod.ts";
import { startOperator } from "../../src/operator/running.ts";
import { systemClock } from "../../src/base/clock.ts";
import { operatorLog } from "../../src/operator/log.ts";
import { FollowedFiles } from "../../src/runtime/webhooks/certificate_files.ts";
import { TlsServer } from "../../src/runtime/webhooks/tls_server.ts";
import { controller } from "../../src/parts/controller.ts";
import { localCertificate } from "../../src/testing/local_certificate.ts";
import { eventually } from "../eventually.ts";
import { freePort } from "../fixtures/build_operator.ts";
import { serverWithWebhooks } from "./_webhooks.ts";
import { Note, noteRules, PATH, post, QUICK, review } from "../fixtures/reviews.ts";

Deno.test("a certificate in files is loaded again when both files have changed, and not before", async () => {
  const [one, two] = [await localCertificate(), await localCertificate()];
  const files = new Map([["crt", one.certificate], ["key", one.key]]);
  const used: string[] = [];
  const looks: boolean[] = [];
  const followed = new FollowedFiles({
    paths: { certificate: "crt", key: "key" },
    readText: (path) => Promise.resolve(files.get(path)!),
    clock: systemClock,
    log: operatorLog("files"),
    interval: 5,
    onLook: (isGood) => void looks.push(isGood),
    use: ({ certificate, key }, { server }) => {
      assert(server > Date.now());
      // A key that does not belong to the certificate is refused by the server, and the one before stays.
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
  assert.deepEqual([looks[0], looks.includes(false), looks.at(-1)], [true, true, true]);
});

for (const http2 of [false, true]) {
  Deno.test(`a server that stops answers pending requests, over HTTP/${http2 ? 2 : "1.1"}`, async () => {
    const { certificate, key, caCert } = await localCertificate();
    const begun = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    const innerPorts = [0, 1].map(freePort);
    const options = { hostname: "127.0.0.1", port: 0, clock: systemClock, innerPorts };
    const server = new TlsServer(options, async (request) => {
      await request.text();
      begun.resolve();
      await answer.promise;
      return new Response("late, but there");
    });
    server.use({ certificate, key });
    using way = Deno.createHttpClient({ caCerts: [caCert], http1: !http2, http2 });
    const asking = post(server.port, "{}", way);
    await begun.promise;
    const stopping = server.stop(new AbortController().signal);
    // Nobody else comes in meanwhile, and another certificate opens nothing.
    await eventually(async () => {
      // One that was already on its way may still be taken, and closed.
      const connecting = Deno.connect({ hostname: "127.0.0.1", port: server.port });
      await assert.rejects(connecting.then((connection) => connection.close()), isNobodyThere);
    });
    server.use({ certificate, key });
    answer.resolve();
    assert.equal(await (await asking).text(), "late, but there");
    await stopping;
    await assert.rejects(post(server.port, "{}", way));
    for (const port of innerPorts) Deno.listen({ hostname: "127.0.0.1", port }).close();
  });
}

Deno.test("a server without a certificate closes connections without a byte", async () => {
  await using server = new TlsServer(
    { hostname: "127.0.0.1", port: 0, clock: systemClock },
    () => Promise.resolve(new Response()),
  );
  assert.equal(server.isServing, false);
  const connection = await Deno.connect({ hostname: "127.0.0.1", port: server.port });
  assert.equal(await connection.read(new Uint8Array(1)), null);
  connection.close();
});

Deno.test("an invalid certificate is rejected, and the previous one stays in use", async () => {
  const { certificate, key, caCert } = await localCertificate();
  await using server = new TlsServer(
    { hostname: "127.0.0.1", port: 0, clock: systemClock },
    () => Promise.resolve(new Response("well")),
  );
  server.use({ certificate, key });
  assert.throws(() => server.use({ certificate: "no certificate", key: "no key" }));
  using way = Deno.createHttpClient({ caCerts: [caCert] });
  assert.equal(await (await post(server.port, "{}", way)).text(), "well");
});

Deno.test("a server that stops closes connections at its deadline", async () => {
  const { certificate, key, caCert } = await localCertificate();
  const begun = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<Response>();
  const server = new TlsServer({ hostname: "127.0.0.1", port: 0, clock: systemClock }, async (request) => {
    await request.text();
    begun.resolve();
    return await answer.promise;
  });
  server.use({ certificate, key });
  using way = Deno.createHttpClient({ caCerts: [caCert] });
  const asking = assert.rejects(post(server.port, "{}", way));
  await begun.promise;
  const deadline = new AbortController();
  const stopping = server.stop(deadline.signal);
  deadline.abort();
  await asking;
  answer.resolve(new Response());
  await stopping;
});

Deno.test("a connection with the previous certificate is closed after its next response, and its server ends with the last one", async () => {
  const [one, two] = [await localCertificate(), await localCertificate()];
  const innerPorts = [0, 1].map(freePort);
  const options = { hostname: "127.0.0.1", port: 0, clock: systemClock, innerPorts };
  await using server = new TlsServer(options, () => Promise.resolve(new Response("well")));
  server.use(one);
  using kept = Deno.createHttpClient({ caCerts: [one.caCert], http2: false });
  const ask = async (way: Deno.HttpClient) => {
    const response = await post(server.port, "{}", way);
    return [await response.text(), response.headers.get("connection")];
  };
  assert.deepEqual(await ask(kept), ["well", null]);
  server.use(two);
  assert.deepEqual(await ask(kept), ["well", "close"]);
  // Now it has to connect anew, and does not know whom it meets.
  await eventually(() => server.connections === 0);
  await assert.rejects(ask(kept));
  using fresh = Deno.createHttpClient({ caCerts: [two.caCert] });
  assert.deepEqual(await ask(fresh), ["well", null]);
  // The port of the first is free again.
  await eventually(() => server.use(one));
});

Deno.test("the port of an unused certificate is free after the next rotation", async () => {
  const [one, two] = [await localCertificate(), await localCertificate()];
  const innerPorts = [0, 1].map(freePort);
  const options = { hostname: "127.0.0.1", port: 0, clock: systemClock, innerPorts };
  await using server = new TlsServer(options, () => Promise.resolve(new Response("well")));
  server.use(one);
  server.use(two);
  await eventually(() => Deno.listen({ hostname: "127.0.0.1", port: innerPorts[0]! }).close());
});

Deno.test("if earlier certificates use all ports, the oldest server is ended and the next certificate succeeds", async () => {
  const [one, two, three] = [await localCertificate(), await localCertificate(), await localCertificate()];
  const innerPorts = [0, 1].map(freePort);
  const options = { hostname: "127.0.0.1", port: 0, clock: systemClock, innerPorts };
  await using server = new TlsServer(options, () => Promise.resolve(new Response("well")));
  const ways = [one, two, three].map(({ caCert }) => Deno.createHttpClient({ caCerts: [caCert], http1: false }));
  const ask = async (way: Deno.HttpClient) => await (await post(server.port, "{}", way)).text();
  try {
    for (const [i, certificate] of [one, two].entries()) {
      server.use(certificate);
      assert.equal(await ask(ways[i]!), "well");
    }
    // Over HTTP/2 a connection ends with its client, and both are kept.
    assert.throws(
      () => server.use(three),
      (error: Error) => error.cause instanceof Deno.errors.AddrInUse,
    );
    assert.equal(await ask(ways[1]!), "well");
    await eventually(() => server.use(three));
    assert.equal(await ask(ways[2]!), "well");
  } finally {
    for (const way of ways) way.close();
  }
});

Deno.test("controllers and webhooks can be skipped", async () => {
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
    await eventually(() => running.readiness().some(({ name, isReady }) => name === "webhooks" && isReady));
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
    const runners: string[] = [];
    const replica = (host: string) =>
      startOperator(
        operator({
          name: "notes",
          parts: {
            namespaces: controller(Namespace, { reconcile: () => void runners.push(host) }),
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
        { connection, host, serveWebhooks: true, checkAccess: false },
      );
    await using leader = replica("one");
    await eventually(() => leader.isLeading && runners.length > 0);
    await using standby = replica("two");
    using way = Deno.createHttpClient({ caCerts: [caCert] });
    for (const replica of [leader, standby]) {
      await eventually(() => replica.readiness().some(({ name, isReady }) => name === "webhooks" && isReady));
      await eventually(async () => {
        const told = await replica.metrics.text();
        assert.match(told, /^certwatcher_read_certificate_total [1-9]/m);
        const [, left] = /^op_certificate_expiry_seconds\{certificate="server"\} (\S+)$/m.exec(told) ?? [];
        assert(Number(left) > 3600, `${left} seconds are left`);
      });
      for (const [text, allowed] of [["hello", true], ["forbidden", false]] as const) {
        const answer = await post(replica.webhookPort!, review(text), way);
        assert.equal((await answer.json()).response.allowed, allowed);
      }
    }
    const raw = await postedRaw(leader.webhookPort!, caCert, "accept-encoding: gzip");
    // Deno 2.4 packs whatever it is not told to leave as it is.
    assert.doesNotMatch(raw, /content-encoding/i);
    assert.match(raw, /"allowed":true/);
    await eventually(() => standby.readiness().some(({ told }) => told.startsWith("stands by: one_")));
    assert.deepEqual([leader.isLeading, standby.isLeading], [true, false]);
    assert.deepEqual(new Set(runners), new Set(["one"]));
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

Deno.test("while webhooks have no certificate, the process is not ready, and the reason is shown", async () => {
  const { connection } = await serverWithWebhooks();
  const op = operator({
    name: "notes",
    parts: { noteRules },
    health: false,
    webhooks: {
      hostname: "127.0.0.1",
      port: 0,
      certificate: { certificate: "/nowhere/tls.crt", key: "/nowhere/tls.key" },
    },
  });
  await using running = startOperator(op, { connection, serveWebhooks: true, checkAccess: false });
  const line = () => running.readiness().find(({ name }) => name === "webhooks");
  await eventually(() => line()?.told.includes("/nowhere/tls.crt") === true);
  assert.deepEqual([line()?.isReady, line()?.decides], [false, true]);
});

Deno.test("a controller that waits for an RBAC permission does not make the webhooks unready", async () => {
  const { healthResponse } = await import("../../src/operator/health.ts");
  const lines = (isServed: boolean) => [
    { name: "webhooks", isReady: isServed, told: "", decides: true },
    { name: "controller notes", isReady: false, told: "waits" },
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

function isNobodyThere(error: unknown): boolean {
  return error instanceof Deno.errors.ConnectionRefused || error instanceof Deno.errors.ConnectionReset;
}
