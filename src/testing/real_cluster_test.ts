import assert from "node:assert/strict";
import { parse } from "yaml";
import { cacheFolder, findControlPlane } from "./_control_plane.ts";
import { type RealCluster, realCluster } from "./real_cluster.ts";
import { eventually } from "../../tests/eventually.ts";

const found = await findControlPlane();
const ignore = found === undefined;
if (ignore) console.error('SKIPPED: tests of realCluster: no control plane. Run "deno run -A tools/control_plane.ts"');

const review = JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" });
const REVIEWS = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";

async function createConfigMap(cluster: RealCluster, name: string): Promise<void> {
  const body = JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name } });
  const response = await cluster.fetch(CONFIG_MAPS, { method: "POST", body });
  assert.equal(response.status, 201, await response.text());
}

async function statusOf(answer: Promise<Response>): Promise<number> {
  const response = await answer;
  await response.body?.cancel();
  return response.status;
}

Deno.test({ name: "realCluster", ignore }, async (t) => {
  await using cluster = await realCluster();

  await t.step("user has the given name and groups, and no permissions", async () => {
    const user = await cluster.user("system:serviceaccount:default:shop", { groups: ["robots"] });

    const { status } = await (await user.fetch(REVIEWS, { method: "POST", body: review })).json();
    assert.equal(status.userInfo.username, "system:serviceaccount:default:shop");
    assert.deepEqual(status.userInfo.groups.sort(), [
      "robots",
      "system:authenticated",
      "system:serviceaccounts",
      "system:serviceaccounts:default",
    ]);
    assert.equal(await statusOf(user.fetch(CONFIG_MAPS)), 403);
  });

  await t.step("certificateUser authenticates by the certificate in its kubeconfig", async () => {
    const user = await cluster.certificateUser("bob", { groups: ["system:masters"] });

    const { status } = await (await user.fetch(REVIEWS, { method: "POST", body: review })).json();
    assert.equal(status.userInfo.username, "bob");
    const config = parse(user.kubeconfig);
    assert.equal(config.clusters[0].cluster.server, cluster.url);
    assert.equal(atob(config.clusters[0].cluster["certificate-authority-data"]), cluster.caCert);
    assert.equal(atob(config.users[0].user["client-certificate-data"]), user.certificate);
    assert.equal(atob(config.users[0].user["client-key-data"]), user.key);
  });

  await t.step("expire invalidates an unused token at once", async () => {
    const user = await cluster.user("alice");

    await cluster.expire(user.token);

    assert.equal(await statusOf(user.fetch("/version")), 401);
  });

  await t.step("auditLog returns writes with user, object and status, and no reads", async () => {
    await createConfigMap(cluster, "audited");
    await statusOf(cluster.fetch(`${CONFIG_MAPS}/audited`));

    const events = (await cluster.auditLog()).filter((event) => event.objectRef?.name === "audited");

    assert.deepEqual(events.map((event) => [event.verb, event.user.username, event.objectRef?.resource]), [
      ["create", "admin", "configmaps"],
    ]);
    assert.equal(events[0]?.stage, "ResponseComplete");
    assert.equal(events[0]?.responseStatus?.code, 201);
    assert.equal(events[0]?.requestURI, CONFIG_MAPS);
  });

  await t.step("the API server issues and accepts tokens of service accounts", async () => {
    const accounts = "/api/v1/namespaces/default/serviceaccounts";
    await statusOf(cluster.fetch(accounts, { method: "POST", body: JSON.stringify({ metadata: { name: "shop" } }) }));
    const request = JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} });
    const answer = await (await cluster.fetch(`${accounts}/shop/token`, { method: "POST", body: request })).json();

    const client = Deno.createHttpClient({ caCerts: [cluster.caCert] });
    const headers = { Authorization: `Bearer ${answer.status.token}`, "Content-Type": "application/json" };
    const response = await fetch(cluster.url + REVIEWS, { method: "POST", body: review, headers, client });
    const { status } = await response.json();
    client.close();

    assert.equal(status.userInfo.username, "system:serviceaccount:default:shop");
  });

  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    await t.step(`restartApiserver with ${signal} preserves port, data and tokens`, async () => {
      const name = `before-${signal.toLowerCase()}`;
      const user = await cluster.user("system:admin", { groups: ["system:masters"] });
      await createConfigMap(cluster, name);
      const before = cluster.pids;

      await cluster.restartApiserver({ signal });

      assert.equal(await statusOf(user.fetch(`${CONFIG_MAPS}/${name}`)), 200);
      assert.notDeepEqual(cluster.pids, before);
    });
  }

  await t.step("stopApiserver refuses connections until startApiserver", async () => {
    await cluster.stopApiserver({ signal: "SIGKILL" });

    await assert.rejects(cluster.fetch("/version"), TypeError);
    await cluster.startApiserver();
    assert.equal(await statusOf(cluster.fetch("/version")), 200);
    await assert.rejects(cluster.startApiserver(), { message: "startApiserver(): the API server is already running" });
  });
});

