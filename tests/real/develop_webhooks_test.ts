/**
 * `op dev` registers the webhooks of this machine with a real API server, and always reverts that.
 */
import assert from "node:assert/strict";
import { type OperatorFolder, operatorFolder } from "../../cli/_operator_folder.ts";
import { cli } from "../../cli/cli.ts";
import {
  CustomResourceDefinition,
  Deployment,
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from "../../src/kinds/mod.ts";
import type { Client } from "../../src/kube/client.ts";
import { realCluster } from "../../src/testing/real_cluster.ts";
import { adminClient } from "../fixtures/watched.ts";
import { RunningIo } from "../fixtures/running_io.ts";
import { eventually } from "../eventually.ts";

const ROOT = new URL("../../", import.meta.url).href;

const main = (longest: number) =>
  `import { conversion, deny, operator, resource, s, webhook } from "${ROOT}mod.ts";
const names = { group: "dev.example.com", kind: "Note" } as const;
const NoteV1 = resource({ ...names, version: "v1", spec: s.object({ text: s.string() }) });
const Note = resource({ ...names, version: "v2", spec: s.object({ lines: s.array(s.string()) }), versions: [NoteV1] });
const noteV1 = conversion(NoteV1, Note, {
  up: ({ spec }) => ({ spec: { lines: spec.text.split(" ") } }),
  down: ({ spec }) => ({ spec: { text: spec.lines.join(" ") } }),
});
const noteRules = webhook(Note, {
  mutate(note) {
    note.metadata.labels = { ...note.metadata.labels, lines: String(note.spec.lines.length) };
  },
  validate({ spec }) {
    if (spec.lines.length > ${longest}) throw deny("at most ${longest} lines", { field: "spec.lines" });
  },
});
export default operator({ name: "notes", health: false, parts: { noteV1, noteRules } });
`;

const NOTES = "/apis/dev.example.com/v1/namespaces/default/notes";
const DEFINITION = "notes.dev.example.com";
type Fetch = (path: string, init?: RequestInit) => Promise<Response>;

/** Tries to create a note with a number of lines, in a dry run. */
async function asked(fetch: Fetch, lines: number): Promise<{ readonly status: number; readonly told: string }> {
  const response = await fetch(`${NOTES}?dryRun=All`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      apiVersion: "dev.example.com/v1",
      kind: "Note",
      metadata: { generateName: "note-" },
      spec: { text: Array(lines).fill("x").join(" ") },
    }),
  });
  const { metadata, message } = await response.json();
  return { status: response.status, told: message ?? JSON.stringify(metadata.labels) };
}

/** Resolves when the server, which applies configurations with a delay, responds as expected. */
async function untilAsked(fetch: Fetch, lines: number, status: number): Promise<string> {
  return await eventually(async () => {
    const answer = await asked(fetch, lines);
    assert.equal(answer.status, status, `${lines} lines: ${answer.told}`);
    return answer.told;
  });
}

/** Returns the names of the registered configurations, and where the definition is converted. */
async function registered(client: Client): Promise<string[]> {
  const { spec, metadata } = await client.get(CustomResourceDefinition, DEFINITION);
  return [
    ...await client.list(MutatingWebhookConfiguration),
    ...await client.list(ValidatingWebhookConfiguration),
  ].map(({ kind, metadata }) => `${kind} ${metadata.name}`).concat(
    spec.conversion?.strategy ?? "None",
    ...Object.keys(metadata.annotations ?? {}).filter((key) => key.startsWith("op/")),
  );
}

const ALL = [
  "MutatingWebhookConfiguration notes-dev",
  "ValidatingWebhookConfiguration notes-dev",
  "Webhook",
  "op/dev-conversion-before",
  "op/dev-lease",
];

/** Starts an `op dev` and kills it after it has registered its webhooks. */
async function leftByKilled(folder: OperatorFolder, dev: readonly string[], fetch: Fetch): Promise<void> {
  await folder.write("main.ts", main(2));
  const process = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", new URL("cli/main.ts", ROOT).href, ...dev],
    cwd: folder.path,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let told = "";
  const isRunning = Promise.withResolvers<void>();
  // The pipe that the operator's own process holds open ends with it.
  const pipes = [process.stdout, process.stderr].map(async (pipe) => {
    for await (const text of pipe.pipeThrough(new TextDecoderStream())) {
      told += text;
      if (/^Running as /m.test(told)) isRunning.resolve();
    }
    isRunning.reject(new Error(told));
  });
  isRunning.promise.catch(() => {});
  await isRunning.promise;
  await untilAsked(fetch, 3, 422);
  process.kill("SIGKILL");
  await process.status;
  await Promise.all(pipes);
}

