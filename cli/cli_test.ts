import assert from "node:assert/strict";
import { RecordedIo } from "./_recorded_io.ts";
import { cli, program } from "./cli.ts";
import config from "./deno.json" with { type: "json" };

/** The help of all commands. Update it with `deno test -A cli/cli_test.ts -- --update`. */
const HELP = new URL("../tests/golden/help.txt", import.meta.url);

async function op(...args: string[]) {
  const io = new RecordedIo();
  const code = await cli(args, io);
  return { code, stdout: io.stdout, stderr: io.stderr };
}

/** Returns all commands with their parents: `[]`, `["new"]`, `["new", "operator"]`. */
function commands(command = program(new RecordedIo()), path: readonly string[] = []): (readonly string[])[] {
  return [path, ...command.commands.flatMap((child) => commands(child, [...path, child.name()]))];
}

Deno.test("the help of all commands equals tests/golden/help.txt", async () => {
  const pages: string[] = [];
  for (const path of commands()) {
    const { code, stdout, stderr } = await op(...path, "--help");
    assert.deepEqual([code, stderr], [0, ""]);
    pages.push(`$ ${["op", ...path, "--help"].join(" ")}\n\n${stdout}`);
  }
  const help = pages.join("\n");
  if (Deno.args.includes("--update")) await Deno.writeTextFile(HELP, help);
  assert.equal(help, await Deno.readTextFile(HELP));
});

Deno.test("op help COMMAND prints the help of commands and subcommands", async () => {
  for (const path of commands().filter(({ length }) => length > 0)) {
    assert.deepEqual(await op("help", ...path), await op(...path, "--help"));
  }
  const mistyped = await op("help", "new", "operatr");
  assert.equal(mistyped.code, 2);
  assert.match(mistyped.stderr, /unknown command 'operatr'/);
});

Deno.test("op --version prints the version of the package", async () => {
  assert.deepEqual(await op("--version"), { code: 0, stdout: `op ${config.version}\n`, stderr: "" });
});

const USAGE_ERRORS = [
  { name: "no command", given: [], expected: /^Usage: op/ },
  { name: "a mistyped command", given: ["biuld"], expected: /unknown command 'biuld'\n\(Did you mean build\?\)/ },
  {
    name: "a mistyped subcommand of a command that also runs alone",
    given: ["new", "operatr", "x"],
    expected: /unknown command 'operatr'\n\(Did you mean operator\?\)/,
  },
  {
    name: "a mistyped option",
    given: ["crd", "print", "--hlep"],
    expected: /unknown option '--hlep'\n\(Did you mean --help\?\)/,
  },
  {
    name: "a mistyped subcommand",
    given: ["crd", "dosc"],
    expected: /unknown command 'dosc'\n\(Did you mean docs\?\)/,
  },
  { name: "a missing subcommand", given: ["crd"], expected: /^Usage: op crd/ },
  {
    name: "an import without a source",
    given: ["crd", "import"],
    expected: /^Cannot import: no source is given\. Name a file, "-" for standard input, or --cluster\.\n$/,
  },
  { name: "a missing argument", given: ["new", "operator"], expected: /missing required argument 'name'/ },
  { name: "one argument too many", given: ["new", "operator", "a", "b"], expected: /too many arguments/ },
  {
    name: "an option without its value",
    given: ["build", "--output"],
    expected: /option '-o, --output <file>' argument missing/,
  },
  {
    name: "an unknown machine",
    given: ["build", "--target", "sparc"],
    expected: /^Cannot compile for "sparc": unknown machine\./,
  },
  {
    name: "an invalid name",
    given: ["new", "operator", "My_Shop"],
    expected: /^Cannot name an operator "My_Shop".*"my-shop"\.\n$/,
  },
];

for (const { name, given, expected } of USAGE_ERRORS) {
  Deno.test(`op reports a wrong command line and exits with 2: ${name}`, async () => {
    const { code, stdout, stderr } = await op(...given);
    assert.equal(code, 2);
    assert.match(stderr, expected);
    assert.equal(stdout, "");
  });
}

Deno.test("op exits with 1 and prints one line if a file does not exist", async () => {
  assert.deepEqual(await op("crd", "print", "nowhere.ts"), {
    code: 1,
    stdout: "",
    stderr: 'Cannot read "nowhere.ts": the file does not exist. Name the file whose default export is the operator.\n',
  });
});
