/** Runs the tasks of projects that `op new` creates, in a folder outside of this repository. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { RecordedIo } from "../_recorded_io.ts";
import { cli } from "../cli.ts";

const SDK = fileURLToPath(new URL("../../", import.meta.url));

// The longest valid name, to check that no line of the template becomes too long.
const NAME = `a${"-long-name".repeat(4)}-five`;

Deno.test("a new project passes deno task check, lint and test", async (t) => {
  const folder = await Deno.makeTempDir();
  try {
    const io = new RecordedIo(folder);
    assert.equal(await cli(["new", "operator", NAME, "--sdk", SDK], io), 0, io.stderr);
    for (const task of ["check", "lint", "test"]) {
      await t.step(`deno task ${task}`, async () => {
        const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
          args: ["task", task],
          cwd: join(folder, NAME),
          env: { NO_COLOR: "1" },
        }).output();
        const decoder = new TextDecoder();
        assert.equal(code, 0, `${decoder.decode(stdout)}\n${decoder.decode(stderr)}`);
      });
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a project with a new version of its kind passes deno task check, lint and test", async (t) => {
  const folder = await Deno.makeTempDir();
  try {
    const io = new RecordedIo(folder);
    assert.equal(await cli(["new", "operator", "shop", "--sdk", SDK], io), 0, io.stderr);
    const shop = new RecordedIo(`${folder}/shop`);
    assert.equal(await cli(["new", "version", "--kind", "Website", "--api-version", "v2"], shop), 0, shop.stderr);
    assert.equal(await cli(["generate", "manifests"], shop), 0, shop.stderr);
    assert.equal(shop.stderr, "");
    for (const task of ["check", "lint", "test"]) {
      await t.step(`deno task ${task}`, async () => {
        const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
          args: ["task", task],
          cwd: `${folder}/shop`,
          env: { NO_COLOR: "1" },
        }).output();
        const decoder = new TextDecoder();
        assert.equal(code, 0, `${decoder.decode(stdout)}\n${decoder.decode(stderr)}`);
        if (task === "test") {
          assert.match(decoder.decode(stdout), /Website is unchanged after a conversion from v1 to v2/);
        }
      });
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("op crd print prints the CustomResourceDefinitions of a new project", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const io = new RecordedIo(folder);
    assert.equal(await cli(["new", "operator", "shop", "--sdk", SDK], io), 0, io.stderr);
    const crds = new RecordedIo(folder);
    assert.equal(await cli(["crd", "print", "shop/main.ts"], crds), 0, crds.stderr);
    assert.match(crds.stdout, /^---\napiVersion: apiextensions\.k8s\.io\/v1\nkind: CustomResourceDefinition\n/);
    assert.match(crds.stdout, /\n {2}name: websites\.demo\.example\.com\n/);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