Deno.test("a real API server calls the webhooks of this machine through op dev", async (t) => {
  await using cluster = await realCluster();
  await using folder = await operatorFolder("");
  await folder.write("main.ts", main(2));
  await folder.write("kubeconfig", cluster.admin.kubeconfig);
  const client = adminClient(cluster);
  const fetch: Fetch = (path, init) => cluster.fetch(path, init);
  const dev = ["dev", "--kubeconfig", "kubeconfig"];

  await t.step(
    "webhooks mutate, deny and convert; saving a file fails no call; stopping removes them all",
    async () => {
      const io = new RunningIo(folder.path);
      const ended = cli(dev, io);
      await io.says(/^Running as system:serviceaccount:notes-system:notes\./, 1, ended);
      assert.match(io.stdout, /^Webhooks are called at https:\/\/127\.0\.0\.1:\d+$/m);
      assert.deepEqual(await registered(client), ALL);
      assert.match(await untilAsked(fetch, 3, 422), /denied the request: .* spec\.lines: at most 2 lines$/);
      // The server applies the two configurations one after the other.
      await eventually(async () => assert.equal((await asked(fetch, 2)).told, '{"lines":"2"}'));

      let isOver = false;
      const answers: { status: number; told: string }[] = [];
      const asking = (async () => {
        while (!isOver) answers.push(await asked(fetch, 1));
      })();
      await folder.write("main.ts", main(4));
      await io.says(/was saved, restarting/, 1, ended);
      await untilAsked(fetch, 3, 201);
      isOver = true;
      await asking;
      assert.deepEqual(answers.filter(({ status }) => status !== 201), []);
      assert.match((await asked(fetch, 5)).told, /at most 4 lines$/);

      io.end();
      assert.equal(await ended, 0, io.stderr);
      assert.deepEqual(await registered(client), ["None"]);
    },
  );

  await t.step(
    "a killed op dev leaves its webhooks but no process, and the next start restores everything",
    async () => {
      await leftByKilled(folder, dev, fetch);
      assert.deepEqual(await registered(client), ALL);
      // The server cannot reach the webhook, so it rejects the request.
      assert.match(await untilAsked(fetch, 1, 500), /connection refused/);
      const { stdout } = await folder.op("doctor", "--kubeconfig", "kubeconfig");
      assert.match(stdout, /^warning +webhooks +ValidatingWebhookConfiguration notes-dev calls an "op dev" /m);

      const io = new RunningIo(folder.path);
      const ended = cli(dev, io);
      await io.says(/^Running as /, 1, ended);
      assert.deepEqual(
        io.stdout.split("\n").filter((line) => line.startsWith("removed")),
        [
          "MutatingWebhookConfiguration notes-dev",
          "ValidatingWebhookConfiguration notes-dev",
          `the conversion of ${DEFINITION}`,
        ].map((one) => `removed ${one} of an earlier "op dev"`),
      );
      await untilAsked(fetch, 3, 422);
      io.end();
      assert.equal(await ended, 0, io.stderr);
      assert.deepEqual(await registered(client), ["None"]);
    },
  );

  await t.step("if the API server cannot reach this machine, op dev reports it and registers no webhook", async () => {
    const io = new RunningIo(folder.path);
    const ended = cli([...dev, "--webhook-url", "https://127.0.0.1:1"], io);
    await io.says(/^Running as /, 1, ended);
    await io.says(
      /^Webhooks are not called: the API server does not reach https:\/\/127\.0\.0\.1:1 \(.*connection refused.*\)\. Use --webhook-url with the URL at which it reaches port \d+ of this machine, or --skip-webhook-server\.$/,
      1,
      ended,
    );
    assert.deepEqual(await registered(client), ["None"]);
    io.end();
    assert.equal(await ended, 0, io.stderr);
    const wrong = new RunningIo(folder.path);
    assert.equal(await cli([...dev, "--webhook-url", "http://machine"], wrong), 2);
  });

  await t.step("op uninstall reverts what a killed op dev left", async () => {
    await leftByKilled(folder, dev, fetch);
    assert.deepEqual(await registered(client), ALL);
    const uninstall = ["uninstall", "--kubeconfig", "kubeconfig"];
    const left = [
      "MutatingWebhookConfiguration notes-dev",
      "ValidatingWebhookConfiguration notes-dev",
      `the conversion of ${DEFINITION}`,
    ];
    const lines = (text: string, of: string) =>
      text.split("\n").filter((line) => line.startsWith(of) && line.endsWith(', left by "op dev"'));
    const told = await folder.op(...uninstall);
    assert.equal(told.code, 2, told.stderr);
    assert.deepEqual(lines(told.stdout, "would delete"), left.map((one) => `would delete ${one}, left by "op dev"`));
    assert.deepEqual(await registered(client), ALL);
    const gone = await folder.op(...uninstall, "--yes");
    assert.equal(gone.code, 0, gone.stderr);
    assert.deepEqual(lines(gone.stdout, "deleted"), left.map((one) => `deleted    ${one}, left by "op dev"`));
    assert.deepEqual(await registered(client), ["None"]);
    assert.equal((await folder.op(...uninstall)).stdout.includes("op dev"), false);
  });
});

