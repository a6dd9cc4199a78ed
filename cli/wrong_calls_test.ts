/**
 * Tests the errors of wrong calls: a message that quotes the wrong value, and how to correct it.
 */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { assertGolden } from "../tests/fixtures/golden.ts";
import { mainModule, NOTES, operatorFolder } from "./_operator_folder.ts";
import { EXIT } from "./exit_code.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url)).replace(/\/$/, "");

const operatorOf = (options: string): string => mainModule(`export default (operator as any)(${options});`);
const kubeconfig = (more: object): string =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "here", cluster: { server: "https://cluster.example.com" } }],
    contexts: [
      { name: "prod", context: { cluster: "here", user: "me" } },
      { name: "orphan", context: { cluster: "gone", user: "me" } },
      { name: "unknown", context: { cluster: "here", user: "gone" } },
    ],
    users: [{ name: "me", user: {} }],
    ...more,
  });

const FILES: Readonly<Record<string, string>> = {
  "throws.ts": 'throw new Error("no such luck");',
  "rejects.ts": 'await Promise.reject(new TypeError("late"));',
  "nothing.ts": "const nothing = 1;",
  "number.ts": "export default 42;",
  "two.ts": mainModule(
    'export const a = operator({ name: "a", parts: {} }); export const b = operator({ name: "b", parts: {} });',
  ),
  "no_options.ts": operatorOf(""),
  "no_name.ts": operatorOf("{ parts: {} }"),
  "no_parts.ts": operatorOf('{ name: "a" }'),
  "list.ts": operatorOf('{ name: "a", parts: [] }'),
  "no_part.ts": operatorOf('{ name: "a", parts: { pages: null } }'),
  "function.ts": operatorOf('{ name: "a", parts: { pages: () => {} } }'),
  "syntax.ts": "export default {",
  "import.ts": 'import "./gone.ts";',
  "package.ts": 'import "gone";',
  "waits.ts": "await new Promise(() => {});",
  "ends.ts": "Deno.exit(3);",
  "unelected.ts": operatorOf('{ name: "unelected", parts: {}, leaderElection: false }'),
  "text.txt": "hello",
  "data.json": "{}",
  "empty.yaml": "",
  "scalar.yaml": "hello",
  "list.yaml": "- a",
  "broken.yaml": "a: [b\nc: d",
  "no_kind.yaml": "apiVersion: v1\nmetadata: { name: a }",
  "no_name.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {}",
  "map.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }",
  "role.yaml": "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: { name: a }\nrules: all",
  "typo.toml": "[operatr]",
  "broken.toml": "[operator",
  "level.toml": "[operator]\nlog_level = 5",
  "selector.toml": '[operator]\nselector = "app=web,"',
  "namespaces.toml": '[operator]\nnamespaces = ["team-*"]',
  "policy.toml": '[[generate.rbac.policies]]\napi_groups = "apps"\nresources = ["deployments"]\nverbs = ["get"]',
  "builder.toml": "[build.builder]\nbinary = 5",
  "broken.kubeconfig": "a: [b",
  "scalar.kubeconfig": "hello",
  "none.kubeconfig": kubeconfig({}),
  "good.kubeconfig": kubeconfig({ "current-context": "prod" }),
  "url.kubeconfig": kubeconfig({
    "current-context": "prod",
    clusters: [{ name: "here", cluster: { server: "nowhere" } }],
  }),
  "config/overlays/prod/kustomization.yaml": "resources: []",
  "config/overlays/staging/kustomization.yaml": "resources: [gone.yaml]",
  "folder/text.txt": "hello",
};

const CACHE = "--kind Cache --group shop.example.com";