Deno.test({ name: "realCluster removes its processes and files when it is disposed of", ignore }, async () => {
  const cluster = await realCluster({ controllerManager: true });
  const { pids, folder } = cluster;
  assert.equal(pids.length, 3);
  assert(pids.every(isAlive));

  await cluster[Symbol.asyncDispose]();

  assert.deepEqual(pids.filter(isAlive), []);
  await assert.rejects(Deno.stat(folder), Deno.errors.NotFound);
});

const TERMINATIONS = [
  { name: "when the test process is killed", signal: "SIGKILL", toAll: false },
  // As when a CI job is canceled or a terminal is closed: the shells also receive the signal.
  { name: "when the test process and its descendants are terminated", signal: "SIGTERM", toAll: true },
] as const;

for (const { name, signal, toAll } of TERMINATIONS) {
  Deno.test({ name: `realCluster removes its processes and files ${name}`, ignore }, async () => {
    const script = `
      import { realCluster } from ${JSON.stringify(import.meta.resolve("./real_cluster.ts"))};
      const { pids, folder } = await realCluster({ controllerManager: true });
      console.log(JSON.stringify({ pids, folder }));
    `;
    const process = new Deno.Command(Deno.execPath(), {
      args: ["eval", script],
      cwd: new URL("../../", import.meta.url),
      stdout: "piped",
      stderr: "null",
    }).spawn();
    const { pids, folder } = JSON.parse(await firstLine(process.stdout)) as { pids: number[]; folder: string };
    const initiallyAlive = pids.filter(isAlive);
    for (const pid of toAll ? [...descendants(process.pid), process.pid] : [process.pid]) Deno.kill(pid, signal);
    await process.status;

    assert.deepEqual(initiallyAlive, pids);
    await eventually(() => assert.deepEqual(pids.filter(isAlive), [], "these processes are still running"));
    await eventually(() => assert(!exists(folder), `"${folder}" still exists`));
  });
}

Deno.test("realCluster reports the name of a program that is missing in the folder", async () => {
  const assets = await Deno.makeTempDir();
  try {
    await assert.rejects(realCluster({ assets }), {
      message: `realCluster(): "${assets}" (from option) has no "etcd". ` +
        'Run "deno run -A tools/control_plane.ts" to build them, or set KUBEBUILDER_ASSETS to a folder with them',
    });
  } finally {
    await Deno.remove(assets, { recursive: true });
  }
});

Deno.test(
  { name: "realCluster reports the log of a program that fails to start", ignore },
  async () => {
    await assert.rejects(
      realCluster({ apiserverArgs: ["--no-such-flag"] }),
      /a program ended with code 1\. The log ends with:[^]*unknown flag: --no-such-flag/,
    );
  },
);

function isAlive(pid: number): boolean {
  // The command line of a zombie is empty.
  try {
    return Deno.readTextFileSync(`/proc/${pid}/cmdline`) !== "";
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** Returns the ids of all descendants of a process. */
function descendants(pid: number): number[] {
  const children = Deno.readTextFileSync(`/proc/${pid}/task/${pid}/children`).trim().split(" ").filter(Boolean);
  return children.map(Number).flatMap((child) => [child, ...descendants(child)]);
}

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  let text = "";
  for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.includes("\n")) break;
  }
  return text.split("\n")[0] ?? "";
}

Deno.test("realCluster suggests the build command for a version that is not in the cache", async () => {
  await assert.rejects(realCluster({ version: "v1.2.3" }), {
    message: "realCluster(): no programs of a control plane found. " +
      'Run "deno run -A tools/control_plane.ts v1.2.3" to build them',
  });
});

for (const version of await cachedVersions()) {
  Deno.test(`realCluster starts Kubernetes ${version}`, async () => {
    await using cluster = await realCluster({ version });
    const { gitVersion } = await (await cluster.fetch("/version")).json();
    assert.equal(gitVersion, version);
  });
}

/** Returns the versions that tools/control_plane.ts has built on this machine. */
async function cachedVersions(): Promise<string[]> {
  const folder = cacheFolder()?.replace(/\/[^/]*$/, "");
  if (folder === undefined) return [];
  const names = await Array.fromAsync(Deno.readDir(folder), ({ name }) => name).catch(() => []);
  const complete = await Promise.all(names.map((version) => findControlPlane({ version })));
  return names.filter((name, i) => name.startsWith("v") && complete[i]?.missing.length === 0);
}
