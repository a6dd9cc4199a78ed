import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { NOTES, operatorFolder } from "./_operator_folder.ts";
import { RecordedIo } from "./_recorded_io.ts";
import { cli } from "./cli.ts";

const MAIN = fileURLToPath(new URL("main.ts", import.meta.url));

/** An Io whose standard error is a terminal. */
class TerminalIo extends RecordedIo {
  isTerminal = (stream: string): boolean => stream === "err";
}

const DEFINITION = JSON.stringify({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "notes.demo.example.com" },
  spec: {
    group: "demo.example.com",
    names: { kind: "Note", plural: "notes" },
    scope: "Namespaced",
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
  },
});

Deno.test("long commands print their steps to a terminal, but not to a file or a pipe", async () => {
  await using folder = await operatorFolder(NOTES);
  await folder.write("crd.json", DEFINITION);
  const onTerminal = new TerminalIo(folder.path);
  assert.equal(await cli(["crd", "import", "crd.json"], onTerminal), 0, onTerminal.stderr);
  assert.match(
    onTerminal.stderr,
    /^Reading definitions from crd\.json \.\.\.\nWriting TypeScript of 1 kind \.\.\.\nNote: /,
  );
  const toPipe = await folder.op("crd", "import", "crd.json");
  assert.match(toPipe.stderr, /^Note: /);
  assert.equal(toPipe.stdout, onTerminal.stdout);

  const built = new TerminalIo(folder.path);
  await folder.write("main.ts", "export default ;\n");
  assert.equal(await cli(["build"], built), 1);
  assert.match(built.stderr, /^Checking and bundling main\.ts \.\.\.\nCannot bundle /);
});

Deno.test({
  name: "op exits without a message if its output is closed",
  ignore: Deno.build.os === "windows",
  async fn() {
    const op = `"${Deno.execPath()}" run -A "${MAIN}"`;
    // The reading process exits before op writes its output.
    const script =
      `{ sleep 0.2; ${op} --help; echo "$?" >&2; } | true; { sleep 0.2; ${op} crd print nowhere.ts 2>&1 >/dev/null; echo "$?" >&3; } 3>&2 | true`;
    const { stderr } = await new Deno.Command("bash", { args: ["-c", script], env: { NO_COLOR: "1" } }).output();
    assert.equal(new TextDecoder().decode(stderr), "141\n1\n");
  },
});

Deno.test("op deploy lists the existing overlays, the most similar one first", async () => {
  await using folder = await operatorFolder(NOTES);
  for (const name of ["prod", "staging"]) {
    await Deno.mkdir(`${folder.path}/config/overlays/${name}`, { recursive: true });
  }
  const { code, stderr } = await folder.op("deploy", "stagin");
  assert.equal(code, 1);
  assert.match(
    stderr,
    /"config\/overlays\/stagin" nor "stagin" exists\. Did you mean "staging"\? Existing overlays: "staging", "prod"\. Generate it with/,
  );
});

Deno.test("an error about an option points to the help of its command", async () => {
  const io = new RecordedIo();
  assert.equal(await cli(["new", "controller", "--knd", "x"], io), 2);
  assert.equal(
    io.stderr,
    "error: unknown option '--knd'\n(Did you mean --kind?)\n(run \"op new controller --help\" for its options)\n",
  );
  const missing = new RecordedIo();
  assert.equal(await cli(["new", "controller", "--kind", "x"], missing), 2);
  assert.equal(
    missing.stderr,
    'Cannot run "op new controller": required options are missing. Add --api-version <version>, --group <group>.\n(run "op new controller --help" for its options)\n',
  );
});
