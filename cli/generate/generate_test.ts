import assert from "node:assert/strict";
import { mainModule, NOTES, operatorFolder } from "../_operator_folder.ts";
import { isUntouched, resealed, sealed } from "./seal.ts";

const GENERATED_FILES = `base/kustomization.yaml
crd/kustomization.yaml
crd/notes.demo.example.com.yaml
manager/config_map.yaml
manager/deployment.yaml
manager/kustomization.yaml
manager/namespace.yaml
manager/pod_disruption_budget.yaml
manager/service.yaml
network-policy/kustomization.yaml
network-policy/network_policy.yaml
prometheus/config_map.yaml
prometheus/kustomization.yaml
prometheus/prometheus_rule.yaml
prometheus/service_monitor.yaml
rbac/kustomization.yaml
rbac/notes_roles.yaml
rbac/role.yaml
rbac/role_binding.yaml
rbac/service_account.yaml
samples/demo_v1_note.yaml
samples/kustomization.yaml`.split("\n");

Deno.test("op generate manifests writes a folder per concern, and no file if all are up to date", async () => {
  await using folder = await operatorFolder();
  const first = await folder.op("generate", "manifests");
  assert.equal(first.code, 0, first.stderr);
  assert.deepEqual(first.stdout.trim().split("\n").sort(), GENERATED_FILES.map((file) => `config/${file}`));
  const again = await folder.op("generate", "manifests");
  assert.equal(again.stdout, "Nothing to do: config is up to date (22 files)\n");
  const checked = await folder.op("generate", "manifests", "--check");
  assert.deepEqual([checked.code, checked.stdout], [0, "config is up to date (22 files)\n"]);
});

