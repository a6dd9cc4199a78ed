import assert from "node:assert/strict";
import { createApiserver, kubeconfigFor, serveApiserver } from "@op/sdk/testing";
import { operatorFolder } from "./_operator_folder.ts";
import { RecordedIo } from "./_recorded_io.ts";
import { cli } from "./cli.ts";
import { colored, printable, printingSafely } from "./terminal.ts";

/**
 * Control sequences that clear the screen, set the title, fill the clipboard and hide text, in
 * their 7-bit and 8-bit forms.
 */
const CONTROL_SEQUENCES = "\x1b[2J\x1b]0;PWN\x07\x1b]52;c;cHduZWQ=\x07\x1b[8m\x9b2J\x7f\rgone";
const ESCAPED = "\\u001b[2J\\u001b]0;PWN\\u0007\\u001b]52;c;cHduZWQ=\\u0007\\u009b2J\\u007f\\u000dgone";

function assertPrintable(text: string): void {
  // deno-lint-ignore no-control-regex
  assert.doesNotMatch(text, /[\x00-\x08\x0b-\x1f\x7f-\x9f]/);
}

Deno.test("printable removes styles and escapes other control characters", () => {
  assert.equal(printable(CONTROL_SEQUENCES), ESCAPED);
  assert.equal(printable("tab\tline\r\nüñí → 漢字 😀\r"), "tab\tline\r\nüñí → 漢字 😀\r");
});

Deno.test("printingSafely prints only the styles of op", () => {
  const io = new RecordedIo();
  printingSafely(io).out(`${colored(`wrong ${CONTROL_SEQUENCES}`, "red")}: \x1b[32mgood\x1b[0m\n`);
  assert.equal(io.stdout, `\x1b[31mwrong ${ESCAPED}\x1b[0m: good\n`);
});

Deno.test("op prints no control sequences of objects in a cluster", async (t) => {
  await using apiserver = createApiserver();
  await using served = serveApiserver(apiserver);
  await using folder = await operatorFolder(`
const copies = controller(ConfigMap, {
  owns: [Secret],
  async reconcile({ metadata: { name }, data }, { apply }) {
    if (name === "evil") await apply(Secret, { metadata: { name, labels: { seen: "yes" } }, stringData: data ?? {}, type: data?.text ?? "x" });
  },
});
export default operator({ name: "copier", health: false, parts: { copies } });`);
  await folder.write("kubeconfig", kubeconfigFor(served));
  const send = async (path: string, object: object) => {
    const headers = { "content-type": "application/json" };
    const response = await apiserver.fetch(
      new Request(served.url + path, { method: "POST", headers, body: JSON.stringify(object) }),
    );
    assert(response.ok, await response.text());
  };
  await send("/api/v1/namespaces", { metadata: { name: "copier-system" } });

  await t.step("op doctor: the holder of a Lease", async () => {
    await send("/apis/coordination.k8s.io/v1/namespaces/copier-system/leases", {
      metadata: { name: "copier" },
      spec: { holderIdentity: CONTROL_SEQUENCES, leaseDurationSeconds: 15, renewTime: "2020-01-01T00:00:00.000000Z" },
    });
    const { stdout, stderr } = await folder.op("doctor", "--kubeconfig", "kubeconfig");
    assert(stdout.includes(`${ESCAPED} holds Lease`), stdout + stderr);
    assertPrintable(stdout + stderr);
  });

  await t.step("op plan: an object, as text, JSON and YAML", async () => {
    await send("/api/v1/namespaces/default/configmaps", {
      metadata: { name: "evil" },
      data: { text: CONTROL_SEQUENCES },
    });
    for (const form of ["text", "json", "yaml"]) {
      const { stdout, stderr } = await folder.op("plan", "--kubeconfig", "kubeconfig", "-o", form);
      assert.match(stdout, /evil/, stderr);
      assertPrintable(stdout + stderr);
    }
  });
});

const definition = (name: string) =>
  JSON.stringify({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name },
    spec: "wrong",
  });

for (const command of [["crd", "import"], ["crd", "docs"], ["crd", "diff", "evil.json"]]) {
  Deno.test(`op ${command.join(" ")} prints no control sequences in the name of a definition`, async () => {
    await using folder = await operatorFolder();
    await folder.write("evil.json", definition(`notes${CONTROL_SEQUENCES}`));
    const { code, stdout, stderr } = await folder.op(...command, "evil.json");
    assert.equal(code, 1);
    assert(stderr.includes(ESCAPED), stderr);
    assertPrintable(stdout + stderr);
  });
}

Deno.test("op trace prints no control sequences of a log", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const io = new RecordedIo(folder);
    await Deno.writeTextFile(`${folder}/shop.map`, '{"version":3,"sources":[],"names":[],"mappings":""}');
    await Deno.writeTextFile(`${folder}/log`, `first ${CONTROL_SEQUENCES}\nsecond\n`);
    assert.equal(await cli(["trace", "shop", "log"], io), 0, io.stderr);
    assert.equal(io.stdout, `first ${ESCAPED}\nsecond\n`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
