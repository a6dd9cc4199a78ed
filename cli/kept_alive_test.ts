import assert from "node:assert/strict";
import { type OperatorFolder, operatorFolder } from "./_operator_folder.ts";

const OPERATOR = `export default operator({ name: "notes", parts: {} });\n`;

/** Whether Deno can bundle an operator and reports timers of `node:timers`, which 2.4 does not. */
const IS_NEW = Number(Deno.version.deno.split(".")[1]) >= 9 || !Deno.version.deno.startsWith("2.");

const cases: { name: string; code: string; expected: RegExp }[] = [
  { name: "an interval", code: "setInterval(() => {}, 3000);", expected: /: 1 interval \(main\.ts:3:1\)\. / },
  ...(IS_NEW
    ? [{
      name: "a timer of node:timers",
      code: `(await import("node:timers")).setInterval(() => {}, 3000);`,
      expected: /: 1 timer\. /,
    }]
    : []),
  {
    name: "a signal listener",
    code: `Deno.addSignalListener("SIGUSR1", () => {});`,
    expected: /: 1 signal listener \(main\.ts:3:6\)\. /,
  },
  {
    name: "a file watcher",
    code: `const watcher = Deno.watchFs("."); (async () => { for await (const _ of watcher); })();`,
    expected: /: 1 file watcher \(main\.ts:3:22\)\. /,
  },
  {
    name: "several resources",
    code: "setInterval(() => {}, 1); setInterval(() => {}, 1); setTimeout(() => {}, 99_999);",
    expected: /: 2 intervals \(main\.ts:3:1, main\.ts:3:27\), 1 timeout \(main\.ts:3:53\)\. /,
  },
];

async function withFile(code: string, test: (folder: OperatorFolder) => Promise<void>): Promise<void> {
  await using folder = await operatorFolder(`${code}\n${OPERATOR}`);
  await test(folder);
}

for (const { name, code, expected } of cases) {
  Deno.test(`op crd print warns about resources that a file starts at its top level, and does not wait for them: ${name}`, async () => {
    await withFile(code, async (folder) => {
      const { code, stderr } = await folder.op("crd", "print");
      assert.equal(code, 0, stderr);
      assert.match(stderr, /^Warning: "main\.ts" starts something at its top level that never ends/);
      assert.match(stderr, expected);
    });
  });
}

Deno.test("op crd print ignores timers and listeners that were stopped, have ended, or do not keep the process alive", async () => {
  const code = `
clearInterval(setInterval(() => {}, 3000));
Deno.unrefTimer(setInterval(() => {}, 3000));
await new Promise((resolve) => setTimeout(resolve, 1));
const listener = () => {};
Deno.addSignalListener("SIGUSR1", listener);
Deno.removeSignalListener("SIGUSR1", listener);
Deno.watchFs(".").close();
`;
  await withFile(code, async (folder) => {
    const { code, stderr } = await folder.op("crd", "print");
    assert.deepEqual([code, stderr], [0, ""]);
  });
});

Deno.test("op crd print reports a top level that never finishes, and the resources that keep the process alive", async () => {
  const code = "setInterval(() => {}, 3000);\nawait new Promise(() => {});";
  await withFile(code, async (folder) => {
    const { code, stderr } = await folder.op("crd", "print");
    assert.equal(code, 1);
    assert.match(stderr, /its top level did not finish within 10 s.*: 1 interval \(main\.ts:3:1\)/);
  });
});

Deno.test("op crd print reports the position of a socket that a file opens at its top level", async () => {
  await withFile("Deno.serve({ port: 0 }, () => new Response());", async (folder) => {
    const { code, stderr } = await folder.op("crd", "print");
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^Cannot load "main\.ts": it needs net access to "0\.0\.0\.0:0" at its top level.*\n {4}at main\.ts:3:6\n$/,
    );
  });
});

Deno.test("op build fails for a file that starts an interval and runs no operator", async () => {
  await withFile("setInterval(() => {}, 3000);", async (folder) => {
    const { code, stderr } = await folder.op("build", "--output", "out");
    assert.equal(code, 1);
    if (!IS_NEW) return assert.match(stderr, /^Cannot bundle with Deno /);
    assert.match(stderr, /^Warning: "main\.ts" .*: 1 interval \(.*main\.ts:3:1\)\. /);
    assert.match(stderr, /^Cannot build "main\.ts": it does not run its operator when it is started as a program/m);
  });
});
