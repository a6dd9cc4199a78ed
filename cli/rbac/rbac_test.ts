import assert from "node:assert/strict";
import { mainModule, NOTES, operatorFolder } from "../_operator_folder.ts";
import { RecordedIo } from "../_recorded_io.ts";
import { cli } from "../cli.ts";
import { objectsIn } from "../objects.ts";
import { type AnyManifest, grantsTo, isGranted } from "./grants.ts";
import type { Findings } from "./verify.ts";

const ACCOUNT = { name: "notes", namespace: undefined };

Deno.test("op rbac verify --exact accepts the output of op rbac generate", async () => {
  await using folder = await operatorFolder();
  const generated = await folder.op("rbac", "generate", "-o", "rbac.yaml");
  assert.equal(generated.code, 0, generated.stderr);
  const verified = await folder.op("rbac", "verify", "-f", "rbac.yaml", "--exact");
  assert.equal(verified.code, 0, verified.stderr);
  assert.match(
    verified.stdout,
    /^part "notes"\n {2}granted {2}list notes of demo\.example\.com: watches its own kind/,
  );
  assert.doesNotMatch(verified.stdout, /MISSING|not needed/);
});

Deno.test("op rbac verify accepts all files of a kustomize folder, and standard input", async () => {
  await using folder = await operatorFolder();
  assert.equal((await folder.op("generate", "manifests")).code, 0);
  const files = [...Deno.readDirSync(`${folder.path}/config/rbac`)].map(({ name }) => `config/rbac/${name}`);
  assert(files.includes("config/rbac/kustomization.yaml"));
  const verified = await folder.op("rbac", "verify", "--exact", "-f", ...files);
  assert.equal(verified.code, 0, verified.stderr);

  const main = new URL("../main.ts", import.meta.url).pathname;
  const stdin = new Blob(await Promise.all(files.map(async (file) => `---\n${await folder.read(file)}`))).stream();
  const args = ["run", "--allow-all", main, "rbac", "verify", "--exact", "-f", "-"];
  const command = new Deno.Command(Deno.execPath(), { args, cwd: folder.path, stdin: "piped", stdout: "null" });
  await using process = command.spawn();
  await stdin.pipeTo(process.stdin);
  assert.equal((await process.status).code, 0);
});

Deno.test("op rbac verify reports each missing verb, and exits with 1", async () => {
  await using folder = await operatorFolder();
  await folder.op("rbac", "generate", "-o", "rbac.yaml");
  const complete = await folder.read("rbac.yaml");
  const facts: Findings = JSON.parse((await folder.op("rbac", "verify", "-f", "rbac.yaml", "-o", "json")).stdout);
  const roles = complete.slice(0, complete.indexOf("kind: RoleBinding"));
  const verbs = [...roles.matchAll(/^ {6}- (get|list|watch|create|update|patch)\n/gm)];
  assert.equal(verbs.length, facts.rules.length);
  const withoutOneVerb = verbs.map(({ index, 0: line }) =>
    complete.slice(0, index) + complete.slice(index + line.length)
  );
  withoutOneVerb.forEach((text, index) => {
    const grants = grantsTo(objectsIn(text, "less.yaml") as unknown as AnyManifest[], ACCOUNT);
    const missing = facts.rules.filter((permission) => !isGranted(permission, grants, {}));
    assert.deepEqual(missing.map(({ verb }) => verb), [verbs[index]?.[1]]);
  });

  await folder.write("less.yaml", withoutOneVerb[0] ?? "");
  const verified = await folder.op("rbac", "verify", "-f", "less.yaml");
  assert.equal(verified.code, 1);
  assert.match(verified.stdout, /^ {2}MISSING {2}list notes of demo\.example\.com: watches its own kind Note$/m);
  assert.equal(verified.stderr, '1 of 14 permissions are missing. Apply the output of "op rbac generate".\n');
});

Deno.test("op rbac verify reports verbs that are not needed, and fails because of them only with --exact", async () => {
  await using folder = await operatorFolder();
  await folder.op("rbac", "generate", "-o", "rbac.yaml");
  await folder.write("rbac.yaml", (await folder.read("rbac.yaml")).replace("- create\n", '- create\n      - "*"\n'));
  const verified = await folder.op("rbac", "verify", "-f", "rbac.yaml");
  assert.equal(verified.code, 0);
  assert.match(verified.stdout, /granted but not needed\n {2}\* configmaps: ClusterRole notes\n$/);
  assert.equal((await folder.op("rbac", "verify", "-f", "rbac.yaml", "--exact")).code, 1);
});

const INVALID_ARGUMENTS: readonly { name: string; args: readonly string[]; code: number; message: RegExp }[] = [
  { name: "neither a file nor a cluster", args: [], code: 2, message: /^Cannot verify: use either -f with files/ },
  {
    name: "both a file and a cluster",
    args: ["-f", "a", "--cluster"],
    code: 2,
    message: /^Cannot verify: use either -f with files/,
  },
  {
    name: "a file that does not exist",
    args: ["-f", "a"],
    code: 1,
    message: /^Cannot read "a": the file does not exist\.\n$/,
  },
  { name: "a file that is not YAML", args: ["-f", "main.ts"], code: 1, message: /^Cannot read "main\.ts": / },
  {
    name: "a folder",
    args: ["-f", "."],
    code: 1,
    message: /^Cannot read "\.": it is a folder\. Name the files in it\.$/m,
  },
  {
    name: "an account with two colons",
    args: ["-f", "main.ts", "--as", "a:b:c"],
    code: 2,
    message: /^Cannot use --as "a:b:c": it must be NAME or NAMESPACE:NAME\.$/m,
  },
];

