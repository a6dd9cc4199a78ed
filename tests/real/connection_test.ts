/**
 * Connections to a real API server: kubeconfigs, rotating tokens of pods, one shared connection,
 * restarts of the server.
 */
import assert from "node:assert/strict";
import { parse, stringify } from "yaml";
import { systemClock } from "../../src/base/clock.ts";
import { VirtualClock } from "../../src/base/virtual_clock.ts";
import { ConfigMap, Namespace, SelfSubjectReview } from "../../src/kinds/mod.ts";
import type { WatchEvent } from "../../src/kube/calls.ts";
import type { Client } from "../../src/kube/client.ts";
import { connect } from "../../src/kube/connect.ts";
import { withToken } from "../../src/kube/http.ts";
import { Http2Transport } from "../../src/kube/http2/mod.ts";
import { tokenFile } from "../../src/kube/token_file.ts";
import { denoMachine } from "../../src/operator/machine.ts";
import { realCluster } from "../../src/testing/real_cluster.ts";
import { adminClient } from "../fixtures/watched.ts";
import { eventReader } from "../fixtures/event_reader.ts";
import { podConnection as connectAsPod } from "../fixtures/connections.ts";
import { eventually } from "../eventually.ts";
import { clientBy, clientOf, temporaryFolder } from "../fixtures/kubeconfig_clients.ts";
import { ConnectionProxy } from "./_proxies.ts";

const IN_DEFAULT = { namespace: "default" };

