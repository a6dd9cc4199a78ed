/**
 * Runs kopf against the in-process and the real API server. Its logs and the remaining objects must
 * be the same.
 */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { isObject } from "../../src/base/json.ts";
import { findControlPlane } from "../../src/testing/_control_plane.ts";
import { pythonPackages } from "./_python_packages.ts";
import { bothServers } from "./_servers.ts";
import { eventually } from "../eventually.ts";

const HANDLERS = fileURLToPath(new URL("./kopf/handlers.py", import.meta.url));
const DEFINITION = fileURLToPath(new URL("./kopf/definition.json", import.meta.url));

/** A step of the scenario: a kubectl command, and the log lines to wait for. */
interface Step {
  readonly kubectl: readonly string[];
  readonly input?: object;
  readonly logged: readonly string[];
}

const example = (name: string, spec: object) => ({
  apiVersion: "clients.example.com/v1",
  kind: "KopfExample",
  metadata: { name },
  spec,
});

const STORY: readonly Step[] = [
  {
    kubectl: ["create", "-f", "-"],
    input: example("good", { duration: "1m", items: ["a", "b"] }),
    logged: [
      "[default/good] Creation is processed",
      "seen: ADDED good-child",
      "attend: begins with good",
    ],
  },
  {
    kubectl: ["create", "-f", "-"],
    input: example("bad", { duration: "1m", wrong: true }),
    logged: [
      "[default/bad] Creation is processed",
      "seen: ADDED bad-child",
      "attend: begins with bad",
    ],
  },
  {
    kubectl: ["patch", "kex", "good", "--type=merge", "-p", '{"spec":{"duration":"5m"}}'],
    logged: ["[default/good] Updating is processed"],
  },
  {
    kubectl: ["label", "kex", "good", "stage=done"],
    logged: ["done: the label is there", "[default/good] Updating is processed"],
  },
  { kubectl: ["annotate", "configmap", "good-child", "looked=at"], logged: ["seen: MODIFIED good-child"] },
  {
    kubectl: ["delete", "kex", "good", "--timeout=180s"],
    logged: [
      "[default/good] Deletion is processed",
      "attend: ends with good",
      "seen: DELETED good-child",
    ],
  },
];

Deno.test("kopf logs and leaves the same on the in-process server as on the real one", async (t) => {
  const packages = await pythonPackages();
  await using servers = await bothServers();
  const { real, ours } = servers.kubeconfigs;
  const [expected, actual] = await Promise.all([real, ours].map((kubeconfig) => play(kubeconfig, packages)));
  assert(expected && actual);

  for (const about of Object.keys(expected.log)) {
    await t.step(`kopf logs the same for ${about}`, () => assert.deepEqual(actual.log[about], expected.log[about]));
  }
  assert.deepEqual(Object.keys(actual.log).sort(), Object.keys(expected.log).sort());
  for (const kind of Object.keys(expected.left)) {
    await t.step(`kopf leaves the same ${kind}`, () => assert.deepEqual(actual.left[kind], expected.left[kind]));
  }
});

/** The result of the scenario on a server. */
interface Played {
  /** Log lines by handler and object. Only the lines of one key are ordered. */
  readonly log: Readonly<Record<string, readonly string[]>>;
  readonly left: Readonly<Record<string, unknown>>;
}

async function play(kubeconfig: string, packages: string): Promise<Played> {
  const kubectl = await kubectlOf(kubeconfig);
  await kubectl(["create", "-f", DEFINITION]);
  await kubectl(["wait", "--for=condition=Established", "crd/kopfexamples.clients.example.com", "--timeout=180s"]);
  // A server may not serve an established kind at once.
  await eventually(() => kubectl(["get", "kex"]));
  await using operator = startKopf(kubeconfig, packages);
  await operator.said(["startup: configured"]);
  for (const { kubectl: args, input, logged } of STORY) {
    await kubectl(args, input);
    await operator.said(logged);
  }
  const left: Record<string, unknown> = {};
  for (const kind of ["kex", "configmaps", "events"]) {
    const { items } = JSON.parse(await kubectl(["get", kind, "-o", "json"]));
    left[kind] = kind === "events" ? items.map(eventLine).sort() : plain(items);
  }
  await operator.stop();
  return { log: byAbout(operator.lines), left };
}