Deno.test("op rbac verify reports invalid arguments", async (t) => {
  await using folder = await operatorFolder();
  for (const { name, args, code, message } of INVALID_ARGUMENTS) {
    await t.step(name, async () => {
      const rejected = await folder.op("rbac", "verify", "main.ts", ...args);
      assert.equal(rejected.code, code, rejected.stderr);
      assert.match(rejected.stderr, message);
    });
  }
});

Deno.test("op sandbox prints each permission with its reason", async () => {
  await using folder = await operatorFolder();
  const printed = await folder.op("sandbox");
  assert.equal(printed.code, 0, printed.stderr);
  assert.match(printed.stdout, /^net kubernetes\.default\.svc:443 +connects to the API server\n/);
  const permissions = JSON.parse((await folder.op("sandbox", "-o", "json")).stdout);
  assert.equal(permissions.length, printed.stdout.trim().split("\n").length);
});

const NOTE_TEST = `
import { memoryCluster } from "SDK/src/testing/mod.ts";
import { ConfigMap } from "SDK/src/kinds/mod.ts";
import op, { Note } from "./main.ts";

Deno.test("a note is copied", async () => {
  await using cluster = await memoryCluster({ operator: op });
  await cluster.create(Note, "a", { spec: { text: "one" } });
  await cluster.settle();
  await cluster.get(ConfigMap, "a");
});
`;

const COPIES = NOTES.replace("const Note", "export const Note").replace(
  "reconcile() {}",
  `
  uses: USES,
  async reconcile(note, { apply }) {
    await apply(ConfigMap, { metadata: { name: note.metadata.name }, data: { text: note.spec.text } });
  }`,
);

function withWebhook(body: string): string {
  return body
    .replace("export default", "const rules = webhook(Note, { validate() {} });\nexport default")
    .replace("parts: { notes }", "parts: { notes, rules }")
    .replace(/^/, `import { webhook } from "${new URL("../../mod.ts", import.meta.url)}";\n`);
}

const MANIFESTS_TEST = `
Deno.test("the manifests can be generated", async () => {
  const args = ["run", "-A", "SDK/cli/main.ts", "generate", "crd", "main.ts"];
  const { success, stderr } = await new Deno.Command(Deno.execPath(), { args, cwd: import.meta.dirname }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
});
`;

Deno.test("op rbac unused reports declared permissions that no test uses", async () => {
  const root = new URL("../../", import.meta.url);
  const folder = await Deno.makeTempDir();
  // The project needs its own deno.json, because the one of the repository excludes test folders.
  const { imports } = JSON.parse(await Deno.readTextFile(new URL("deno.json", root)));
  const write = (file: string, text: string) => Deno.writeTextFile(`${folder}/${file}`, text);
  const unused = async () => {
    const io = new RecordedIo(folder);
    const code = await cli(["rbac", "unused", "main.ts", "--", Deno.execPath(), "test", "-A", "--no-check"], io);
    return { code, ...io };
  };
  try {
    const testing = { "@op/sdk/testing": `${root.href}src/testing/mod.ts` };
    await write("deno.json", JSON.stringify({ imports: { ...imports, ...testing }, lock: false }));
    await write("main.ts", mainModule(COPIES.replace("USES", '[access(Secret, "get")]')));
    await write("main_test.ts", NOTE_TEST.replaceAll("SDK/", root.href));
    const found = await unused();
    assert.equal(found.code, 1, found.stdout);
    assert.match(
      found.stdout,
      /^part "notes"\n {2}UNUSED {2}get secrets: uses Secret: access\(Secret, "get"\)$/m,
      found.stderr,
    );
    assert.equal(found.stdout.match(/UNUSED/g)?.length, 1, found.stdout);
    assert.match(found.stderr, /^1 of \d+ permissions are declared, but no test uses them\./);

    await write("main.ts", mainModule(COPIES.replace("uses: USES,", "")));
    const exact = await unused();
    assert.equal(exact.code, 0, exact.stdout + exact.stderr);

    // The test of the manifests runs op, which reviews the samples in another in-memory cluster.
    // That cluster must not count as a test cluster.
    await write("main.ts", mainModule(withWebhook(COPIES.replace("uses: USES,", ""))));
    await write("manifests_test.ts", MANIFESTS_TEST.replaceAll("SDK/", root.href));
    const reviewed = await unused();
    assert.equal(reviewed.code, 0, reviewed.stdout + reviewed.stderr);
    assert.match(reviewed.stdout, /in 1 test cluster$/m);

    await Deno.remove(`${folder}/manifests_test.ts`);
    await write("main_test.ts", "Deno.test('no cluster', () => {});");
    assert.match((await unused()).stderr, /started no cluster\. Run the operator in tests with memoryCluster\./);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