Deno.test("connections to a real API server", async (t) => {
  // Without this, the server waits a minute for watches before it exits.
  await using cluster = await realCluster({ apiserverArgs: ["--shutdown-watch-termination-grace-period=1s"] });
  await using folder = await temporaryFolder();
  const config = `${folder.path}/config`;
  const admin = adminClient(cluster);

  await t.step("a client with a kubeconfig with a token authenticates", async () => {
    await folder.write({ config: (await cluster.user("alice")).kubeconfig });
    using session = await clientBy(config);
    assert.equal(await whoAmI(session.client), "alice");
    assert.equal(session.connection.namespace, "default");
  });

  await t.step("a client with a kubeconfig with a client certificate in base64 authenticates", async () => {
    await folder.write({ config: (await cluster.certificateUser("bob", { groups: ["robots"] })).kubeconfig });
    using session = await clientBy(config);
    assert.equal(await whoAmI(session.client), "bob");
  });

  await t.step("paths of certificate files are relative to the kubeconfig", async () => {
    const { certificate, key } = await cluster.certificateUser("carol");
    await folder.write({
      "pki/ca.crt": cluster.caCert,
      "pki/me.crt": certificate,
      "pki/me.key": key,
      config: kubeconfig(cluster.url, { "certificate-authority": "pki/ca.crt" }, {
        "client-certificate": "./pki/me.crt",
        "client-key": `${folder.path}/pki/me.key`,
      }),
    });
    using session = await clientBy(config);
    assert.equal(await whoAmI(session.client), "carol");
  });

  await t.step(
    "the path in tokenFile is relative to the kubeconfig, and the file has precedence over the token",
    async () => {
      const { token } = await cluster.user("dave");
      const authority = { "certificate-authority-data": btoa(cluster.caCert) };
      const user = { tokenFile: "secrets/token", token: "invalid" };
      await folder.write({ "secrets/token": `${token}\n`, config: kubeconfig(cluster.url, authority, user) });
      using session = await clientBy(config);
      assert.equal(await whoAmI(session.client), "dave");
    },
  );

  await t.step("a client merges the two files of KUBECONFIG", async () => {
    const whole = parse((await cluster.user("erin")).kubeconfig);
    await folder.write({
      "config.users": stringify({ kind: "Config", users: whole.users }),
      "config.clusters": stringify({ ...whole, users: [] }),
    });
    const env: Record<string, string> = { KUBECONFIG: `${folder.path}/config.users:${folder.path}/config.clusters` };
    const connection = await connect({ ...denoMachine, env: (name) => env[name] }, systemClock);
    using session = clientOf(connection);
    assert.equal(await whoAmI(session.client), "erin");
  });

  await t.step("a server whose certificate is not signed by the kubeconfig's authority is rejected", async () => {
    await folder.write({ config: kubeconfig(cluster.url, {}, { token: (await cluster.user("frank")).token }) });
    using session = await clientBy(config);
    await assert.rejects(whoAmI(session.client), {
      message: `Cannot create SelfSubjectReview: no response from "${cluster.url}": the server's certificate ` +
        "is not signed by the certificate authority of the kubeconfig (UnknownIssuer). Set certificate-authority-data",
    });
  });

  await t.step("a pod reads its token file again after a 401", async () => {
    const user = "system:serviceaccount:default:shop";
    const [first, second] = [await cluster.user(user), await cluster.user(user)];
    await folder.write({ token: first.token });
    // The clock does not advance, so only the 401 can cause the read.
    using session = asPod(cluster, `${folder.path}/token`, new VirtualClock());
    assert.equal(await whoAmI(session.client), user);

    await folder.write({ token: second.token });
    await cluster.expire(first.token);
    assert.equal(await whoAmI(session.client), user);
  });

  await t.step(
    "requests of a pod fail with 401 while its token is rejected, and succeed once its file has a valid one",
    async () => {
      const [bad, good] = [await cluster.user("grace"), await cluster.user("grace")];
      await cluster.expire(bad.token);
      await folder.write({ token: bad.token });
      using session = asPod(cluster, `${folder.path}/token`, new VirtualClock());
      await assert.rejects(whoAmI(session.client), {
        name: "ApiError",
        status: 401,
        message:
          "Cannot create SelfSubjectReview: the apiserver answered 401 Unauthorized: Unauthorized. The token has expired or is for another cluster. Log in again, or renew the kubeconfig",
      });
      await folder.write({ token: good.token });
      assert.equal(await whoAmI(session.client), "grace");
    },
  );

  await t.step("a pod reads its token file again after a minute", async () => {
    const clock = new VirtualClock();
    await folder.write({ token: (await cluster.user("first")).token });
    using session = asPod(cluster, `${folder.path}/token`, clock);
    assert.equal(await whoAmI(session.client), "first");
    await folder.write({ token: (await cluster.user("second")).token });
    assert.equal(await whoAmI(session.client), "first");
    for (const minute = clock.now() + 60_000; clock.step(minute););
    assert.equal(await whoAmI(session.client), "second");
  });

  await t.step("a pod with httpClient fetch reads, writes and watches", async () => {
    const { token } = await cluster.user("fetch", { groups: ["system:masters"] });
    const connection = await connectAsPod({ url: cluster.url, caCert: cluster.caCert, token }, { httpClient: "fetch" });
    using session = clientOf(connection);
    assert.equal(await whoAmI(session.client), "fetch");
    const stop = new AbortController();
    const { metadata } = await session.client.create(ConfigMap, { metadata: { name: "by-fetch", ...IN_DEFAULT } });
    const select = {
      ...IN_DEFAULT,
      fieldSelector: "metadata.name=by-fetch",
      sendInitialEvents: true,
      signal: stop.signal,
    };
    await using events = eventReader(session.client.watch(ConfigMap, select), stop);
    assert.equal((await events.next()).object.metadata.uid, metadata.uid);
  });

  const connections: Record<string, (url: string) => Promise<ReturnType<typeof clientOf>>> = {
    "with a kubeconfig": async (url) => {
      await folder.write({ config: cluster.admin.kubeconfig.replace(cluster.url, url) });
      return await clientBy(config);
    },
    "as a pod": async (url) => {
      await folder.write({ token: (await cluster.user("pod", { groups: ["system:masters"] })).token });
      return asPod({ url, caCert: cluster.caCert }, `${folder.path}/token`, new VirtualClock());
    },
  };
  for (const [access, open] of Object.entries(connections)) {
    await t.step(`${access}: requests and watches share one HTTP/2 connection`, async () => {
      using proxy = new ConnectionProxy(cluster.port);
      using session = await open(`https://127.0.0.1:${proxy.port}`);
      const { client } = session;
      await client.get(Namespace, "default");
      assert.equal(proxy.opened, 1);

      const stop = new AbortController();
      const watches = Array.from(
        { length: 20 },
        () => eventReader(client.watch(ConfigMap, { sendInitialEvents: true, signal: stop.signal }), stop),
      );
      await Promise.all(watches.map((watch) => watch.next()));
      const names = Array.from({ length: 200 }, (_, i) => `parallel-${i}`);
      await Promise.all(
        names.map((name) => client.create(ConfigMap, { metadata: { name, ...IN_DEFAULT } }, { dryRun: true })),
      );
      assert.deepEqual([proxy.opened, proxy.open], [1, 1]);
      for (const watch of watches) await watch[Symbol.asyncDispose]();
    });

    await t.step(`${access}: concurrent first requests share one connection`, async () => {
      using proxy = new ConnectionProxy(cluster.port);
      using session = await open(`https://127.0.0.1:${proxy.port}`);
      await Promise.all(Array.from({ length: 20 }, () => session.client.get(Namespace, "default")));
      await eventually(() => assert.equal(proxy.open, 1));
    });

    await t.step(`${access}: bodies and lists of several megabytes are sent and received`, async () => {
      using session = await open(cluster.url);
      const names = Array.from({ length: 6 }, (_, i) => `large-${i}`);
      const text = "ä".repeat(450_000);
      await Promise.all(
        names.map((name) => session.client.create(ConfigMap, { metadata: { name, ...IN_DEFAULT }, data: { text } })),
      );
      const all = await session.client.list(ConfigMap, IN_DEFAULT);
      assert.equal(all.filter(({ data }) => data?.text === text).length, names.length);
      await Promise.all(names.map((name) => session.client.delete(ConfigMap, name, IN_DEFAULT)));
    });

    for (const signal of ["SIGTERM", "SIGKILL"] as const) {
      await t.step(
        `${access}: a watch ends when the server gets ${signal}, and the client works once the server has restarted`,
        async () => {
          using session = await open(cluster.url);
          const { client } = session;
          const stop = new AbortController();
          const watch = client.watch(ConfigMap, { ...IN_DEFAULT, sendInitialEvents: true, signal: stop.signal });
          const { value } = await watch.next();
          const { resourceVersion } = value!.at(-1)!.object.metadata;

          const ended = readToEnd(watch);
          const restarted = cluster.restartApiserver({ signal });
          const end = await ended;
          await restarted;
          if (signal === "SIGTERM") assert.equal(end, undefined);
          else assert.equal((end as { code?: string }).code, "ConnectionLost");

          // The first request finds a dead connection, and the client repeats it.
          const name = `after-${signal.toLowerCase()}-${access.replaceAll(" ", "-")}`;
          await client.create(ConfigMap, { metadata: { name, ...IN_DEFAULT } });
          await admin.patch(ConfigMap, name, { data: { a: "1" } }, IN_DEFAULT);
          await using events = eventReader(
            client.watch(ConfigMap, { ...IN_DEFAULT, resourceVersion, signal: stop.signal }),
            stop,
          );
          let event: WatchEvent = await events.next();
          while (event.type === "BOOKMARK") event = await events.next();
          // After a restart, the server either responds with 410 or returns the events since the
          // version.
          if (event.type === "ERROR") assert.equal(event.object.code, 410);
          else assert.equal(event.object.metadata.name, name);
        },
      );
    }
  }

  await t.step("the error of a server that is down has its URL and the reason", async () => {
    await folder.write({ config: cluster.admin.kubeconfig });
    using session = await clientBy(config);
    await cluster.stopApiserver({ signal: "SIGKILL" });
    await assert.rejects(session.client.get(Namespace, "default"), {
      message: `Cannot get Namespace "default": no response from "${cluster.url}": ` +
        "connection refused. Check that the API server is running, and its address",
    });
  });
});