interface Kopf extends AsyncDisposable {
  readonly lines: readonly string[];
  /** Waits until lines with these strings were logged since the last call. */
  said(texts: readonly string[]): Promise<void>;
  stop(): Promise<void>;
}

function startKopf(kubeconfig: string, packages: string): Kopf {
  const child = new Deno.Command("python3", {
    args: ["-m", "kopf", "run", "--standalone", "--namespace=default", "--log-format=plain", HANDLERS],
    clearEnv: true,
    env: {
      KUBECONFIG: kubeconfig,
      PYTHONPATH: packages,
      PYTHONDONTWRITEBYTECODE: "1",
      PATH: "/usr/bin:/bin",
      ...python(),
    },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const lines: string[] = [];
  let seen = 0;
  const ended = (async () => {
    let rest = "";
    for await (const chunk of child.stderr.pipeThrough(new TextDecoderStream())) {
      const parts = (rest + chunk).split("\n");
      rest = parts.pop() ?? "";
      lines.push(...parts);
    }
    await child.status;
  })();
  async function said(texts: readonly string[]): Promise<void> {
    await eventually(() => {
      const since = lines.slice(seen);
      const missing = texts.filter((text) => !since.some((line) => line.includes(text)));
      assert.deepEqual(missing, [], `kopf did not say that:\n${lines.slice(-40).join("\n")}`);
    });
    seen = lines.length;
  }
  let isStopped = false;
  async function stop(): Promise<void> {
    if (!isStopped) child.kill("SIGTERM");
    isStopped = true;
    await ended;
  }
  return { lines, said, stop, [Symbol.asyncDispose]: stop };
}

/** Environment variables that locate Python. */
function python(): Record<string, string> {
  const path = Deno.env.get("PATH");
  const home = Deno.env.get("HOME");
  return { ...path !== undefined && { PATH: path }, ...home !== undefined && { HOME: home } };
}

async function kubectlOf(kubeconfig: string): Promise<(args: readonly string[], input?: object) => Promise<string>> {
  const kubectl = (await findControlPlane())?.programs.kubectl;
  assert(kubectl, "kubectl is built with the control plane");
  return async (args, input) => {
    const child = new Deno.Command(kubectl, {
      args: [...args, "--kubeconfig", kubeconfig],
      clearEnv: true,
      env: { HOME: `${kubeconfig}.home` },
      stdin: input === undefined ? "null" : "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    if (input !== undefined) await new Response(JSON.stringify(input)).body?.pipeTo(child.stdin);
    const { success, stdout, stderr } = await child.output();
    const decoder = new TextDecoder();
    assert(success, `kubectl ${args.join(" ")}: ${decoder.decode(stderr)}`);
    return decoder.decode(stdout);
  };
}

/**
 * Returns the handler and the object of a line. Only the lines of one handler about one object are
 * ordered.
 */
function byAbout(lines: readonly string[]): Record<string, string[]> {
  const found: Record<string, string[]> = {};
  for (const line of lines) {
    // "[default/good] attend: begins", "[default/good] Handler 'with_parts/a' succeeded."
    const [, place, handler] = /^\[(\S+)\] (?:(?:(?:Daemon|Handler) ')?(\w+)[:'/])?/.exec(line) ?? [];
    if (place !== undefined) (found[handler === undefined ? place : `${place}, ${handler}`] ??= []).push(line);
  }
  return found;
}

// deno-lint-ignore no-explicit-any -- an object of any kind
function eventLine({ type, reason, message, involvedObject }: any): string {
  return `${type} ${reason} ${involvedObject.kind}/${involvedObject.name}: ${message}`;
}

const NOISE = new Set(["uid", "resourceVersion", "creationTimestamp", "time"]);

/** Returns objects without values that differ between runs. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, NOISE.has(key) ? `<${key}>` : plain(each)]),
  );
}
