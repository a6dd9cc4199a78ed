/** Tests that a failed or interrupted `op new` leaves no files. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { RecordedIo } from "../_recorded_io.ts";
import { cli } from "../cli.ts";
import { run } from "../deno.ts";
import { Failure, silentExitCode } from "../exit_code.ts";
import { makeFolder } from "./atomic_folder.ts";

function entries(folder: string): string[] {
  return [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
}

Deno.test("makeFolder removes all files if one cannot be written, and reports the reason", async () => {
  const folder = await Deno.makeTempDir();
  try {
    // A name that is too long for any file system fails like a full disk.
    const files = new Map([["a.ts", "a"], ["b/c.ts", "c"], [`${"x".repeat(300)}.ts`, "x"]]);
    const creation = makeFolder(join(folder, "deep/er/shop"), files, new RecordedIo(folder));
    await assert.rejects(creation, /^Failure: Cannot create ".*\/deep\/er\/shop": .*\. No file was created\.$/);
    assert.deepEqual(entries(folder), []);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("makeFolder removes all files if it is interrupted", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const remainingEntries: string[][] = [];
    const io = Object.assign(new RecordedIo(folder), {
      onInterrupt(undo: () => void): Disposable {
        // Interrupts after some files were written.
        queueMicrotask(async () => {
          while (!entries(folder).some((name) => name.startsWith(".shop-"))) {
            await new Promise((resolve) => setTimeout(resolve, 0));
          }
          undo();
          remainingEntries.push(entries(folder));
        });
        return { [Symbol.dispose]() {} };
      },
    });
    const files = new Map(Array.from({ length: 500 }, (_, i) => [`${i}.ts`, "x"]));
    await makeFolder(join(folder, "shop"), files, io).catch(() => {});
    assert.deepEqual(remainingEntries, [[]]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("op exits without a message if a signal ended its child process", async () => {
  const folder = await Deno.makeTempDir();
  try {
    for (
      const [script, code] of [["kill -INT $$", 130], ["kill -TERM $$", 143], ["exit 130", 130], [
        "exit 143",
        143,
      ]] as const
    ) {
      const complete = async () => void await run("sh", ["-c", script]);
      const creation = makeFolder(join(folder, "shop"), new Map([["a.ts", "a"]]), new RecordedIo(folder), complete);
      const error = await creation.catch((error) => error);
      assert.equal(silentExitCode(error), code, script);
      assert.deepEqual(entries(folder), [], script);
    }
    assert.equal(silentExitCode(new Failure("Cannot", { cause: new Error("because") })), undefined);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

/** Runs `op` in its own mount namespace, on a small file system. */
async function onSmallDisk(folder: string, kilobytes: number, ...args: string[]) {
  const main = new URL("../main.ts", import.meta.url).pathname;
  const script =
    `mount -t tmpfs -o size=${kilobytes}k tmpfs "$0" && cd "$0" && "$@"; code=$?; find . -mindepth 1; exit $code`;
  const user = Deno.uid() === 0 ? [] : ["--user", "--map-root-user"];
  const { code, stdout, stderr } = await new Deno.Command("unshare", {
    args: [
      ...user,
      "--mount",
      "sh",
      "-c",
      script,
      folder,
      Deno.execPath(),
      "run",
      "-A",
      "--cached-only",
      main,
      ...args,
    ],
  }).output();
  const decoder = new TextDecoder();
  return { code, left: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

Deno.test({
  name: "op new operator on a full disk reports it and leaves no files",
  ignore: Deno.build.os !== "linux" || !(await canMount()),
  async fn() {
    const folder = await Deno.makeTempDir();
    try {
      const { code, left, stderr } = await onSmallDisk(folder, 24, "new", "operator", "shop");
      assert.equal(code, 1, stderr);
      assert.match(stderr, /^Cannot create ".*\/shop": no space left on the disk\. No file was created\.$/m);
      assert.equal(left, "");
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});

async function canMount(): Promise<boolean> {
  const user = Deno.uid() === 0 ? [] : ["--user", "--map-root-user"];
  const command = new Deno.Command("unshare", { args: [...user, "--mount", "true"], stdout: "null", stderr: "null" });
  return await command.output().then(({ success }) => success, () => false);
}

Deno.test("op new operator reports a folder that cannot be written to", async () => {
  const io = new RecordedIo("/proc");
  assert.equal(await cli(["new", "operator", "shop"], io), 1);
  assert.match(io.stderr, /^Cannot create "\/proc\/shop": .*\. No file was created\.\n$/);
});

Deno.test("systemIo.onInterrupt runs the registered functions, and the process exits by the signal", async () => {
  const module = new URL("../io.ts", import.meta.url).href;
  const script = `import { systemIo } from ${JSON.stringify(module)};
using _undo = systemIo.onInterrupt(() => console.log("undone"));
{ using _other = systemIo.onInterrupt(() => console.log("disposed")); }
Deno.kill(Deno.pid, "SIGINT");
await new Promise((resolve) => setTimeout(resolve, 20_000));
console.log("still running");`;
  const process = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", "--ext=ts", "-"],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const writer = process.stdin.getWriter();
  await writer.write(new TextEncoder().encode(script));
  await writer.close();
  const { code, stdout } = await process.output();
  assert.deepEqual([code, new TextDecoder().decode(stdout)], [130, "undone\n"]);
});
