/**
 * `op new controller`, `op new webhook` and `op new version` in an existing project, and `op new`
 * without arguments.
 */
import assert from "node:assert/strict";
import { assertGolden } from "../../tests/fixtures/golden.ts";
import { fileURLToPath } from "node:url";
import { NOTES, operatorFolder } from "../_operator_folder.ts";
import { RecordedIo } from "../_recorded_io.ts";
import { cli } from "../cli.ts";

const SDK = fileURLToPath(new URL("../../", import.meta.url));
const CACHE = ["--kind", "Cache", "--api-version", "v1", "--group", "demo.example.com"];

/** Returns the content of all files in a folder, by path. */
async function filesIn(folder: string, prefix = ""): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  for await (const { name, isDirectory } of Deno.readDir(`${folder}/${prefix}`)) {
    if (isDirectory) Object.assign(files, await filesIn(folder, `${prefix}${name}/`));
    else files[`${prefix}${name}`] = await Deno.readTextFile(`${folder}/${prefix}${name}`);
  }
  return files;
}

async function run(cwd: string, command: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await new Deno.Command(command, { args, cwd, env: { NO_COLOR: "1" } }).output();
  const text = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  assert.equal(code, 0, text);
  return text;
}

Deno.test("op new controller and op new webhook extend a new project, which passes check, lint and test", async (t) => {
  const folder = await Deno.makeTempDir();
  const shop = `${folder}/shop`;
  const op = async (cwd: string, ...args: string[]) => {
    const io = new RecordedIo(cwd);
    assert.equal(await cli(args, io), 0, io.stderr);
    return io;
  };
  try {
    await op(folder, "new", "operator", "shop", "--sdk", SDK);
    const { stdout } = await op(
      shop,
      "new",
      "controller",
      "--kind",
      "CronTab",
      "--api-version",
      "v1beta1",
      "--group",
      "shop.example.com",
    );
    const cronTab = ["--kind", "CronTab", "--api-version", "v1beta1"];
    await op(shop, "new", "controller", "--kind", "Node", "--api-version", "v1", "--group", "");
    const validation = await op(shop, "new", "webhook", ...cronTab, "--type", "validation");
    await op(shop, "new", "webhook", ...cronTab, "--type", "mutation", "--part", "defaults");
    await op(shop, "new", "webhook", "--kind", "Pod", "--api-version", "v1", "--type", "mutation");
    await op(shop, "generate", "manifests");

    await t.step("the files are listed, a folder for each kind and a file for each version", async () => {
      assert.match(
        stdout,
        /^Created controller "cronTabs" of CronTab:\n\n {2}cron_tab\/controller\.ts\n {2}cron_tab\/controller_test\.ts\n {2}cron_tab\/v1beta1\.ts\n {2}main\.ts \(changed\)\n/,
      );
      assert.match(
        (await filesIn(shop))["main.ts"]!,
        /parts: \{ websites, cronTabs, nodes, cronTabValidation, defaults, podMutation \},$/m,
      );
    });
    await t.step("a webhook is written next to the kind, with its test", async () => {
      assert.match(
        validation.stdout,
        /^Created webhook "cronTabValidation" of CronTab:\n\n {2}cron_tab\/validation\.ts\n {2}cron_tab\/validation_test\.ts\n {2}main\.ts \(changed\)\n/,
      );
      const files = await filesIn(shop);
      assert.match(
        files["cron_tab/validation.ts"]!,
        /import \{ CronTab \} from "\.\/v1beta1\.ts";\n\nexport const cronTabValidation = webhook\(CronTab, \{\n {2}validate\(/,
      );
      assert.match(files["cron_tab/mutation.ts"]!, /^export const defaults = webhook\(CronTab, \{\n {2}mutate\(/m);
      assert.match(files["pod/mutation.ts"]!, /import \{ Pod \} from "@op\/sdk\/kinds";/);
      assert.match(files["main.ts"]!, /^import \{ defaults \} from "\.\/cron_tab\/mutation\.ts";$/m);
    });
    await t.step("the manifests have webhook configurations", async () => {
      const files = await filesIn(`${shop}/config/webhook`);
      assert.match(files["validating_webhook_configuration.yaml"]!, /resources:\n\s+- crontabs\n/);
      assert.match(files["mutating_webhook_configuration.yaml"]!, /resources:\n\s+- pods\n/);
    });
    for (const task of ["lint", "test"]) {
      await t.step(`deno task ${task}`, async () => {
        const output = await run(shop, Deno.execPath(), "task", task);
        if (task === "test") assert.match(output, /\bok \| 9 passed \| 0 failed\b/);
      });
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("op new operator --kind writes the kind and its manifests", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const io = new RecordedIo(folder);
    const kind = ["--kind", "CronTab", "--api-version", "v1alpha1", "--group", "shop.example.org"];
    assert.equal(await cli(["new", "operator", "website-shop", "--sdk", SDK, ...kind], io), 0, io.stderr);
    assert.equal(io.stderr, "");
    const files = await filesIn(`${folder}/website-shop`);
    assert("config/crd/crontabs.shop.example.org.yaml" in files && "cron_tab/v1alpha1.ts" in files);
    assert(!Object.keys(files).some((name) => name.startsWith("website/")));
    assert.match(files["README.md"]!, /`cron_tab\/v1alpha1\.ts`/);
    assert.match(files["config/overlays/prod/kustomization.yaml"]!, /website-shop/);
    await run(`${folder}/website-shop`, Deno.execPath(), "fmt", "--check");
    const checked = new RecordedIo(`${folder}/website-shop`);
    assert.equal(await cli(["generate", "manifests", "--check"], checked), 0, checked.stderr);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

/** Each rejected command, followed by its error message. */
const rejections: string[] = [];

const REJECTED = [
  {
    name: "a kind that exists",
    args: ["controller", "--kind", "Note", "--api-version", "v1", "--group", "demo.example.com"],
    code: 1,
  },
  {
    name: "another version of a kind that exists",
    args: ["controller", "--kind", "Note", "--api-version", "v2", "--group", "demo.example.com"],
    code: 1,
  },
  {
    name: "a part's key that is taken",
    args: ["controller", ...CACHE, "--part", "notes"],
    code: 1,
  },
  {
    name: "a part's key that is invalid",
    args: ["controller", ...CACHE, "--part", "my-caches"],
    code: 2,
  },
  {
    name: "a reserved group",
    args: ["controller", "--kind", "Cache", "--api-version", "v1", "--group", "cache.k8s.io"],
    code: 2,
  },
  {
    name: "a webhook of an unknown kind",
    args: ["webhook", "--kind", "Nota", "--api-version", "v1", "--type", "validation"],
    code: 1,
  },
  {
    name: "a webhook of an unknown version",
    args: ["webhook", "--kind", "Note", "--api-version", "v2", "--type", "validation"],
    code: 1,
  },
  {
    name: "an unknown type of webhook",
    args: ["webhook", "--kind", "Note", "--api-version", "v1", "--type", "validating"],
    code: 2,
  },
  {
    name: "a webhook of a kind for which webhooks are not called",
    args: ["webhook", "--kind", "ValidatingWebhookConfiguration", "--api-version", "v1", "--type", "validation"],
    code: 2,
  },
  {
    name: "a kind that the expected module does not define",
    args: ["webhook", "--kind", "Note", "--api-version", "v1", "--type", "mutation"],
    code: 1,
  },
  {
    name: "a folder without an operator",
    args: ["controller", "other.ts", ...CACHE],
    code: 1,
  },
];

/** An operator whose kind has a module of its own. */
async function withNoteModule() {
  const [kind, rest] = [NOTES.slice(0, NOTES.indexOf("const notes")), NOTES.slice(NOTES.indexOf("const notes"))];
  const folder = await operatorFolder(`import { Note } from "./note/v1.ts";\n${rest}`);
  await Deno.mkdir(`${folder.path}/note`);
  await folder.write("note/v1.ts", `import { resource, s } from "@op/sdk";\n${kind.replace("const", "export const")}`);
  return folder;
}

const VERSION = ["new", "version", "--kind", "Note", "--api-version"];

Deno.test("op new version creates a version, its conversion and a test, and adds them to the kind and the operator", async () => {
  await using folder = await withNoteModule();
  const created = await folder.op(...VERSION, "v2");
  assert.equal(created.code, 0, created.stderr);
  const files = ["v2.ts", "v2_conversion.ts", "v2_conversion_test.ts", "v1.ts \\(changed\\)"].map((name) =>
    `  note/${name}\n`
  ).join(
    "",
  );
  assert.match(
    created.stdout,
    new RegExp(
      `^Created version v2 of Note:\n\n${files} {2}main\\.ts \\(changed\\)\n\nObjects are still stored in v1\\.`,
    ),
  );
  assert.match(await folder.read("main.ts"), /parts: \{ notes, noteV2 \}/);
  const crds = await folder.op("crd", "print");
  assert.equal(crds.stderr, "");
  assert.match(
    crds.stdout,
    /name: v1\n {6}served: true\n {6}storage: true[^]*name: v2\n {6}served: true\n {6}storage: false/,
  );
  assert.match(crds.stdout, /strategy: Webhook/);

  const third = await folder.op(...VERSION, "v3beta1", "--part", "betaNotes");
  assert.equal(third.code, 0, third.stderr);
  assert.match(await folder.read("note/v1.ts"), /versions: \[NoteV2, NoteV3beta1\]/);
  assert.doesNotMatch(await folder.read("note/v3beta1.ts"), /NoteV2|versions/);
  assert.match(await folder.read("main.ts"), /parts: \{ notes, noteV2, betaNotes \}/);
});

Deno.test("op new version rejects invalid versions, and changes no file", async (t) => {
  await using folder = await withNoteModule();
  await folder.write("note/v4.ts", "export {};\n");
  await folder.write("note/odd.ts", "export {};\n");
  const before = await filesIn(folder.path);
  for (
    const [name, args, code] of [
      ["a version that exists", ["Note", "--api-version", "v1"], 1],
      ["a version that Kubernetes cannot order", ["Note", "--api-version", "next"], 2],
      ["an unknown kind", ["Nota", "--api-version", "v2"], 1],
      ["a file that exists", ["Note", "--api-version", "v4"], 1],
      [
        "a module that does not exist",
        ["Note", "--api-version", "v2", "--module", "x.ts"],
        1,
      ],
      [
        "a module without the kind",
        ["Note", "--api-version", "v2", "--module", "note/odd.ts"],
        1,
      ],
      [
        "a key that is taken",
        ["Note", "--api-version", "v2", "--part", "notes"],
        1,
      ],
    ] as const
  ) {
    await t.step(name, async () => {
      const rejected = await folder.op("new", "version", "--kind", ...args);
      assert.equal(rejected.code, code, rejected.stderr);
      rejections.push(`$ op new version --kind ${args.join(" ")}\n${rejected.stderr}`);
      assert.deepEqual(await filesIn(folder.path), before);
    });
  }
});

Deno.test("op new version --no-edit creates only the files, and prints the lines to add to each module", async () => {
  await using folder = await withNoteModule();
  const before = await filesIn(folder.path);
  const created = await folder.op(...VERSION, "v2", "--no-edit");
  assert.equal(created.code, 0, created.stderr);
  assert.match(
    created.stdout,
    /^Add to note\/v1\.ts:\n\n {2}import \{ Note as NoteV2 \} from "\.\/v2\.ts";\n {2}resource\(\{ \.\.\., versions: \[NoteV2\] \}\)\n\nAdd to main\.ts:/,
  );
  const { "main.ts": main, "note/v1.ts": v1 } = await filesIn(folder.path);
  assert.deepEqual([main, v1], [before["main.ts"], before["note/v1.ts"]]);
});

Deno.test("op new rejects invalid controllers and webhooks, and changes no file", async (t) => {
  await using folder = await operatorFolder(NOTES);
  const before = await filesIn(folder.path);
  for (const { name, args, code } of REJECTED) {
    await t.step(name, async () => {
      const io = await folder.op("new", ...args);
      assert.equal(io.code, code, io.stdout + io.stderr);
      rejections.push(`$ op new ${args.join(" ")}\n${io.stderr}`);
      assert.equal(io.stdout, "");
      assert.deepEqual(await filesIn(folder.path), before);
    });
  }
});

Deno.test("the error messages of op new match tests/golden/new_errors.txt", async () => {
  assert.equal(rejections.length, 18, "this test needs the results of the tests above");
  await assertGolden("new_errors.txt", rejections.join("\n"));
});

Deno.test("op new controller overwrites no file, and adds the group to a folder name that exists", async () => {
  await using folder = await operatorFolder(NOTES);
  await Deno.mkdir(`${folder.path}/cache`);
  await folder.write("cache/mine.ts", "export {};\n");
  assert.equal((await folder.op("new", "controller", ...CACHE)).code, 0);
  assert.match(await folder.read("main.ts"), /from "\.\/cache_demo\/controller\.ts";/);
  const again = await folder.op(
    "new",
    "controller",
    "--kind",
    "Cache",
    "--api-version",
    "v1",
    "--group",
    "demo.example.org",
    "--part",
    "others",
  );
  assert.equal(again.code, 1);
  assert.match(again.stderr, /the folders "cache" and "cache_demo" exist, and op does not overwrite them\.$/m);
});

Deno.test("op new controller does not edit a module whose parts it cannot find, and prints the lines to add", async () => {
  const body = NOTES.replace("parts: { notes }", "parts: Object.fromEntries([['notes', notes]])");
  await using folder = await operatorFolder(body);
  const before = await filesIn(folder.path);
  const rejected = await folder.op("new", "controller", ...CACHE);
  assert.equal(rejected.code, 1);
  assert.match(
    rejected.stderr,
    /^Cannot add "caches" to "main\.ts": "parts" is neither an object literal nor a variable\. No file was created\. Use --no-edit/,
  );
  assert.match(
    rejected.stderr,
    /\n {2}import \{ caches \} from "\.\/cache\/controller\.ts";\n {2}operator\(\{ \.\.\., parts: \{ \.\.\., caches \} \}\)\n$/,
  );
  assert.deepEqual(await filesIn(folder.path), before);

  const alone = await folder.op("new", "controller", ...CACHE, "--no-edit");
  assert.equal(alone.code, 0, alone.stderr);
  assert.match(alone.stdout, /^Add to main\.ts:\n\n {2}import \{ caches \}/);
  const after = await filesIn(folder.path);
  assert.equal(after["main.ts"], before["main.ts"]);
  assert("cache/controller.ts" in after);
});

/** An Io whose user types the given answers. */
class AnsweringIo extends RecordedIo {
  readonly questions: string[] = [];

  constructor(cwd: string, readonly answers: (string | undefined)[]) {
    super(cwd);
  }

  isTerminal = () => true;
  ask = (question: string, preset: string): string | undefined => {
    this.questions.push(`${question} [${preset}]`);
    const answer = this.answers.shift();
    return answer === "" ? preset : answer;
  };
}

Deno.test("op new asks on a terminal, repeats invalid answers, and creates no project if the input ends", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const io = new AnsweringIo(folder, ["My Shop", "shop", "k8s.io", "", "Website", ""]);
    assert.equal(await cli(["new", "--sdk", SDK], io), 0, io.stderr);
    assert.deepEqual(io.questions, [
      "Name of the operator: [website-operator]",
      "Name of the operator: [website-operator]",
      "API group, a domain that you own: [demo.example.com]",
      "API group, a domain that you own: [demo.example.com]",
      "Kind, in CamelCase: [Website]",
      "Version of the kind: [v1]",
    ]);
    assert.match(io.stdout, /Use a name such as "my-shop"\.\n/);
    assert((await Deno.stat(`${folder}/shop/main.ts`)).isFile);

    const ended = new AnsweringIo(folder, ["other", undefined]);
    assert.equal(await cli(["new", "--sdk", SDK], ended), 2);
    assert.match(ended.stderr, /^Cannot create a project: the input ended/);
    assert.deepEqual([...Deno.readDirSync(folder)].map(({ name }) => name), ["shop"]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("op new webhook warns of an invalid object in its test, and writes no test for an older version", async () => {
  await using folder = await operatorFolder(`
export const Note = resource({
  group: "demo.example.com",
  version: "v2",
  kind: "Note",
  spec: s.object({ text: s.string({ validations: [{ rule: "self.startsWith('zq') && self.size() == 17" }] }) }),
  versions: [resource({ group: "demo.example.com", version: "v1", kind: "Note", spec: s.object({}) })],
});
export default operator({ name: "notes", version: "1.2.0", parts: { notes: controller(Note, { reconcile() {} }) } });
`);
  const add = ["new", "webhook", "--kind", "Note", "--module", "main.ts", "--type", "validation", "--no-edit"];
  const created = await folder.op(...add, "--api-version", "v2");
  assert.equal(created.code, 0, created.stderr);
  assert.match(
    created.stderr,
    /^Warning: the object in note\/validation_test\.ts does not follow .*\(spec\.text: .*\)\. Correct it\.\n$/,
  );
  await Deno.remove(`${folder.path}/note`, { recursive: true });
  const older = await folder.op(...add, "--api-version", "v1");
  assert.deepEqual([older.code, older.stderr], [0, ""]);
  assert.deepEqual(Object.keys(await filesIn(`${folder.path}/note`)), ["validation.ts"]);
});

Deno.test("op new creates an operator with a controller without a terminal, but not inside a project", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const io = new RecordedIo(folder);
    assert.equal(await cli(["new"], io), 0, io.stderr);
    assert((await Deno.stat(`${folder}/website-operator/website/controller.ts`)).isFile);

    // In a project, it would create a second one.
    const inProject = new RecordedIo(`${folder}/website-operator`);
    assert.equal(await cli(["new"], inProject), 2);
    assert.match(
      inProject.stderr,
      /^Cannot create a project: this folder has one \("operator\.toml"\)\. Add to it with/,
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
