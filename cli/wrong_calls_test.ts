/** What whoever uses `op` for the first time gets wrong: each time one message that quotes it and says what to do, no stack trace, and nothing is written. */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { mainModule, NOTES, operatorFolder } from "./_operator_folder.ts";

const operatorOf = (options: string): string => mainModule(`export default (operator as any)(${options});`);
const kubeconfig = (more: object): string =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "here", cluster: { server: "https://cluster.example.com" } }],
    contexts: [
      { name: "prod", context: { cluster: "here", user: "me" } },
      { name: "orphan", context: { cluster: "gone", user: "me" } },
      { name: "nobody", context: { cluster: "here", user: "gone" } },
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

/** What is typed behind `op`, the exit code, and what is said. */
const WRONG: readonly (readonly [given: string, code: number, says: RegExp])[] = [
  // A file that is no operator's.
  ["crds nowhere.ts", 1, /^Cannot read "nowhere\.ts": there is no such file; name the file whose default export/],
  ["crds folder", 1, /^Cannot read "folder": that is a folder; name the file whose default export is the operator$/],
  ["crds throws.ts", 1, /^Cannot load "throws\.ts": Error: no such luck\n {4}at throws\.ts:1:7$/],
  ["start throws.ts", 1, /^Cannot load "throws\.ts": Error: no such luck\n {4}at throws\.ts:1:7$/],
  ["sandbox rejects.ts", 1, /^Cannot load "rejects\.ts": TypeError: late\n {4}at rejects\.ts:1:22$/],
  [
    "crds nothing.ts",
    1,
    /^Cannot find an operator in "nothing\.ts": its default export is none; write "export default/,
  ],
  [
    "start number.ts",
    1,
    /^Cannot find an operator in "number\.ts": its default export is none that operator\(\) made;/,
  ],
  ["doctor two.ts", 1, /default export is none; it exports "a" and "b" by name: write "export default a" there$/],
  ["crds no_options.ts", 1, /Cannot make an operator: its name is missing, and must be a text, such as operator\(\{/],
  ["crds no_name.ts", 1, /Cannot make an operator: its name is missing, .*\n {4}at no_name\.ts:3:\d+$/],
  [
    "crds no_parts.ts",
    1,
    /Cannot make operator "a": its parts are missing, and must be an object of them by their keys/,
  ],
  ["crds list.ts", 1, /Cannot make operator "a": its parts are a list, and must be an object/],
  [
    "crds no_part.ts",
    1,
    /Cannot make operator "a": part "pages" is null, and must be what controller\(\), webhook\(\)/,
  ],
  ["crds function.ts", 1, /part "pages" is a function, and must be what controller\(\)/],
  ["crds syntax.ts", 1, /^Cannot load "syntax\.ts": SyntaxError: [^]*\n {4}at syntax\.ts:1:17$/],
  ["crds import.ts", 1, /^Cannot load "import\.ts": Module not found "gone\.ts"\.\n {4}at import\.ts:1:8$/],
  ["crds package.ts", 1, /^Cannot load "package\.ts": Import "gone" not a dependency/],
  ["crds waits.ts", 1, /^Cannot load "waits\.ts": it waits at its top level for a promise that is never settled;/],
  ["crds ends.ts", 1, /^Cannot load "ends\.ts": it ended the process with exit code 3 while it was loaded; leave that/],
  ["crds text.txt", 1, /^Cannot load "text\.txt": Expected a JavaScript or TypeScript module/],
  ["crds data.json", 1, /^Cannot load "data\.json": Attempted to load JSON module/],
  // Settings.
  ["crds -c nowhere.toml", 1, /^Cannot read "nowhere\.toml": there is no such file$/],
  ["crds -c folder", 1, /^Cannot read "folder": that is a folder; name the file in it$/],
  ["crds -c typo.toml", 1, /^Cannot read "typo\.toml": "operatr" is no key: did you mean "operator"\?$/],
  ["crds -c broken.toml", 1, /^Cannot read "broken\.toml": it is not TOML at line 1, column 2$/],
  ["crds -c level.toml", 1, /^Cannot take "log_level" in "level\.toml": it is 5, and must be one of debug, info, /],
  [
    "crds -c namespaces.toml",
    1,
    /^Cannot take "namespaces" in "namespaces\.toml": it is \["team-\*"\], and must be names of/,
  ],
  ["generate rbac -c policy.toml", 1, /"api_groups" of policy 1 is "apps", and must be a list of texts$/],
  ["generate manifests -c builder.toml", 1, /^Cannot take "build\.builder\.binary" in .*: it is 5, and must be a text/],
  ["start -l loud", 2, /argument 'loud' is invalid\. Allowed choices are debug, info, warn, error\.$/m],
  ["start -n Bad_Name", 2, /^notes: Cannot take --namespace: it is \["Bad_Name"\], and must be names of namespaces/],
  [
    "start -- --selector app=web,",
    2,
    /^notes: Cannot take --selector: it is "app=web,", and must be a label selector, such as app=web or .*: found '', /,
  ],
  [
    "start -c selector.toml",
    2,
    /^notes: Cannot take "selector" in ".*selector\.toml": it is "app=web,", and must be a/,
  ],
  ["crds -c selector.toml", 1, /^Cannot take "selector" in "selector\.toml": it is "app=web,", and must be a label/],
  ["start -n team-*", 2, /names of namespaces: "team-\*" is none, and patterns are not taken/],
  ["start --skip-controllers --skip-webhook-server", 2, /^notes: Cannot start: controllers are skipped and webhooks/],
  ["start -- --nonsense", 2, /^notes: Cannot take "--nonsense": there is no such option$/m],
  // Clusters.
  ["deploy map.yaml --kubeconfig nowhere", 1, /^Cannot read kubeconfig ".*\/nowhere": it does not exist$/],
  ["deploy map.yaml --kubeconfig folder", 1, /^Cannot read kubeconfig ".*\/folder": it is a directory$/],
  ["doctor --kubeconfig broken.kubeconfig", 1, /^Cannot read kubeconfig .*: it is not YAML at line 2, column 1$/],
  ["plan --kubeconfig scalar.kubeconfig", 1, /^Cannot read kubeconfig .*: it is not an object of kind "Config"$/],
  ["dev --kubeconfig none.kubeconfig", 1, /there is no current-context: name one with --context \(there are: prod, /],
  ["uninstall --kubeconfig good.kubeconfig --context prd", 1, /context "prd" is not in it: did you mean "prod"\?/],
  ["start --kubeconfig good.kubeconfig --context prd", 1, /context "prd" is not in it: did you mean "prod"\?/],
  ["doctor --kubeconfig good.kubeconfig --context orphan", 1, /"orphan" names cluster "gone", which has no server/],
  ["plan --kubeconfig good.kubeconfig --context nobody", 1, /"nobody" names user "gone", which is not in it$/],
  ["plan --kubeconfig url.kubeconfig", 1, /its server "nowhere" is not an http or https address$/],
  ["rbac verify --cluster --kubeconfig nowhere", 1, /^Cannot read kubeconfig ".*\/nowhere": it does not exist$/],
  ["dev --local --kubeconfig good.kubeconfig", 2, /^Cannot run --local with --kubeconfig: it brings an API server/],
  ["dev --local --webhook-port abc", 2, /^Cannot take --webhook-port "abc": it must be a port$/],
  ["dev --local --webhook-url nope", 2, /^Cannot take --webhook-url "nope": it must be such as https:/],
  [
    "plan --timeout soon",
    2,
    /^Cannot use --timeout "soon": it must be a duration greater than zero, such as 20s, 2m or 1h30m\.$/,
  ],
  [
    "deploy map.yaml --timeout -1",
    2,
    /^Cannot use --timeout "-1": it must be a duration greater than zero, such as 20s, 2m or 1h30m\.$/,
  ],
  // Overlays and objects.
  [
    "deploy prodd",
    1,
    /\(there is "prod", "staging"\) nor "prodd" is there; did you mean "prod"\? Otherwise make it with/,
  ],
  ["deploy elsewhere", 1, /nor "elsewhere" is there; make it with "op generate overlay elsewhere"$/],
  ["deploy staging", 1, /^Cannot build ".*\/staging\/kustomization\.yaml": the resource "gone\.yaml" does not exist$/],
  [
    "deploy prod",
    1,
    /^Cannot deploy "prod": there is no object in it; name an overlay, a folder or a file that has some$/,
  ],
  ["deploy empty.yaml", 1, /^Cannot deploy "empty\.yaml": there is no object in it/],
  ["deploy folder", 1, /it has no kustomization\.yaml\. Create an overlay with "op generate overlay NAME"\.$/],
  [
    "deploy scalar.yaml",
    1,
    /^Cannot read "scalar\.yaml": "apiVersion" or "kind" is missing in a document\. Both are required and must be strings\.$/,
  ],
  [
    "deploy list.yaml",
    1,
    /^Cannot read "list\.yaml": "apiVersion" or "kind" is missing in a document\. Both are required and must be strings\.$/,
  ],
  [
    "deploy no_kind.yaml",
    1,
    /^Cannot read "no_kind\.yaml": "apiVersion" or "kind" is missing in a document\. Both are required and must be strings\.$/,
  ],
  ["deploy no_name.yaml", 1, /^Cannot read "no_name\.yaml": "metadata\.name" of a ConfigMap must be a string$/],
  ["deploy broken.yaml", 1, /^Cannot read "broken\.yaml": .* at line 2, column 1:/],
  ["generate manifests --dir text.txt", 2, /^Cannot write into "text\.txt": that is a file; name a folder with --dir$/],
  ["generate overlay dev --dir text.txt", 2, /^Cannot write into "text\.txt": that is a file/],
  [
    "generate overlay ../up",
    2,
    /^Cannot make an overlay "\.\.\/up": its name must be small letters, digits and dashes$/,
  ],
  ["generate manifests --into My_Space", 2, /argument 'My_Space' is invalid\. It must be small letters, digits/],
  ["generate manifests -n ok My_Space", 2, /argument 'My_Space' is invalid\. It must be small letters, digits/],
  ["generate crd --image a\tb", 2, /argument 'a\tb' is invalid\. Write it as "registry\/name:tag"\.$/m],
  ["generate manifest", 2, /unknown command 'manifest'\n\(Did you mean manifests\?\)/],
  // Roles.
  ["rbac verify -f empty.yaml", 1, /^Cannot verify "empty\.yaml": there is no object in it; hand in what "op rbac gen/],
  ["rbac verify -f role.yaml", 1, /^Cannot read "role\.yaml": Role "a" has "rules" that is no list$/],
  ["rbac verify -f map.yaml -o xml", 2, /argument 'xml' is invalid\. Allowed choices are text, json, yaml\.$/m],
  ["rbac verify -f map.yaml --as a:b:c", 2, /^Cannot take "a:b:c" for a service account: say NAME or NAMESPACE:NAME$/],
  ["rbac generate -o folder", 1, /^Cannot write "folder": that is a folder; name a file in it$/],
  ["rbac generate -o folder --force", 1, /^Cannot write "folder": that is a folder; name a file in it$/],
  ["rbac generate -o no/where.yaml", 1, /^Cannot write "no\/where\.yaml": there is no such folder$/],
  ["rbac unused main.ts -- no-such-program", 1, /^Cannot run "no-such-program": there is no such program$/],
  // New things.
  [`new controller ${CACHE} --api-version vv1`, 2, /version "vv1" is none that Kubernetes has in order, .*; try "v1"$/],
  [`new controller ${CACHE} --api-version v1beta`, 2, /version "v1beta" is none that Kubernetes has in order/],
  [`new controller text.txt ${CACHE} --api-version v1`, 1, /^Cannot load "text\.txt": Expected a JavaScript/],
  ["new operator shop --api-version v01", 2, /version "v01" is none that Kubernetes has in order, .*; try "v1"$/],
  [
    "new operator shop --sdk nowhere",
    2,
    /^Cannot use the SDK in "nowhere": there is no deno\.json of @op\/sdk in that/,
  ],
  ["new operator a/b", 2, /^Cannot name an operator "a\/b": .*; try "a-b"$/],
  [
    "new operator shop --dir text.txt",
    1,
    /^Cannot make a project in ".*\/text\.txt": that is a file; name another folder/,
  ],
  ["build -o folder", 1, /^Cannot write "folder": that is no file; name another one with --output$/],
  [
    "trace text.txt",
    1,
    /^Cannot read "text\.txt\.map": name an executable that "op build" made, with its \.map beside it$/,
  ],
  ["import folder", 1, /^Cannot read "folder": it is a folder; name a file$/],
  ["import map.yaml", 1, /^Cannot find a CustomResourceDefinition in "map\.yaml": name a file that has one/],
];

function entries(folder: string): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) =>
    isDirectory ? entries(`${folder}/${name}`).map((below) => `${name}/${below}`) : [name]
  ).sort();
}

// Earlier ones say some of it in other words.
const SAYS_ALL = !Deno.version.deno.startsWith("2.4.");

Deno.test({
  name: "op tells each wrong call what is wrong with it and what to do, by its exit code too, and writes nothing",
  async fn(t) {
    await using folder = await operatorFolder(NOTES);
    for (const [file, text] of Object.entries(FILES)) {
      await Deno.mkdir(`${folder.path}/${file}`.replace(/\/[^/]*$/, ""), { recursive: true });
      await folder.write(file, text);
    }
    const before = entries(folder.path);
    for (const [given, code, says] of WRONG) {
      await t.step(given, async () => {
        const told = await folder.op(...given.split(" "));
        assert.match(told.stderr.trimEnd(), SAYS_ALL ? says : /./);
        assert.equal(told.code, code, told.stderr);
        assert.equal(told.stdout, "");
        assert((told.stderr.match(/^ +at /gm)?.length ?? 0) <= 1, told.stderr);
        assert.deepEqual(entries(folder.path), before);
      });
    }
  },
});

Deno.test("op rbac verify, deploy and import say that there is nothing on standard input", async (t) => {
  await using folder = await operatorFolder(NOTES);
  const main = fileURLToPath(new URL("main.ts", import.meta.url));
  for (
    const [given, says] of [
      [
        "rbac verify -f -",
        'Cannot verify standard input: there is no object in it; hand in what "op rbac generate" prints',
      ],
      ["rbac verify -f - -", "Cannot verify standard input: there is no object in it"],
      ["deploy -", "Cannot deploy standard input: there is no object in it; name an overlay, a folder or a file"],
      ["import -", "Cannot find a CustomResourceDefinition in standard input"],
    ] as const
  ) {
    await t.step(given, async () => {
      const { code, stderr } = await new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", "--quiet", main, ...given.split(" ")],
        cwd: folder.path,
        stdin: "null",
      }).output();
      assert.equal(code, 1);
      assert(new TextDecoder().decode(stderr).startsWith(says), new TextDecoder().decode(stderr));
    });
  }
});
