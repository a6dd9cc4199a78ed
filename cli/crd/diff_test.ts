import assert from "node:assert/strict";
import { mainModule, NOTES, operatorFolder } from "../_operator_folder.ts";

Deno.test("op crd diff reports no changes between an operator and its printed definitions", async () => {
  await using folder = await operatorFolder();
  await folder.write("old.yaml", (await folder.op("crd", "print")).stdout);
  const same = await folder.op("crd", "diff", "old.yaml", "main.ts");
  assert.deepEqual([same.code, same.stdout], [0, "No changes\n"]);
});

Deno.test("op crd diff marks breaking changes and exits with 1", async () => {
  await using folder = await operatorFolder();
  await folder.write("old.yaml", (await folder.op("crd", "print")).stdout);
  const change = (from: string, to: string) => folder.write("main.ts", mainModule(NOTES.replace(from, to)));

  await change("s.object({ text: s.string() })", "s.object({ text: s.string(), size: s.optional(s.integer()) })");
  const wider = await folder.op("crd", "diff", "old.yaml", "main.ts");
  assert.deepEqual([wider.code, wider.stdout], [
    0,
    "compatible notes.demo.example.com v1 .spec.size: was added\nNo breaking changes\n",
  ]);

  await change("s.object({ text: s.string() })", "s.object({ text: s.string({ maxLength: 5 }), size: s.integer() })");
  const narrower = await folder.op("crd", "diff", "old.yaml", "main.ts");
  assert.equal(narrower.code, 1);
  assert.equal(
    narrower.stdout,
    "breaking   notes.demo.example.com v1 .spec.text: maxLength 5 was added\n" +
      "breaking   notes.demo.example.com v1 .spec.size: was added as a required field\n",
  );
  assert.equal(
    narrower.stderr,
    "2 of 2 changes are breaking. Put them into a new version of the kind, and keep serving the old version.\n",
  );
  const json = JSON.parse((await folder.op("crd", "diff", "old.yaml", "main.ts", "-o", "json")).stdout);
  assert.deepEqual([json.verdict, json.changes.length], ["breaking", 2]);
});

const KINDS: readonly { name: string; from: string; to: string; expected: string }[] = [
  {
    name: "a removed kind",
    from: '"Note"',
    to: '"Letter"',
    expected: "breaking   notes.demo.example.com: the kind was removed",
  },
  {
    name: "a changed scope",
    from: 'kind: "Note",',
    to: 'kind: "Note", scope: "Cluster",',
    expected: "the scope changed to Cluster",
  },
  {
    name: "a replaced version",
    from: '"v1"',
    to: '"v2"',
    expected: "breaking   notes.demo.example.com v1: the version was removed",
  },
  {
    name: "a removed status",
    from: "  status: s.object({}),\n",
    to: "",
    expected: "v1: the subresource status was removed",
  },
];

Deno.test("op crd diff reports changes of kinds and versions", async (t) => {
  await using folder = await operatorFolder();
  await folder.write("old.yaml", (await folder.op("crd", "print")).stdout);
  for (const { name, from, to, expected } of KINDS) {
    await t.step(`op crd diff reports ${name}`, async () => {
      await folder.write("main.ts", mainModule(NOTES.replace(from, to)));
      const result = await folder.op("crd", "diff", "old.yaml", "main.ts");
      assert.equal(result.code, 1, result.stdout + result.stderr);
      assert(result.stdout.includes(expected), result.stdout);
    });
  }
});

Deno.test("op crd diff rejects files that it cannot read", async () => {
  await using folder = await operatorFolder();
  const absent = await folder.op("crd", "diff", "nowhere.yaml", "main.ts");
  assert.deepEqual([absent.code, absent.stderr], [1, 'Cannot read "nowhere.yaml": the file does not exist.\n']);
  assert.equal((await folder.op("crd", "diff", "-", "-")).code, 2);
});
