/**
 * `op dev` registers the webhooks of this machine with a real API server, and always removes them
 * again.
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

/** The response to a create request. */
interface CreateResponse {
  readonly status: number;
  /** The labels of the created note as JSON, or the message of the error. */
  readonly result: string;
}

/** Creates a note with a number of lines, in a dry run. */
async function createNote(fetch: Fetch, lines: number): Promise<CreateResponse> {
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
  return { status: response.status, result: message ?? JSON.stringify(metadata.labels) };
}

/**
 * Creates notes until the server responds with a status, because it applies configurations with a
 * delay. Returns the labels of the note, or the message of the error.
 */
async function untilCreated(fetch: Fetch, lines: number, expected: number): Promise<string> {
  return await eventually(async () => {
    const { status, result } = await createNote(fetch, lines);
    assert.equal(status, expected, `${lines} lines: ${result}`);
    return result;
  });
}

/**
 * Returns the names of the registered configurations, the conversion strategy of the definition,
 * and the annotations that `op` added to the definition.
 */
async function registrations(client: Client): Promise<string[]> {
  const { spec, metadata } = await client.get(CustomResourceDefinition, DEFINITION);
  return [
    ...await client.list(MutatingWebhookConfiguration),
    ...await client.list(ValidatingWebhookConfiguration),
  ].map(({ kind, metadata }) => `${kind} ${metadata.name}`).concat(
    spec.conversion?.strategy ?? "None",
    ...Object.keys(metadata.annotations ?? {}).filter((key) => key.startsWith("op/")),
  );
}

/** The result of {@linkcode registrations} while `op dev` runs. */
const ALL = [
  "MutatingWebhookConfiguration notes-dev",
  "ValidatingWebhookConfiguration notes-dev",
  "Webhook",
  "op/dev-conversion-before",
  "op/dev-lease",
];

/** The objects that a killed `op dev` leaves, as `op` prints them. */
const REMAINING = [
  "MutatingWebhookConfiguration notes-dev",
  "ValidatingWebhookConfiguration notes-dev",
  `the conversion of ${DEFINITION}`,
];

const DEV = ["dev", "--kubeconfig", "kubeconfig"];

/** A real API server, and a project that uses it. */
interface ProjectOnCluster extends AsyncDisposable {
  readonly folder: OperatorFolder;
  /** The administrator's client. */
  readonly client: Client;
  readonly fetch: Fetch;
}