Deno.test("op generate updates outdated files and removes obsolete ones", async () => {
  await using folder = await operatorFolder();
  await folder.op("generate", "manifests");
  await folder.write("main.ts", mainModule(NOTES.replaceAll('"Note"', '"Letter"').replace("[ConfigMap]", "[Secret]")));
  const checked = await folder.op("generate", "manifests", "--check");
  assert.equal(checked.code, 1);
  assert.match(checked.stderr, /^outdated: config\/rbac\/role\.yaml$/m);
  assert.match(checked.stderr, /^missing: config\/crd\/letters\.demo\.example\.com\.yaml$/m);
  assert.match(checked.stderr, /^obsolete: config\/crd\/notes\.demo\.example\.com\.yaml$/m);
  assert.match(
    checked.stderr,
    /differ from the operator's declarations\. Run "op generate manifests" to update them\.\n$/,
  );

  const generated = await folder.op("generate", "manifests");
  assert.equal(generated.code, 0, generated.stderr);
  assert.match(generated.stdout, /^config\/crd\/notes\.demo\.example\.com\.yaml \(removed\)$/m);
  assert.match(await folder.read("config/rbac/role.yaml"), /# notes: owns Secret: applies it\n/);
  assert.equal((await folder.op("generate", "manifests", "--check")).code, 0);
});

Deno.test("op generate overwrites edited files only with --force", async () => {
  await using folder = await operatorFolder();
  await folder.op("generate", "manifests");
  const changed = `${await folder.read("config/rbac/role.yaml")}# edited\n`;
  await folder.write("config/rbac/role.yaml", changed);
  await folder.write("main.ts", mainModule(NOTES.replace("[ConfigMap]", "[Secret]").replace("1.2.0", "1.3.0")));
  const before = await folder.read("config/manager/deployment.yaml");

  const rejected = await folder.op("generate", "manifests");
  assert.equal(rejected.code, 1);
  assert.equal(
    rejected.stderr,
    'Cannot write "config/rbac/role.yaml": edited by hand. Move the edits into an overlay, or add --force to discard them.\n',
  );
  assert.equal(await folder.read("config/rbac/role.yaml"), changed);
  assert.equal(await folder.read("config/manager/deployment.yaml"), before);

  assert.equal((await folder.op("generate", "manifests", "--force")).code, 0);
  assert.doesNotMatch(await folder.read("config/rbac/role.yaml"), /# edited/);
});

const CONFIG = `
[operator]
log_level = "debug"
[build.image]
registry = "registry.example.com"
tag_prefix = "v"
[[generate.rbac.policies]]
api_groups = ["batch"]
resources = ["jobs"]
verbs = ["create", "get"]
`;

Deno.test("op generate reads image, settings and RBAC policies from operator.toml, and deploys only the settings", async () => {
  await using folder = await operatorFolder();
  await folder.write("operator.toml", CONFIG);
  const generated = await folder.op("generate", "manifests");
  assert.equal(generated.code, 0, generated.stderr);
  assert.match(await folder.read("config/manager/deployment.yaml"), /image: registry\.example\.com\/notes:v1\.2\.0\n/);
  const settings = await folder.read("config/manager/config_map.yaml");
  assert.match(settings, /operator\.toml: \|\n {4}\[operator\]\n {4}log_level = "debug"\n/);
  assert.doesNotMatch(settings, /registry|batch/);
  assert.match(
    await folder.read("config/rbac/role.yaml"),
    /apiGroups:\n {6}- batch\n {4}resources:\n {6}- jobs\n {4}verbs:\n {6}- create\n {6}- get\n/,
  );
  assert.equal((await folder.op("generate", "manifests", "--check")).code, 0);
  await folder.write("operator.toml", CONFIG.replace("batch", "apps"));
  assert.match((await folder.op("generate", "manifests", "--check")).stderr, /^outdated: config\/rbac\/role\.yaml\n/);
});

Deno.test("op generate rejects an invalid operator.toml, suggests a correction and writes no file", async () => {
  await using folder = await operatorFolder();
  const cases = [
    [
      CONFIG.replace("tag_prefix", "tag_prefx"),
      /unknown key "build\.image\.tag_prefx"\. Did you mean "build\.image\.tag_prefix"\?/,
    ],
    [CONFIG.replace("log_level", "log_leval"), /unknown key "log_leval"\. Did you mean "log_level"\?/],
    [
      CONFIG.replace("api_groups", "apigroups"),
      /policy 1 has an unknown key "apigroups"\. Did you mean "api_groups"\?/,
    ],
    [CONFIG.replace("registry.example.com", "https://x"), /the registry "https:\/\/x" is invalid/],
    ["[operator", /^Cannot read "operator\.toml": invalid TOML at line 1/],
  ] as const;
  for (const [text, message] of cases) {
    await folder.write("operator.toml", text);
    const rejected = await folder.op("generate", "manifests");
    assert.equal(rejected.code, 1, text);
    assert.match(rejected.stderr, message);
    await assert.rejects(folder.read("config/rbac/role.yaml"));
  }
  assert.match(
    (await folder.op("generate", "crd", "-c", "none.toml")).stderr,
    /^Cannot read settings "none\.toml": the file does not exist/,
  );
});

Deno.test("op generate tags the image with the commit, and --check accepts the tag of an earlier commit", async () => {
  await using folder = await operatorFolder();
  await folder.write("operator.toml", '[build.image]\ntag = "$TAG_OR_SHORT_COMMIT_SHA"\n');
  const git = async (...args: string[]) => {
    const identity = ["-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false"];
    const { success, stdout, stderr } = await new Deno.Command("git", {
      args: [...identity, ...args],
      cwd: folder.path,
      env: { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" },
    }).output();
    assert(success, new TextDecoder().decode(stderr));
    return new TextDecoder().decode(stdout).trim();
  };
  await git("init", "--quiet");
  const rejected = await folder.op("generate", "manifests");
  assert.equal(rejected.code, 1);
  assert.match(
    rejected.stderr,
    /uses "\$TAG_OR_SHORT_COMMIT_SHA", but git reports no commit: .* Use --image, or another tag\.\n$/,
  );
  assert.equal((await folder.op("sandbox")).code, 0, "a command without an image does not need the commit");

  await git("commit", "--quiet", "--allow-empty", "-m", "one");
  assert.equal((await folder.op("generate", "manifests")).code, 0);
  const hash = await git("rev-parse", "--short", "HEAD");
  assert.match(await folder.read("config/manager/deployment.yaml"), new RegExp(`image: notes:${hash}\n`));
  await git("commit", "--quiet", "--allow-empty", "-m", "two");
  const checked = await folder.op("generate", "manifests", "--check");
  assert.equal(checked.code, 0, checked.stderr);
  await git("tag", "release-2");
  assert.equal((await folder.op("generate", "manifests")).code, 0);
  assert.match(await folder.read("config/manager/deployment.yaml"), /image: notes:release-2\n/);
});

Deno.test("op generate keeps an edited sample", async () => {
  await using folder = await operatorFolder();
  await folder.op("generate", "manifests");
  await folder.write("config/samples/demo_v1_note.yaml", "edited\n");
  assert.equal((await folder.op("generate", "manifests")).code, 0);
  assert.equal((await folder.op("generate", "manifests", "--check")).code, 0);
  assert.equal(await folder.read("config/samples/demo_v1_note.yaml"), "edited\n");
});

Deno.test("op generate rbac writes only the roles, for the given namespaces", async () => {
  await using folder = await operatorFolder();
  const generated = await folder.op("generate", "rbac", "--into", "ops", "--namespace", "a", "b", "--dir", "deploy");
  assert.equal(generated.code, 0, generated.stderr);
  assert.deepEqual(generated.stdout.trim().split("\n").length, 5);
  const role = await folder.read("deploy/rbac/role.yaml");
  assert.deepEqual([...role.matchAll(/^ {2}namespace: (.*)$/gm)].map(([, name]) => name), ["a", "b", "ops"]);
  assert.match(await folder.read("deploy/rbac/service_account.yaml"), /\n {2}namespace: ops\n/);
});

Deno.test("op generate warns about a sample that violates the rules of its kind", async () => {
  await using folder = await operatorFolder(
    NOTES.replace("s.object({ text: s.string() })", `s.object({ text: s.string() }, RULES)`)
      .replace(
        "const Note",
        `const RULES = { validations: [{ rule: "self.text == 'x1'", message: "must be x1" }] };\nconst Note`,
      ),
  );
  const generated = await folder.op("generate", "crd");
  assert.equal(generated.code, 0);
  assert.match(
    generated.stderr,
    /^Warning: the generated sample of Note \(demo\.example\.com\/v1\) is not valid: spec: .*must be x1\. Set "example" in the schema, or/,
  );
  assert.match(await folder.read("config/samples/demo_v1_note.yaml"), /# To be corrected: spec: .*must be x1\n/);
  await folder.write("config/samples/demo_v1_note.yaml", "edited\n");
  assert.equal((await folder.op("generate", "crd")).stderr, "");
});

const reviewedOperator = (webhook: string, spec = "s.object({ text: s.string() })") => `
const names = { group: "demo.example.com", kind: "Note" };
const NoteV1 = resource({ ...names, version: "v1", spec: ${spec} });
const Note = resource({ ...names, version: "v2", spec: s.object({ words: s.string() }), versions: [NoteV1] });
const notes = controller(Note, { reconcile() {} });
const older = controller(NoteV1, { reconcile() {} });
const noteV1 = conversion(NoteV1, Note, { up: ({ spec }) => ({ spec: { words: spec.text } }), down: ({ spec }) => ({ spec: { text: spec.words } }) });
const noteRules = webhook(Note, ${webhook});
export default operator({ name: "notes", parts: { notes, older, noteV1, noteRules } });
`;

const REVIEW_CASES: readonly { readonly name: string; readonly body: string; readonly expected: readonly RegExp[] }[] =
  [
    { name: "a webhook that accepts the samples", body: reviewedOperator("{ validate() {} }"), expected: [] },
    {
      name: "a webhook that rejects a value of one version",
      body: reviewedOperator(
        '{ validate: ({ spec }) => spec.words === "text" ? deny("choose another", { field: "spec.words" }) : undefined }',
      ),
      expected: [
        /sample of Note \(demo\.example\.com\/v1\) is not valid: webhook "noteRules": spec\.words: choose another\. Set "example"/,
      ],
    },
    {
      name: "a webhook that corrects a sample before it is validated",
      body: reviewedOperator(
        '{ mutate({ spec }) { spec.words = "good"; }, validate: ({ spec }) => spec.words === "good" ? undefined : deny("bad") }',
      ),
      expected: [],
    },
    {
      name: "a webhook that throws an error",
      body: reviewedOperator(
        '{ validate({ spec }) { if (spec.words === "words") throw new RangeError("too much"); } }',
      ),
      expected: [/sample of Note \(demo\.example\.com\/v2\) is not valid: webhook "noteRules": it failed: too much\./],
    },
    {
      name: "a webhook that reads the cluster and is not called",
      body: reviewedOperator('{ reads: [ConfigMap], validate: () => deny("no ConfigMap") }'),
      expected: [],
    },
    {
      name: "a webhook that uses services, which samples do not have",
      body: reviewedOperator("{ validate(_, { services }) { services.rules.check(); } }"),
      expected: [],
    },
  ];

for (const { name, body, expected } of REVIEW_CASES) {
  Deno.test(`op generate reviews samples with the operator's own webhooks: ${name}`, async () => {
    await using folder = await operatorFolder();
    const imports = mainModule(body).replace("controller,", "controller, conversion, deny, webhook,");
    await folder.write("main.ts", imports);
    const generated = await folder.op("generate", "crd");
    assert.equal(generated.code, 0, generated.stderr);
    const lines = generated.stderr.split("\n").slice(0, -1);
    assert.equal(lines.length, expected.length, generated.stderr);
    for (const [i, line] of lines.entries()) assert.match(line, expected[i]!);
    const samples = [
      await folder.read("config/samples/demo_v1_note.yaml"),
      await folder.read("config/samples/demo_v2_note.yaml"),
    ];
    assert.deepEqual(samples.map((text) => /^ {2}name: (.*)$/m.exec(text)?.[1]), ["note-v1-sample", "note-v2-sample"]);
    assert.equal(samples.filter((text) => text.includes("# To be corrected: webhook")).length, expected.length);
    assert.equal((await folder.op("generate", "crd", "--check")).code, 0);
  });
}

Deno.test("op generate overlay does not overwrite an existing overlay", async () => {
  await using folder = await operatorFolder();
  const generated = await folder.op("generate", "overlay", "local", "--image", "registry:5000/notes:9");
  assert.equal(generated.code, 0, generated.stderr);
  const text = await folder.read("config/overlays/local/kustomization.yaml");
  assert.match(text, /name: notes\n {4}newName: registry:5000\/notes\n {4}newTag: "9"\n/);
  assert.match(text, /value: Never/);
  const again = await folder.op("generate", "overlay", "local");
  assert.equal(again.code, 1);
  assert.match(again.stderr, /^Cannot generate overlay "local": "config\/overlays\/local\/kustomization\.yaml" exists/);
  assert.equal((await folder.op("generate", "overlay", "../x")).code, 2);
});

Deno.test("op generate rejects an invalid namespace", async () => {
  await using folder = await operatorFolder();
  const rejected = await folder.op("generate", "manifests", "--into", "My_Space");
  assert.equal(rejected.code, 2);
  assert.match(
    rejected.stderr,
    /argument 'My_Space' is invalid\. Use 1 to 63 lowercase letters, digits and dashes/,
  );
  await folder.write("operator.toml", '[generate]\nnamespace = "My_Space"\n');
  const result = await folder.op("generate", "manifests");
  assert.equal(result.code, 1);
  assert.equal(
    result.stderr,
    'Cannot install operator "notes": "My_Space" is not the name of a namespace. Use at most 63 lowercase letters, digits and dashes, beginning and ending with a letter or digit.\n',
  );
});

Deno.test("isUntouched accepts a generated file and a resealed one, but not an edited one", () => {
  const file = sealed("kind: Role\nname: old\n");
  assert(isUntouched(file));
  assert(!isUntouched(file.replace("Role", "Rule")));
  assert(!isUntouched("kind: Role\n"));
  assert(isUntouched(resealed(file, file.replace("old", "new"))));
  assert.equal(resealed("kind: Role\n", "kind: Rule\n"), "kind: Rule\n");
});