Deno.test("op deploy, op dev and op start recognize an operator that runs elsewhere", async (t) => {
  await using cluster = await realCluster();
  await using folder = await operatorFolder("");
  await folder.write("main.ts", main(2));
  await folder.write("kubeconfig", cluster.admin.kubeconfig);
  const client = adminClient(cluster);
  const fetch: Fetch = (path, init) => cluster.fetch(path, init);
  const dev = ["dev", "--kubeconfig", "kubeconfig"];

  await t.step(
    "op deploy restores the conversion that a killed op dev changed, and a dry run only reports it",
    async () => {
      for (const args of [["manifests"], ["overlay", "prod"]]) {
        const made = await folder.op("generate", ...args);
        assert.equal(made.code, 0, made.stderr);
      }
      await leftByKilled(folder, dev, fetch);
      const deploy = ["deploy", "prod", "--no-wait", "--kubeconfig", "kubeconfig"];
      const would = await folder.op(...deploy, "--dry-run");
      assert.equal(would.code, 0, would.stderr);
      assert.match(
        would.stdout,
        /^would take over the conversion of notes\.dev\.example\.com from an "op dev" of \S+ that has/m,
      );
      assert.match(
        would.stdout,
        /^ {2}changed {4}CustomResourceDefinition notes\.dev\.example\.com \(not validated: its conv/m,
      );
      assert.deepEqual(await registered(client), ALL);
      const deployed = await folder.op(...deploy);
      assert.equal(deployed.code, 0, deployed.stderr);
      assert.match(
        deployed.stdout,
        /^took over the conversion of notes\.dev\.example\.com from an "op dev" of \S+ that has/m,
      );
      const { spec, metadata } = await client.get(CustomResourceDefinition, DEFINITION);
      assert.equal(spec.conversion?.webhook?.clientConfig?.service?.name, "notes-webhook");
      assert.deepEqual(metadata.annotations, undefined);
    },
  );

  await t.step("op dev does not start next to a deployed operator unless forced", async () => {
    const refused = await folder.op(...dev);
    assert.equal(refused.code, 1, refused.stdout);
    assert.match(
      refused.stderr,
      /^Cannot develop on https:\S+: "notes" already runs there: Deployment notes-system\/notes has 1 replica \(0 available\)\. .*kubectl scale -n notes-system deployment\/notes --replicas=0.*--alongside\.$/m,
    );
  });

  await t.step("op deploy does not change the conversion of a running op dev without --take-back", async () => {
    const deploy = ["deploy", "prod", "--no-wait", "--kubeconfig", "kubeconfig"];
    const io = new RunningIo(folder.path);
    const ended = cli([...dev, "--alongside"], io);
    await io.says(/^Running as /, 1, ended);
    assert.match(io.stderr, /^Warning: "notes" already runs there: Deployment/m);
    for (const more of [[], ["--dry-run"]]) {
      const refused = await folder.op(...deploy, ...more);
      assert.equal(refused.code, 1, refused.stdout);
      assert.match(
        refused.stderr,
        /^Cannot deploy "notes": "op dev" of \S+ \(renewed \d+ s ago\) serves the conversion of notes\.dev\.example\.com \(0 objects\)\. .*--take-back/m,
      );
    }
    const second = await folder.op(...dev);
    assert.equal(second.code, 1);
    assert.match(second.stderr, /; "op dev" of \S+ \(renewed \d+ s ago\) runs\. Both would write/);
    const taken = await folder.op(...deploy, "--take-back");
    assert.equal(taken.code, 0, taken.stderr);
    io.end();
    assert.equal(await ended, 0, io.stderr);
    const { spec } = await client.get(CustomResourceDefinition, DEFINITION);
    assert.equal(spec.conversion?.webhook?.clientConfig?.service?.name, "notes-webhook");
  });

  await t.step("op start warns about a deployed operator, and runs", async () => {
    await client.patch(Deployment, "notes", { spec: { replicas: 2 } }, { namespace: "notes-system" });
    const io = new RunningIo(folder.path);
    const ended = cli(["start", "--kubeconfig", "kubeconfig", "--skip-webhook-server"], io);
    await io.says(
      /^Warning: "notes" already runs in https:\S+: Deployment notes-system\/notes has 2 replicas/,
      1,
      ended,
    );
    io.end();
    await ended;
  });
});

Deno.test("op dev --local: the in-process API server calls the webhooks too", async () => {
  await using folder = await operatorFolder("");
  await folder.write("main.ts", main(2));
  const io = new RunningIo(folder.path);
  const ended = cli(["dev", "--local"], io);
  await io.says(/^Running as /, 1, ended);
  const text = await Deno.readTextFile(/export KUBECONFIG=(\S+)/.exec(io.stdout)![1]!);
  const { clusters: [{ cluster }], users: [{ user }] } = JSON.parse(text);
  using way = Deno.createHttpClient({ caCerts: [atob(cluster["certificate-authority-data"])] });
  const local: Fetch = (path, init) =>
    fetch(cluster.server + path, {
      ...init,
      headers: { ...init?.headers, authorization: `Bearer ${user.token}` },
      client: way,
    } as RequestInit);
  assert.match(await untilAsked(local, 3, 422), /at most 2 lines$/);
  await eventually(async () => assert.equal((await asked(local, 2)).told, '{"lines":"2"}'));
  io.end();
  assert.equal(await ended, 0, io.stderr);
});