async function projectOnCluster(): Promise<ProjectOnCluster> {
  await using stack = new AsyncDisposableStack();
  const cluster = stack.use(await realCluster());
  const folder = stack.use(await operatorFolder(""));
  await folder.write("main.ts", main(2));
  await folder.write("kubeconfig", cluster.admin.kubeconfig);
  const resources = stack.move();
  return {
    folder,
    client: adminClient(cluster),
    fetch: (path, init) => cluster.fetch(path, init),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** Starts an `op dev` and kills it after it has registered its webhooks. */
async function killAfterRegistration({ folder, fetch }: ProjectOnCluster): Promise<void> {
  await folder.write("main.ts", main(2));
  const process = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", new URL("cli/main.ts", ROOT).href, ...DEV],
    cwd: folder.path,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let output = "";
  const isRunning = Promise.withResolvers<void>();
  // The operator's process also holds the pipes open, so they end only when it has ended, too.
  const pipes = [process.stdout, process.stderr].map(async (pipe) => {
    for await (const text of pipe.pipeThrough(new TextDecoderStream())) {
      output += text;
      if (/^Running as /m.test(output)) isRunning.resolve();
    }
    isRunning.reject(new Error(output));
  });
  isRunning.promise.catch(() => {});
  await isRunning.promise;
  await untilCreated(fetch, 3, 422);
  process.kill("SIGKILL");
  await process.status;
  await Promise.all(pipes);
}

Deno.test("op dev registers the webhooks of this machine with a real API server, and removes them", async (t) => {
  await using project = await projectOnCluster();
  const { folder, client, fetch } = project;

  await t.step(
    "op dev registers webhooks that mutate, deny and convert, answers each call while it restarts, and removes them when it stops",
    async () => {
      const io = new RunningIo(folder.path);
      const ended = cli(DEV, io);
      await io.waitForOutput(/^Running as system:serviceaccount:notes-system:notes\./, 1, ended);
      assert.match(io.stdout, /^Webhooks are called at https:\/\/127\.0\.0\.1:\d+$/m);
      assert.deepEqual(await registrations(client), ALL);
      assert.match(await untilCreated(fetch, 3, 422), /denied the request: .* spec\.lines: at most 2 lines$/);
      // The server applies the two configurations one after the other.
      await eventually(async () => assert.equal((await createNote(fetch, 2)).result, '{"lines":"2"}'));

      let isStopped = false;
      const responses: CreateResponse[] = [];
      const creating = (async () => {
        while (!isStopped) responses.push(await createNote(fetch, 1));
      })();
      await folder.write("main.ts", main(4));
      await io.waitForOutput(/was saved, restarting/, 1, ended);
      await untilCreated(fetch, 3, 201);
      isStopped = true;
      await creating;
      assert.deepEqual(responses.filter(({ status }) => status !== 201), []);
      assert.match((await createNote(fetch, 5)).result, /at most 4 lines$/);

      io.end();
      assert.equal(await ended, 0, io.stderr);
      assert.deepEqual(await registrations(client), ["None"]);
    },
  );

  await t.step(
    "a killed op dev leaves its webhooks but no process, and the next op dev removes them",
    async () => {
      await killAfterRegistration(project);
      assert.deepEqual(await registrations(client), ALL);
      // The server cannot reach the webhook, so it rejects the request.
      assert.match(await untilCreated(fetch, 1, 500), /connection refused/);
      const { stdout } = await folder.op("doctor", "--kubeconfig", "kubeconfig");
      assert.match(stdout, /^warning +webhooks +ValidatingWebhookConfiguration notes-dev calls an "op dev" /m);

      const io = new RunningIo(folder.path);
      const ended = cli(DEV, io);
      await io.waitForOutput(/^Running as /, 1, ended);
      assert.deepEqual(
        io.stdout.split("\n").filter((line) => line.startsWith("removed")),
        REMAINING.map((object) => `removed ${object} of an earlier "op dev"`),
      );
      await untilCreated(fetch, 3, 422);
      io.end();
      assert.equal(await ended, 0, io.stderr);
      assert.deepEqual(await registrations(client), ["None"]);
    },
  );

  await t.step("op dev reports that the API server cannot reach this machine, and registers no webhook", async () => {
    const io = new RunningIo(folder.path);
    const ended = cli([...DEV, "--webhook-url", "https://127.0.0.1:1"], io);
    await io.waitForOutput(/^Running as /, 1, ended);
    await io.waitForOutput(
      /^Webhooks are not called: the API server does not reach https:\/\/127\.0\.0\.1:1 \(.*connection refused.*\)\. Use --webhook-url with the URL at which it reaches port \d+ of this machine, or --skip-webhook-server\.$/,
      1,
      ended,
    );
    assert.deepEqual(await registrations(client), ["None"]);
    io.end();
    assert.equal(await ended, 0, io.stderr);
    const wrong = new RunningIo(folder.path);
    assert.equal(await cli([...DEV, "--webhook-url", "http://machine"], wrong), 2);
  });

  await t.step("op uninstall removes the webhooks of a killed op dev, and restores the conversion", async () => {
    await killAfterRegistration(project);
    assert.deepEqual(await registrations(client), ALL);
    const uninstall = ["uninstall", "--kubeconfig", "kubeconfig"];
    const lines = (text: string, action: string) =>
      text.split("\n").filter((line) => line.startsWith(action) && line.endsWith(', left by "op dev"'));
    const preview = await folder.op(...uninstall);
    assert.equal(preview.code, 2, preview.stderr);
    assert.deepEqual(
      lines(preview.stdout, "would delete"),
      REMAINING.map((object) => `would delete ${object}, left by "op dev"`),
    );
    assert.deepEqual(await registrations(client), ALL);
    const uninstalled = await folder.op(...uninstall, "--yes");
    assert.equal(uninstalled.code, 0, uninstalled.stderr);
    assert.deepEqual(
      lines(uninstalled.stdout, "deleted"),
      REMAINING.map((object) => `deleted    ${object}, left by "op dev"`),
    );
    assert.deepEqual(await registrations(client), ["None"]);
    assert.equal((await folder.op(...uninstall)).stdout.includes("op dev"), false);
  });
});

Deno.test("op deploy, op dev and op start detect that the operator already runs", async (t) => {
  await using project = await projectOnCluster();
  const { folder, client } = project;

  await t.step(
    "op deploy restores the conversion that a killed op dev changed, and a dry run only reports it",
    async () => {
      for (const args of [["manifests"], ["overlay", "prod"]]) {
        const generated = await folder.op("generate", ...args);
        assert.equal(generated.code, 0, generated.stderr);
      }
      await killAfterRegistration(project);
      const deploy = ["deploy", "prod", "--no-wait", "--kubeconfig", "kubeconfig"];
      const dryRun = await folder.op(...deploy, "--dry-run");
      assert.equal(dryRun.code, 0, dryRun.stderr);
      assert.match(
        dryRun.stdout,
        /^would take over the conversion of notes\.dev\.example\.com from an "op dev" of \S+ that has/m,
      );
      assert.match(
        dryRun.stdout,
        /^ {2}changed {4}CustomResourceDefinition notes\.dev\.example\.com \(not validated: its conv/m,
      );
      assert.deepEqual(await registrations(client), ALL);
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
    const rejected = await folder.op(...DEV);
    assert.equal(rejected.code, 1, rejected.stdout);
    assert.match(
      rejected.stderr,
      /^Cannot develop on https:\S+: "notes" already runs there: Deployment notes-system\/notes has 1 replica \(0 available\)\. .*kubectl scale -n notes-system deployment\/notes --replicas=0.*--alongside\.$/m,
    );
  });

  await t.step("op deploy does not change the conversion of a running op dev without --take-back", async () => {
    const deploy = ["deploy", "prod", "--no-wait", "--kubeconfig", "kubeconfig"];
    const io = new RunningIo(folder.path);
    const ended = cli([...DEV, "--alongside"], io);
    await io.waitForOutput(/^Running as /, 1, ended);
    assert.match(io.stderr, /^Warning: "notes" already runs there: Deployment/m);
    for (const more of [[], ["--dry-run"]]) {
      const rejected = await folder.op(...deploy, ...more);
      assert.equal(rejected.code, 1, rejected.stdout);
      assert.match(
        rejected.stderr,
        /^Cannot deploy "notes": "op dev" of \S+ \(renewed \d+ s ago\) serves the conversion of notes\.dev\.example\.com \(0 objects\)\. .*--take-back/m,
      );
    }
    const second = await folder.op(...DEV);
    assert.equal(second.code, 1);
    assert.match(second.stderr, /; "op dev" of \S+ \(renewed \d+ s ago\) runs\. Both would write/);
    const forced = await folder.op(...deploy, "--take-back");
    assert.equal(forced.code, 0, forced.stderr);
    io.end();
    assert.equal(await ended, 0, io.stderr);
    const { spec } = await client.get(CustomResourceDefinition, DEFINITION);
    assert.equal(spec.conversion?.webhook?.clientConfig?.service?.name, "notes-webhook");
  });

  await t.step("op start warns about a deployed operator, and runs", async () => {
    await client.patch(Deployment, "notes", { spec: { replicas: 2 } }, { namespace: "notes-system" });
    const io = new RunningIo(folder.path);
    const ended = cli(["start", "--kubeconfig", "kubeconfig", "--skip-webhook-server"], io);
    await io.waitForOutput(
      /^Warning: "notes" already runs in https:\S+: Deployment notes-system\/notes has 2 replicas/,
      1,
      ended,
    );
    io.end();
    await ended;
  });
});

Deno.test("with op dev --local, the in-process API server calls the webhooks", async () => {
  await using folder = await operatorFolder("");
  await folder.write("main.ts", main(2));
  const io = new RunningIo(folder.path);
  const ended = cli(["dev", "--local"], io);
  await io.waitForOutput(/^Running as /, 1, ended);
  const text = await Deno.readTextFile(/export KUBECONFIG=(\S+)/.exec(io.stdout)![1]!);
  const { clusters: [{ cluster }], users: [{ user }] } = JSON.parse(text);
  using httpClient = Deno.createHttpClient({ caCerts: [atob(cluster["certificate-authority-data"])] });
  const local: Fetch = (path, init) =>
    fetch(cluster.server + path, {
      ...init,
      headers: { ...init?.headers, authorization: `Bearer ${user.token}` },
      client: httpClient,
    } as RequestInit);
  assert.match(await untilCreated(local, 3, 422), /at most 2 lines$/);
  await eventually(async () => assert.equal((await createNote(local, 2)).result, '{"lines":"2"}'));
  io.end();
  assert.equal(await ended, 0, io.stderr);
});