/** Connects as a pod does, but by URL: the API server's name resolves only in a pod. */
function asPod(cluster: { url: string; caCert: string }, path: string, clock: VirtualClock) {
  const transport = new Http2Transport({ ca: () => cluster.caCert, clock });
  const token = tokenFile(path, denoMachine, clock);
  return clientOf({
    url: cluster.url,
    ...withToken(transport, token),
    reset: () => transport.reset(),
    close: () => transport.close(),
  });
}

async function whoAmI(client: Client): Promise<string | undefined> {
  const { status } = await client.create(SelfSubjectReview, {});
  return status.userInfo?.username;
}

function kubeconfig(server: string, cluster: Record<string, string>, user: Record<string, string>): string {
  return stringify({
    kind: "Config",
    clusters: [{ name: "real", cluster: { server, ...cluster } }],
    users: [{ name: "me", user }],
    contexts: [{ name: "real", context: { cluster: "real", user: "me" } }],
    "current-context": "real",
  });
}

/** Reads a watch to its end, and returns the error that it threw, if any. */
function readToEnd(watch: AsyncGenerator<WatchEvent[], void>): Promise<unknown> {
  const read = async (): Promise<void> => {
    for await (const _ of watch) { /* Only its end matters. */ }
  };
  return read().then(() => undefined, (error) => error);
}
