import assert from "node:assert/strict";
import { RecordedIo } from "./_recorded_io.ts";
import { cli } from "./cli.ts";
import config from "./deno.json" with { type: "json" };

const HELP = `Usage: op [options] [command]

Kubernetes operators in TypeScript: make one, build it, see what a cluster needs for it.

Options:
  -V, --version                     print the version
  -c, --config <file>               the file with settings (default: operator.toml, where it is
                                    there)
  -l, --log-level <level>           how much operators that are started tell (choices: "debug",
                                    "info", "warn", "error")
  --no-color                        no colors, as with NO_COLOR
  -h, --help                        print this help

Commands:
  new [options]                     make something new; alone it asks, and where nobody can be asked
                                    makes an operator with a controller
  build [options] [file]            make one executable of an operator, with only the permissions it
                                    needs
  trace <executable> [log]          print a log of an executable with its stack traces as source
  crds [options] [file]             print the CustomResourceDefinitions of an operator as YAML
  generate                          make the files of an operator's manifests, for kustomize
  rbac                              the rights of an operator in a cluster
  start [options] [file] [more...]  run an operator here, with your own rights, against a cluster
  dev [options] [file]              run an operator here as its service account, anew whenever it is
                                    saved
  plan [options] [file]             print what an operator would write now, as a diff; nothing is
                                    stored
  doctor [options] [file]           look at an operator in a cluster: what is there, and what is
                                    wrong
  deploy [options] <overlay>        put an operator into a cluster by server-side apply, and wait
                                    until it runs
  uninstall [options] [file]        take an operator out of a cluster: its objects, itself, its
                                    kinds
  sandbox [options] [file]          print what the executable of an operator may reach, each with
                                    its reason
  crd                               work with the kinds of an operator, or of
                                    CustomResourceDefinitions
  import [options] [file]           make TypeScript kinds of CustomResourceDefinitions, with their
                                    rules, columns and versions
  apiserver [options]               serve a Kubernetes API from memory, for kubectl and any other
                                    client, until Ctrl-C
  completions <shell>               print a script by which a shell completes the commands
  version [options]                 print the versions of op and of what it runs on
  help [command]                    print the help of a command

Exit codes: 0 done, 1 could not be done, 2 wrong command line.
`;

Deno.test("op --help lists the commands and the exit codes", async () => {
  const io = new RecordedIo();
  assert.equal(await cli(["--help"], io), 0);
  assert.equal(io.stdout, HELP);
  assert.equal(io.stderr, "");
});

Deno.test("op --version prints the version of the package", async () => {
  const io = new RecordedIo();
  assert.equal(await cli(["--version"], io), 0);
  assert.equal(io.stdout, `op ${config.version}\n`);
});

const DOCS_HELP = `Usage: op crd docs [options] [file]

print a reference page of kinds as Markdown: versions, columns, every field with its rules

Arguments:
  file                 an operator's file (.ts), a file with CustomResourceDefinitions (YAML or
                       JSON), or - for standard input (default: "main.ts")

Options:
  -o, --output <file>  the file to write (default: standard output)
  --force              replace the output if it is there
  -c, --config <file>  how it is built, generated and run (default: operator.toml beside the
                       operator's file, where it is there)
  -h, --help           print this help
`;

Deno.test("op crd docs --help says what it takes", async () => {
  const io = new RecordedIo();
  assert.equal(await cli(["crd", "docs", "--help"], io), 0);
  assert.equal(io.stdout, DOCS_HELP);
});

Deno.test("op help COMMAND prints the help of that command", async () => {
  const io = new RecordedIo();
  assert.equal(await cli(["help", "build"], io), 0);
  assert.match(io.stdout, /^Usage: op build \[options\] \[file\]/);
});

const WRONG = [
  { name: "no command", given: [], says: /^Usage: op/ },
  { name: "a misspelt command", given: ["biuld"], says: /unknown command 'biuld'\n\(Did you mean build\?\)/ },
  {
    name: "a misspelt thing to make",
    given: ["new", "operatr", "x"],
    says: /unknown command 'operatr'\n\(Did you mean operator\?\)/,
  },
  { name: "a misspelt option", given: ["crds", "--hlep"], says: /unknown option '--hlep'\n\(Did you mean --help\?\)/ },
  {
    name: "a misspelt thing to do with kinds",
    given: ["crd", "dosc"],
    says: /unknown command 'dosc'\n\(Did you mean docs\?\)/,
  },
  { name: "nothing to do with kinds", given: ["crd"], says: /^Usage: op crd/ },
  {
    name: "nothing to import",
    given: ["import"],
    says: /^Cannot import: name a file, "-" for standard input, or --cluster\n$/,
  },
  { name: "an argument missing", given: ["new", "operator"], says: /missing required argument 'name'/ },
  { name: "an argument too many", given: ["new", "operator", "a", "b"], says: /too many arguments/ },
  { name: "a value missing", given: ["build", "--output"], says: /option '-o, --output <file>' argument missing/ },
  {
    name: "a machine that is none",
    given: ["build", "--target", "sparc"],
    says: /^Cannot compile for "sparc": name a/,
  },
  {
    name: "a name that is none",
    given: ["new", "operator", "My_Shop"],
    says: /^Cannot name an operator "My_Shop".*try "my-shop"\n$/,
  },
];

Deno.test("op tells what is wrong with a command line, and ends with 2", async (t) => {
  for (const { name, given, says } of WRONG) {
    await t.step(name, async () => {
      const io = new RecordedIo();
      assert.equal(await cli(given, io), 2);
      assert.match(io.stderr, says);
      assert.equal(io.stdout, "");
    });
  }
});

Deno.test("op ends with 1 and one line when a file is not there", async () => {
  const io = new RecordedIo();
  assert.equal(await cli(["crds", "nowhere.ts"], io), 1);
  assert.equal(
    io.stderr,
    'Cannot read "nowhere.ts": there is no such file; name the file whose default export is the operator\n',
  );
});

Deno.test("op help prints the help of a command of a command", async () => {
  const said = async (...args: string[]) => {
    const io = new RecordedIo();
    const code = await cli(args, io);
    return { code, stdout: io.stdout, stderr: io.stderr };
  };
  for (
    const path of [["new", "operator"], ["new", "controller"], ["generate", "overlay"], ["crd", "diff"], ["build"]]
  ) {
    const helped = await said("help", ...path);
    assert.deepEqual(helped, await said(...path, "--help"));
    assert.match(helped.stdout, new RegExp(`^Usage: op ${path.join(" ")} `));
  }
  const mistyped = await said("help", "new", "operatr");
  assert.equal(mistyped.code, 2);
  assert.match(mistyped.stderr, /unknown command 'operatr'/);
});
