/** Tests that a stopped command that runs an operator leaves no process and no file. */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { createApiserver, kubeconfigFor, serveApiserver } from "../../src/testing/mod.ts";
import { type OperatorFolder, operatorFolder } from "../_operator_folder.ts";
import { eventually } from "../../tests/eventually.ts";

const MAIN = fileURLToPath(new URL("../main.ts", import.meta.url));
const OPERATOR = `
const namespaces = controller(Namespace, { reconcile() {} });
export default operator({ name: "spaces", health: false, parts: { namespaces } });
`;

const COMMANDS: readonly {
  readonly args: readonly string[];
  /** Output that shows that the operator runs. */
  readonly output?: RegExp;
  /** Prefix of a temporary file that shows that the operator is about to run. */
  readonly file?: string;
  /** The exit code. It is 0 for commands that run until they are stopped. */
  readonly code: number;
}[] = [
  { args: ["start", "--kubeconfig", "kubeconfig"], output: /Controller started/, code: 0 },
  { args: ["dev", "--kubeconfig", "kubeconfig"], output: /Controller started/, code: 0 },
  { args: ["dev", "--local"], output: /Controller started/, code: 0 },
  { args: ["plan", "--kubeconfig", "kubeconfig", "--quiet", "600", "--timeout", "600"], file: "op-plan-", code: 130 },
];

/** Returns the IDs of the running processes of a group. */
function processesOf(group: number): string[] {
  return [...Deno.readDirSync("/proc")].flatMap(({ name }) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      // The fields after the name, which may contain any character: state, parent, process group.
      const [state, , processGroup] = Deno.readTextFileSync(`/proc/${name}/stat`).replace(/^.*\) /s, "").split(" ");
      return Number(processGroup) === group && state !== "Z" ? [name] : [];
    } catch {
      return []; // The process has exited in the meantime.
    }
  });
}

async function interrupted(
  folder: OperatorFolder,
  { args, output, file, code }: typeof COMMANDS[number],
  isGroup: boolean,
): Promise<void> {
  const temporary = `${folder.path}/temporary`;
  await Deno.mkdir(temporary, { recursive: true });
  const names = () => [...Deno.readDirSync(temporary)].map(({ name }) => name).filter((name) => name.startsWith("op-"));
  const process = new Deno.Command("setsid", {
    args: [Deno.execPath(), "run", "-A", "--cached-only", MAIN, ...args],
    cwd: folder.path,
    env: { TMPDIR: temporary, NO_COLOR: "1" },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let text = "";
  const outputs = [process.stdout, process.stderr].map(async (stream) => {
    for await (const part of stream.pipeThrough(new TextDecoderStream())) text += part;
  });
  const state = () => `${args.join(" ")}: ${names()}\n${text}`;
  try {
    const isRunning = () => file === undefined ? output!.test(text) : names().some((name) => name.startsWith(file));
    await eventually(isRunning, { state });
    // A terminal signals the whole group; another program may signal only op.
    Deno.kill(isGroup ? -process.pid : process.pid, "SIGINT");
    const ended = await process.status;
    assert.equal(ended.code, code, state());
    assert.deepEqual(names(), [], state());
    await eventually(() => assert.deepEqual(processesOf(process.pid), []), { state });
    assert.doesNotMatch(text, /Uncaught|Stack backtrace| at file:/);
  } finally {
    for (const remaining of processesOf(process.pid)) Deno.kill(Number(remaining), "SIGKILL");
    await Promise.all(outputs);
    await process.status;
  }
}

Deno.test({
  name: "op start, dev and plan leave no process and no file after Ctrl-C, and exit with the documented code",
  ignore: Deno.build.os !== "linux",
  async fn(t) {
    await using server = createApiserver({});
    await using served = serveApiserver(server);
    await using folder = await operatorFolder(OPERATOR);
    await folder.write("kubeconfig", kubeconfigFor(served, { name: "here" }));
    for (const command of COMMANDS) {
      for (const isGroup of [true, false]) {
        const receiver = isGroup ? "signal to the process group" : "signal to op only";
        await t.step(`${command.args.slice(0, 2).join(" ")}, ${receiver}`, () => interrupted(folder, command, isGroup));
      }
    }
  },
});
