/**
 * The source of webhook certificates, set in the settings file or on the command line, and the
 * manifests that are generated for it.
 */
import assert from "node:assert/strict";
import { operatorFolder } from "../_operator_folder.ts";

const GUARD = `
import { webhook } from ${JSON.stringify(new URL("../../mod.ts", import.meta.url).href)};
const maps = controller(ConfigMap, { reconcile() {} });
export default operator({ name: "guard", version: "1.2.0", parts: { maps, mapRules: webhook(ConfigMap, { validate() {} }) } });
`;
const settings = (source: string) => `[generate.webhooks]\ncertificates = "${source}"\n`;

/** Patterns in the manifests, by the property that each one shows. */
const PROPERTIES = {
  "cert-manager issues the certificate": /^kind: Certificate$/m,
  "cert-manager injects the authority": /^ {4}cert-manager\.io\/inject-ca-from: guard-system\/guard-webhook$/m,
  "the certificate is mounted": /^ +secretName: guard-webhook$/m,
  "the operator gets the paths of the files": /- --webhook-certificate=\/etc\/op-webhooks\/tls\.crt$/m,
  "the operator may write the Secret": /^ +resources: \[secrets\]$|^ +- secrets$/m,
} as const;

const SOURCES: readonly { source: string; expected: readonly (keyof typeof PROPERTIES)[] }[] = [
  { source: "self", expected: ["the operator may write the Secret"] },
  {
    source: "cert-manager",
    expected: [
      "cert-manager issues the certificate",
      "cert-manager injects the authority",
      "the certificate is mounted",
      "the operator gets the paths of the files",
    ],
  },
  { source: "files", expected: ["the certificate is mounted", "the operator gets the paths of the files"] },
];

/** Returns the contents of all files in a folder. */
async function contentsOf(folder: string): Promise<string> {
  let text = "";
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    text += isDirectory ? await contentsOf(`${folder}/${name}`) : await Deno.readTextFile(`${folder}/${name}`);
  }
  return text;
}

for (const { source, expected } of SOURCES) {
  Deno.test(`op generate manifests supports the certificate source "${source}" in operator.toml and as an option`, async () => {
    await using folder = await operatorFolder(GUARD);
    const check = async (dir: string): Promise<void> => {
      const text = await contentsOf(`${folder.path}/${dir}`);
      const found = Object.entries(PROPERTIES).filter(([, pattern]) => pattern.test(text)).map(([name]) => name);
      assert.deepEqual(found, expected);
    };
    assert.equal((await folder.op("generate", "manifests", "--dir", "flag", "--certificates", source)).code, 0);
    await check("flag");
    await folder.write("operator.toml", settings(source));
    assert.equal((await folder.op("generate", "manifests", "--dir", "file")).code, 0);
    await check("file");

    const verified = await folder.op(
      "rbac",
      "verify",
      "--exact",
      "-f",
      "file/rbac/role.yaml",
      "-f",
      "file/rbac/role_binding.yaml",
      "--as",
      "guard-system:guard",
    );
    assert.equal(verified.code, 0, verified.stdout + verified.stderr);

    // The option has precedence over the file.
    const flagged = await folder.op("rbac", "generate", "--certificates", "self");
    assert.match(flagged.stdout, /\bsecrets\b/);
  });
}

Deno.test("op generate manifests rejects an unknown certificate source", async () => {
  await using folder = await operatorFolder(GUARD);
  const flagged = await folder.op("generate", "manifests", "--certificates", "certmanager");
  assert.equal(flagged.code, 2);
  assert.match(flagged.stderr, /Allowed choices are self, cert-manager, files/);
  await folder.write("operator.toml", settings("certmanager"));
  const configured = await folder.op("generate", "manifests");
  assert.equal(configured.code, 1);
  assert.match(configured.stderr, /generate\.webhooks\.certificates.*one of self, cert-manager, files/);
});

Deno.test("op crd print, docs and diff use the operator's settings file", async () => {
  await using folder = await operatorFolder(`
import { conversion } from ${JSON.stringify(new URL("../../mod.ts", import.meta.url).href)};
const names = { group: "demo.example.com", kind: "Note" };
const Old = resource({ ...names, version: "v1", spec: s.object({ text: s.string() }) });
const Note = resource({ ...names, version: "v2", spec: s.object({ words: s.string() }), versions: [Old] });
const up = conversion(Old, Note, { up: ({ spec }) => ({ spec: { words: spec.text } }), down: ({ spec }) => ({ spec: { text: spec.words } }) });
export default operator({ name: "notes", version: "1.2.0", parts: { up } });
`);
  await folder.write("operator.toml", '[generate]\nnamespace = "elsewhere"\n');
  const printed = await folder.op("crd", "print");
  assert.match(printed.stdout, /namespace: elsewhere\n/, printed.stderr);
  await folder.write("other.toml", '[generate]\nnamespace = "third"\n');
  assert.match((await folder.op("crd", "print", "--config", "other.toml")).stdout, /namespace: third\n/);
  await folder.write("printed.yaml", printed.stdout);
  const same = await folder.op("crd", "diff", "printed.yaml", "main.ts");
  assert.deepEqual([same.code, same.stdout], [0, "No changes\n"]);
  await folder.write("operator.toml", "[generate]\nnamespac = 1\n");
  for (const command of [["crd", "print"], ["crd", "docs"], ["crd", "diff", "printed.yaml", "main.ts"]]) {
    const rejected = await folder.op(...command);
    assert.equal(rejected.code, 1, command.join(" "));
    assert.match(rejected.stderr, /"operator\.toml".*Did you mean "generate\.namespace"\?/);
  }
});
