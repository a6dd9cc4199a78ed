/** `op start`, `op dev`, `op plan` and `op doctor` on a real API server. */
import assert from "node:assert/strict";
import { mainModule, operatorFolder } from "../../cli/_operator_folder.ts";
import { cli } from "../../cli/cli.ts";
import {
  ClusterRole,
  ConfigMap,
  CustomResourceDefinition,
  Lease,
  ValidatingWebhookConfiguration,
} from "../../src/kinds/mod.ts";
import type { Client } from "../../src/kube/client.ts";
import { openProxy } from "../../cli/proxy/proxy.ts";
import { findKind } from "../../src/kube/discovery.ts";
import { type RealCluster, realCluster } from "../../src/testing/real_cluster.ts";
import { adminClient } from "../fixtures/watched.ts";
import { RunningIo } from "../fixtures/running_io.ts";
import { isAllowed } from "../fixtures/service_account.ts";
import { eventually } from "../eventually.ts";

const MAIN = `
const Note = resource({ group: "demo.example.com", version: "v1", kind: "Note", spec: s.object({ text: s.string() }), status: s.object({ length: s.optional(s.integer()) }) });
const notes = controller(Note, {
  owns: [ConfigMap],
  async reconcile(note, { apply, status }) {
    await apply(ConfigMap, { metadata: { name: note.metadata.name }, data: { text: PREFIX + note.spec.text } });
    status({ length: note.spec.text.length });
  },
  cleanup() {},
});
export default operator({ name: "notes", version: "1.2.0", health: false, parts: { notes } });
`;
/** Returns the body of the main module. Its operator adds a prefix to each text. */
const body = (prefix: string) => `const PREFIX = ${JSON.stringify(prefix)};${MAIN}`;
const main = (prefix: string) => mainModule(body(prefix));

/** A rule of a role with one API group, one resource and one verb. */
interface Rule {
  readonly apiGroups: readonly [string];
  readonly resources: readonly [string];
  readonly verbs: readonly [string];
}

/** Waits until a function returns a value other than `undefined`, and returns the value. */
async function untilDefined<T>(read: () => Promise<T | undefined>): Promise<T> {
  return await eventually(async () => {
    const value = await read();
    assert(value !== undefined, `${read} returned undefined`);
    return value;
  });
}

function textOf(client: Client, name: string): Promise<string | undefined> {
  return client.get(ConfigMap, name, { namespace: "default" }).then(({ data }) => data?.text, () => undefined);
}

async function createNote(client: Client, name: string, metadata: object = {}): Promise<void> {
  // The API server adds a new definition to discovery with a delay.
  const Note = await eventually(() => findKind(client, "notes.demo.example.com"));
  await client.create(Note, { metadata: { name, namespace: "default", ...metadata }, spec: { text: name } });
}

/** A proxy to the cluster that counts an account's lists and watches by path. */
function countingProxy(
  cluster: RealCluster,
  account: string,
): AsyncDisposable & { readonly kubeconfig: string; readonly reads: string[] } {
  const reads: string[] = [];
  const proxy = openProxy({
    async forward({ method, url, headers, body, signal }) {
      if (method === "GET" && headers.get("impersonate-user") === account) reads.push(url.pathname);
      return await cluster.admin.fetch(url.pathname + url.search, {
        method,
        headers,
        signal,
        ...(body === undefined ? {} : { body }),
      });
    },
  });
  return { kubeconfig: proxy.kubeconfig, reads, [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose]() };
}

