import assert from "node:assert/strict";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { RecordedIo } from "../_recorded_io.ts";
import { cli } from "../cli.ts";
import { render } from "./operator.ts";

const SDK = fileURLToPath(new URL("../../", import.meta.url));

/** The top-level files and folders of a new project. */
const FILES = [
  ".dockerignore",
  ".github",
  ".gitignore",
  "Dockerfile",
  "README.md",
  "config",
  "deno.json",
  "main.ts",
  "manifests_test.ts",
  "operator.toml",
  "website",
];

/** Runs a test in a temporary folder. */
async function inFolder(test: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await test(await Deno.realPath(folder));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function entries(folder: string): string[] {
  return [...Deno.readDirSync(folder)].map((entry) => entry.name).sort();
}

Deno.test("op new operator writes a project with a folder for its kind and a file for its version", async () => {
  await inFolder(async (cwd) => {
    const io = new RecordedIo(cwd);
    assert.equal(await cli(["new", "operator", "shop"], io), 0, io.stderr);
    assert.deepEqual(entries(cwd), ["shop"]);
    assert.deepEqual(entries(join(cwd, "shop")), FILES);
    assert.deepEqual(entries(join(cwd, "shop/website")), ["controller.ts", "controller_test.ts", "v1.ts"]);
    assert.match(io.stdout, /cd shop\n {2}deno task test\n {2}deno task compile\n$/);
  });
});

Deno.test("op new operator replaces the operator name of the template", () => {
  const files = render("shop");
  assert.match(files.get("main.ts") ?? "", /operator\(\{ name: "shop", /);
  for (const [path, text] of files) assert(!text.includes("website-operator"), path);
});

Deno.test("op new operator gives each project its own ID, also in its manifests", () => {
  const ids = [render("shop"), render("shop")].map((files) => {
    const [, id] = /^id = "([-0-9a-f]{36})"$/m.exec(files.get("operator.toml") ?? "") ?? [];
    assert.match(files.get("config/rbac/role.yaml") ?? "", new RegExp(`^ +op/operator-id: ${id}$`, "m"));
    return id;
  });
  assert.notEqual(ids[0], ids[1]);
});

Deno.test("op new operator uses the published SDK of its own version", () => {
  const { imports, links } = JSON.parse(render("shop").get("deno.json") ?? "");
  assert.match(imports["@op/sdk"], /^jsr:@op\/sdk@\^\d+\.\d+\.\d+$/);
  assert.equal(links, undefined);
});

Deno.test("op new operator --sdk keeps absolute paths, and makes relative ones relative to the project", async () => {
  await inFolder(async (cwd) => {
    const from = relative(cwd, SDK);
    assert.equal(await cli(["new", "operator", "one", "--sdk", SDK], new RecordedIo(cwd)), 0);
    assert.equal(await cli(["new", "operator", "two", "--sdk", from, "--dir", "deep/two"], new RecordedIo(cwd)), 0);
    assert.deepEqual(JSON.parse(await Deno.readTextFile(join(cwd, "one/deno.json"))).links, [SDK]);
    assert.deepEqual(JSON.parse(await Deno.readTextFile(join(cwd, "deep/two/deno.json"))).links, [join("../..", from)]);
  });
});

Deno.test("op new operator --kind prints all files that it writes, including the manifests", async () => {
  await inFolder(async (cwd) => {
    const io = new RecordedIo(cwd);
    const kind = ["--kind", "Cache", "--group", "shop.example.com"];
    assert.equal(await cli(["new", "operator", "shop", "--sdk", relative(cwd, SDK), ...kind], io), 0);
    assert.equal(io.stderr, "");
    const listed = io.stdout.split("\n").filter((line) => /^ {2}(?!cd |deno )/.test(line)).map((line) => line.trim());
    assert.deepEqual(listed, filesUnder(join(cwd, "shop")));
    assert(listed.includes("config/crd/caches.shop.example.com.yaml"), listed.join("\n"));
  });
});

Deno.test("op new operator writes the same overlays as op generate overlay", async () => {
  await inFolder(async (cwd) => {
    const code = await cli(["new", "operator", "shop", "--sdk", relative(cwd, SDK)], new RecordedIo(cwd));
    assert.equal(code, 0);
    const shop = join(cwd, "shop");
    for (const overlay of ["prod", "local"]) {
      const io = new RecordedIo(shop);
      assert.equal(await cli(["generate", "overlay", overlay, "--dir", "other"], io), 0, io.stderr);
      const text = (folder: string) => Deno.readTextFile(join(shop, folder, "overlays", overlay, "kustomization.yaml"));
      assert.equal(await text("config"), await text("other"));
    }
  });
});

function filesUnder(folder: string): string[] {
  const paths = [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) =>
    isDirectory ? filesUnder(join(folder, name)).map((path) => `${name}/${path}`) : [name]
  );
  return paths.sort();
}

Deno.test("op new operator fills an existing empty folder", async () => {
  await inFolder(async (cwd) => {
    const before = await Deno.stat(cwd);
    assert.equal(await cli(["new", "operator", "shop", "--dir", "."], new RecordedIo(cwd)), 0);
    assert.equal((await Deno.stat(cwd)).ino, before.ino);
    assert.deepEqual(entries(cwd), FILES);
  });
});

Deno.test("op new operator rejects a folder that is not empty, names its entries and writes no file", async () => {
  await inFolder(async (cwd) => {
    const names = ["a", "b", "c", "d", "e", "f", "g"];
    for (const name of names) await Deno.writeTextFile(join(cwd, name), "");
    const io = new RecordedIo(cwd);
    assert.equal(await cli(["new", "operator", "shop", "--dir", "."], io), 1);
    assert.equal(
      io.stderr,
      `Cannot create a project in "${cwd}": it is not empty ("a", "b", "c", "d", "e" and 2 more). Name another folder with --dir.\n`,
    );
    assert.deepEqual(entries(cwd), names);
  });
});

Deno.test("op new operator rejects a path that is a file", async () => {
  await inFolder(async (cwd) => {
    await Deno.writeTextFile(join(cwd, "shop"), "not a folder");
    const io = new RecordedIo(cwd);
    assert.equal(await cli(["new", "operator", "shop"], io), 1);
    assert.match(io.stderr, /it is a file\. Name another folder with --dir\.\n$/);
    assert.equal(await Deno.readTextFile(join(cwd, "shop")), "not a folder");
  });
});

Deno.test("op new operator rejects a folder without an SDK, and writes no file", async () => {
  await inFolder(async (cwd) => {
    const io = new RecordedIo(cwd);
    assert.equal(await cli(["new", "operator", "shop", "--sdk", "."], io), 2);
    assert.match(io.stderr, /^Cannot use the SDK in "\.": it has no deno\.json of @op\/sdk\./);
    assert.deepEqual(entries(cwd), []);
  });
});