/** The wrong calls: the arguments of `op`, separated by spaces. */
const WRONG_CALLS = [
  // Files without an operator.
  "crd print nowhere.ts",
  "crd print folder",
  "crd print throws.ts",
  "start throws.ts",
  "sandbox rejects.ts",
  "crd print nothing.ts",
  "start number.ts",
  "doctor two.ts",
  "crd print no_options.ts",
  "crd print no_name.ts",
  "crd print no_parts.ts",
  "crd print list.ts",
  "crd print no_part.ts",
  "crd print function.ts",
  "crd print syntax.ts",
  "crd print import.ts",
  "crd print package.ts",
  "crd print waits.ts",
  "crd print ends.ts",
  "crd print text.txt",
  "crd print data.json",
  // Settings.
  "crd print -c nowhere.toml",
  "crd print -c folder",
  "crd print -c typo.toml",
  "crd print -c broken.toml",
  "crd print -c level.toml",
  "crd print -c namespaces.toml",
  "generate rbac -c policy.toml",
  "generate manifests -c builder.toml",
  "start -l loud",
  "start -n Bad_Name",
  "start -- --selector app=web,",
  "start -c selector.toml",
  "crd print -c selector.toml",
  "start -n team-*",
  "start --skip-controllers --skip-webhook-server",
  "start -- --nonsense",
  // Clusters.
  "deploy map.yaml --kubeconfig nowhere",
  "deploy map.yaml --kubeconfig folder",
  "doctor --kubeconfig broken.kubeconfig",
  "plan --kubeconfig scalar.kubeconfig",
  "dev --kubeconfig none.kubeconfig",
  "uninstall --kubeconfig good.kubeconfig --context prd",
  "start --kubeconfig good.kubeconfig --context prd",
  "doctor --kubeconfig good.kubeconfig --context orphan",
  "plan --kubeconfig good.kubeconfig --context unknown",
  "plan --kubeconfig url.kubeconfig",
  "rbac verify --cluster --kubeconfig nowhere",
  "dev --local --kubeconfig good.kubeconfig",
  "dev --local --webhook-port abc",
  "dev --local --webhook-url nope",
  "plan --timeout soon",
  "pause main.ts",
  "pause shop --for soon",
  "pause shop --for 0s",
  "pause shop --for 9000h",
  "resume",
  "dev --priority 5",
  "start --take-over --priority high",
  "start unelected.ts --take-over",
  "deploy map.yaml --timeout -1",
  // Overlays and objects.
  "deploy prodd",
  "deploy elsewhere",
  "deploy staging",
  "deploy prod",
  "deploy empty.yaml",
  "deploy folder",
  "deploy scalar.yaml",
  "deploy list.yaml",
  "deploy no_kind.yaml",
  "deploy no_name.yaml",
  "deploy broken.yaml",
  "generate manifests --dir text.txt",
  "generate overlay dev --dir text.txt",
  "generate overlay ../up",
  "generate manifests --into My_Space",
  "generate manifests -n ok My_Space",
  "generate crd --image a\tb",
  "generate manifest",
  // Roles.
  "rbac verify -f empty.yaml",
  "rbac verify -f role.yaml",
  "rbac verify -f map.yaml -o xml",
  "rbac verify -f map.yaml --as a:b:c",
  "rbac generate -o folder",
  "rbac generate -o folder --force",
  "rbac generate -o no/where.yaml",
  "rbac unused main.ts -- no-such-program",
  // New projects and parts.
  `new controller ${CACHE} --api-version vv1`,
  `new controller ${CACHE} --api-version v1beta`,
  `new controller text.txt ${CACHE} --api-version v1`,
  "new operator shop --api-version v01",
  "new operator shop --sdk nowhere",
  "new operator a/b",
  "new operator shop --dir text.txt",
  "build -o folder",
  "trace text.txt",
  "crd import folder",
  "crd import map.yaml",
];
function entries(folder: string): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) =>
    isDirectory ? entries(`${folder}/${name}`).map((below) => `${name}/${below}`) : [name]
  ).sort();
}

// Deno 2.4 words some errors differently.
const IS_RECORDED = !Deno.version.deno.startsWith("2.4.");

Deno.test("op reports each wrong call with the error in tests/golden/wrong_calls.txt, and writes no file", async () => {
  await using folder = await operatorFolder(NOTES);
  for (const [file, text] of Object.entries(FILES)) {
    await Deno.mkdir(`${folder.path}/${file}`.replace(/\/[^/]*$/, ""), { recursive: true });
    await folder.write(file, text);
  }
  const before = entries(folder.path);
  const results: string[] = [];
  for (const call of WRONG_CALLS) {
    const { code, stdout, stderr } = await folder.op(...call.split(" "));
    assert.equal(stdout, "", call);
    assert.notEqual(stderr, "", call);
    assert(code === EXIT.failed || code === EXIT.usage, `${call} exits with ${code}`);
    assert((stderr.match(/^ +at /gm)?.length ?? 0) <= 1, `${call} prints a stack trace: ${stderr}`);
    assert.deepEqual(entries(folder.path), before, call);
    const shown = stderr.replaceAll(folder.path, "<folder>").replaceAll(ROOT, "<root>");
    results.push(`$ op ${call}\n${shown}exit code ${code}\n`);
  }
  if (!IS_RECORDED) return;
  await assertGolden("wrong_calls.txt", results.join("\n"));
});

for (const call of ["rbac verify -f -", "rbac verify -f - -", "deploy -", "crd import -"]) {
  Deno.test(`op ${call} reports that standard input is empty`, async () => {
    await using folder = await operatorFolder(NOTES);
    const { code, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--quiet", fileURLToPath(new URL("main.ts", import.meta.url)), ...call.split(" ")],
      cwd: folder.path,
      stdin: "null",
    }).output();
    assert.equal(code, 1);
    assert.match(new TextDecoder().decode(stderr), /^Cannot \w+ (a CustomResourceDefinition in )?standard input: /);
  });
}