Deno.test("op start, op dev, op plan and op doctor work on a real API server", async (t) => {
  await using cluster = await realCluster({ audit: "everything" });
  await using folder = await operatorFolder(body(""));
  const client = adminClient(cluster);
  await folder.write("kubeconfig", cluster.admin.kubeconfig);
  const op = (...args: string[]) => folder.op(...args, "--kubeconfig", "kubeconfig");
  const account = "system:serviceaccount:notes-system:notes";

  await t.step("op plan and op doctor report missing definitions and a missing ServiceAccount", async () => {
    const planned = await op("plan");
    assert.equal(planned.code, 1);
    assert.match(planned.stderr, /^Cannot plan "notes": notes\.demo\.example\.com is not installed in https:/);
    const diagnosed = await op("doctor");
    assert.equal(diagnosed.code, 1);
    assert.match(diagnosed.stdout, /^ok {8}server {7}https:\S+ is Kubernetes v1\.\d+\.\d+$/m);
    assert.match(
      diagnosed.stdout,
      /^error {5}installed {4}"notes" is not installed in https:\S+\. Run "op deploy"\.$/m,
    );
    assert.equal(diagnosed.stdout.trimEnd().split("\n").length, 2);
    assert.match(diagnosed.stderr, /^1 of 2 findings on "notes" is an error\n$/);

    assert.equal((await folder.op("crd", "print")).code, 0);
    await folder.write("crds.yaml", (await folder.op("crd", "print")).stdout);
    assert.equal((await op("deploy", "crds.yaml", "--no-wait")).code, 0);
    const partial = await op("doctor");
    assert.match(
      partial.stdout,
      /^error {5}rbac {9}ServiceAccount notes-system\/notes is not installed, so the/m,
    );
    assert.equal(partial.stdout.match(/ rbac /g)?.length, 1);
    await client.delete(CustomResourceDefinition, "notes.demo.example.com");
    await eventually(async () => (await client.list(CustomResourceDefinition)).length === 0);
  });

  await t.step(
    "op dev installs kinds and RBAC rules, runs as the account, and restarts when a file is saved",
    async () => {
      const io = new RunningIo(folder.path);
      await using proxy = countingProxy(cluster, account);
      await folder.write("counted", proxy.kubeconfig);
      const ended = cli(["dev", "--kubeconfig", "counted"], io);
      await io.waitForOutput(/Controller started/, 1, ended);
      assert.match(io.stdout, /^applied CustomResourceDefinition notes\.demo\.example\.com$/m);
      assert.match(io.stdout, new RegExp(`^Running as ${account}\\. Save a file`, "m"));
      await createNote(client, "one");
      assert.equal(await untilDefined(() => textOf(client, "one")), "one");
      const before = [...proxy.reads];
      assert.deepEqual([...new Set(before)].sort(), ["/api/v1/configmaps", "/apis/demo.example.com/v1/notes"]);

      await folder.write("main.ts", main("new "));
      await io.waitForOutput(/Controller started/, 2, ended);
      await eventually(async () => assert.equal(await textOf(client, "one"), "new one"));
      assert.deepEqual(proxy.reads, before, "the new process listed or watched again");
      assert.match(io.stderr, /"msg":"Controller started".*"objects":1}/);

      await folder.write("main.ts", `${main("new ")} {`);
      await io.waitForOutput(/The earlier version keeps running/, 1, ended);
      await createNote(client, "two");
      assert.equal(await untilDefined(() => textOf(client, "two")), "new two");

      // One more kind, which needs one more permission.
      await folder.write("main.ts", main("new ").replace("owns: [ConfigMap]", "owns: [ConfigMap, Secret]"));
      await io.waitForOutput(/^applied ClusterRole notes$/, 2, ended);
      await io.waitForOutput(/Controller started/, 3, ended);
      io.end();
      assert.equal(await ended, 0, io.stderr);
    },
  );

  await t.step("op dev rejects a change that breaks stored objects, and the previous version continues", async () => {
    const renamed = (prefix: string) =>
      main(prefix).replaceAll("text: s.", "words: s.").replaceAll("spec.text", "spec.words");
    await folder.write("main.ts", main("new "));
    const io = new RunningIo(folder.path);
    const ended = cli(["dev", "--kubeconfig", "kubeconfig"], io);
    await io.waitForOutput(/Controller started/, 1, ended);
    await folder.write("main.ts", renamed("rejected "));
    await io.waitForOutput(/The earlier version keeps running/, 1, ended);
    assert.match(
      io.stderr,
      /^Cannot apply breaking changes: 2 of 2 stored objects [^\n]*"notes\.demo\.example\.com" \(v1\):\n {2}spec\.text is dropped: 2 objects, for example Note default\/one\n {2}spec\.words is not valid: Required value: 2 objects, for example Note default\/one\n/m,
    );
    assert.match(io.stderr, /--allow-breaking\.$/m);
    await createNote(client, "continued");
    assert.equal(await untilDefined(() => textOf(client, "continued")), "new continued");

    await folder.write("main.ts", main("fixed "));
    await io.waitForOutput(/Controller started/, 2, ended);
    await eventually(async () => assert.equal(await textOf(client, "continued"), "fixed continued"));
    const Note = await findKind(client, "notes.demo.example.com");
    const { spec } = await client.get(Note, "one", { namespace: "default" });
    assert.deepEqual(spec, { text: "one" });
    await client.delete(Note, "continued", { namespace: "default" });
    await folder.write("main.ts", main("new "));
    await io.waitForOutput(/Controller started/, 3, ended);
    io.end();
    assert.equal(await ended, 0, io.stderr);

    await folder.write("main.ts", renamed("rejected "));
    const rejected = await op("dev");
    assert.deepEqual([rejected.code, /^Cannot apply breaking changes: 2 of 2 /m.test(rejected.stderr)], [1, true]);
  });

  await t.step(
    "op dev runs code with type errors, reports them, and reports when they are fixed",
    async () => {
      const io = new RunningIo(folder.path);
      await folder.write("main.ts", main("typed ").replace("note.spec.text }", "note.spec.txet }"));
      const ended = cli(["dev", "--kubeconfig", "kubeconfig"], io);
      await io.waitForOutput(/Controller started/, 1, ended);
      await eventually(async () => assert.equal(await textOf(client, "one"), "typed undefined"));
      await io.waitForOutput(/Type check failed; the operator keeps running/, 1, ended);
      assert.match(io.stderr, /TS2339 \[ERROR\]: Property 'txet' does not exist/);
      assert.match(io.stderr, /^ +at main\.ts:\d+:\d+$/m);
      await folder.write("main.ts", main("new "));
      await io.waitForOutput(/Types are correct again/, 1, ended);
      await eventually(async () => assert.equal(await textOf(client, "one"), "new one"));
      io.end();
      assert.equal(await ended, 0, io.stderr);
    },
  );

  await t.step("op plan reports the writes that an operator would make, and makes none", async () => {
    await folder.write("main.ts", main("planned "));
    await createNote(client, "three");
    const writes = async () =>
      (await cluster.auditLog()).filter(({ verb, requestURI }) =>
        !["get", "list", "watch"].includes(verb) && !requestURI.includes("dryRun=All") &&
        !/reviews|events|leases/.test(requestURI)
      ).length;
    const before = await writes();
    const planned = await op("plan");
    assert.equal(planned.code, 0, planned.stderr);
    assert.match(
      planned.stdout,
      /^apply ConfigMap default\/one\n(?: .*\n)* {2}- {2}text: new one\n {2}\+ {2}text: planned one\n/m,
    );
    assert.match(planned.stdout, /^apply ConfigMap default\/three\n(?: {2}\+.*\n)+/m);
    assert.match(planned.stdout, /^patch Note default\/three \(status\)\n(?: .*\n)* {2}\+ {2}length: 5\n/m);
    assert.match(planned.stdout, /^\d+ writes? planned, nothing was stored\n$/m);
    assert.equal(await writes(), before);
    assert.equal(await textOf(client, "three"), undefined);

    const checked = await op("plan", "--check", "-o", "json", "--as-account");
    assert.equal(checked.code, 1);
    const plan = JSON.parse(checked.stdout) as {
      verb: string;
      kind: string;
      name: string;
      after?: { data?: object };
    }[];
    assert.deepEqual(plan.find(({ kind, name }) => kind === "ConfigMap" && name === "three")?.after?.data, {
      text: "planned three",
    });
  });

  await t.step("op start runs a file outside of a project, and passes the arguments after -- to it", async () => {
    const directory = await Deno.makeTempDir();
    try {
      const text = body("alone ");
      await Deno.writeTextFile(
        `${directory}/alone.ts`,
        `import { controller, operator, resource, s } from "@op/sdk";\nimport { ConfigMap } from "@op/sdk/kinds";\n${text}`,
      );
      const io = new RunningIo(folder.path);
      const ended = cli([
        "start",
        `${directory}/alone.ts`,
        "--kubeconfig",
        "kubeconfig",
        "-l",
        "debug",
        "--",
        "--log-format=text",
      ], io);
      await io.waitForOutput(/Controller started/, 1, ended);
      assert.equal(await untilDefined(() => textOf(client, "three")), "alone three");
      assert.match(io.stderr, /Reconcile started/);
      io.end();
      assert.equal(await ended, 0, io.stderr);
    } finally {
      await Deno.remove(directory, { recursive: true });
    }
    const wrong = await folder.op("start", "--kubeconfig", "kubeconfig", "--", "--log-levle=debug");
    assert.equal(wrong.code, 2);
    await folder.write("operator.toml", "[operator]\nlog_levle = 'debug'\n");
    const typo = await op("start");
    assert.equal(typo.code, 2);
    assert.match(typo.stderr, /operator\.toml": unknown key "log_levle"\. Did you mean "log_level"\?/);
    await Deno.remove(`${folder.path}/operator.toml`);
  });

  await t.step(
    "op doctor reports no error in a healthy installation, and reports each error that the test introduces",
    async () => {
      await folder.write("main.ts", main(""));
      const healthy = await op("doctor");
      assert.equal(healthy.code, 0, healthy.stdout);
      assert.match(healthy.stdout, /^ok {8}rbac {9}\S+:notes has all \d+ RBAC permissions$/m);
      assert.match(healthy.stdout, /^ok {8}finalizers {3}no deletion is stuck \(3 objects checked\)$/m);
      assert.match(healthy.stdout, /^warning {3}leader {7}Lease notes-system\/notes does not exist/m);

      const renewTime = new Date(Date.now() - 60_000).toISOString().replace("Z", "000Z");
      await client.create(Lease, {
        metadata: { name: "notes", namespace: "notes-system" },
        spec: { holderIdentity: "pod-1", leaseDurationSeconds: 15, renewTime },
      });
      const Note = await findKind(client, "notes.demo.example.com");
      await client.delete(Note, "one", { namespace: "default" });
      const { rules = [] } = await client.get(ClusterRole, "notes");
      await client.patch(ClusterRole, "notes", { rules: rules.slice(1) });
      const [{ apiGroups: [group], resources: [resource], verbs: [verb] }] = rules as [Rule];
      await eventually(async () => assert.equal(await isAllowed(cluster, account, { group, resource, verb }), false));
      const crd = await client.get(CustomResourceDefinition, "notes.demo.example.com");
      const versions = JSON.parse(
        JSON.stringify(crd.spec.versions).replace('"text":{"type":"string"}', '"text":{"type":"string","maxLength":5}'),
      );
      await client.patch(CustomResourceDefinition, "notes.demo.example.com", { spec: { versions } });
      await client.create(ValidatingWebhookConfiguration, {
        metadata: { name: "notes" },
        webhooks: [{
          name: "a.example.com",
          admissionReviewVersions: ["v1"],
          sideEffects: "None",
          failurePolicy: "Ignore",
          clientConfig: { service: { namespace: "notes-system", name: "notes-webhook" } },
          rules: [],
        }],
      });
      const unhealthy = await op("doctor", "--stuck-after", "0", "-o", "json");
      assert.equal(unhealthy.code, 1, unhealthy.stdout);
      const errors = (JSON.parse(unhealthy.stdout) as { check: string; verdict: string; message: string }[]).filter((
        { verdict },
      ) => verdict === "error");
      const message = (check: string) =>
        errors.filter((one) => one.check === check).map(({ message }) => message).join("\n");
      assert.match(message("kinds"), /^notes\.demo\.example\.com differs from the declaration in 1 place: v1 .*text/);
      assert.match(message("rbac"), /may not list notes\.demo\.example\.com/);
      const [, seconds] =
        /^pod-1 holds Lease notes-system\/notes but renewed it (\d+) s ago\. The lease expires after 15 s\./
          .exec(message("leader")) ?? assert.fail(message("leader"));
      assert(Number(seconds) >= 60, `${seconds} s`);
      assert.match(
        message("finalizers"),
        /^Note default\/one has been waiting for its deletion for \d+ s\. Its finalizers: demo\.example\.com\/notes\.notes\. See the operator's log/,
      );
      assert.match(message("certificate"), /^notes\/a\.example\.com has no certificate authority/);
      assert.match(
        message("webhooks"),
        /^Service notes-system\/notes-webhook, which the webhooks call, does not exist$/,
      );
    },
  );

  await t.step("op doctor reports a server that cannot be reached", async () => {
    await folder.write("gone", cluster.admin.kubeconfig.replaceAll(String(cluster.port), "1"));
    const unreachable = await folder.op("doctor", "--kubeconfig", "gone");
    assert.equal(unreachable.code, 1);
    assert.match(unreachable.stderr, /^Cannot read "\/version": /);
  });
});
