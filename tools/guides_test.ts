import assert from "node:assert/strict";
import { RecordedIo } from "../cli/_recorded_io.ts";
import { cli } from "../cli/cli.ts";

const ROOT = new URL("../", import.meta.url);

function* sources(folder: URL): Generator<string> {
  for (const { name, isDirectory } of Deno.readDirSync(folder)) {
    if (isDirectory) yield* sources(new URL(`${name}/`, folder));
    else if (/\.ts$/.test(name) && !/(_test|\.gen)\.ts$/.test(name)) yield Deno.readTextFileSync(new URL(name, folder));
  }
}

Deno.test("docs/guides/troubleshooting.md quotes log messages that the code logs", () => {
  const page = Deno.readTextFileSync(new URL("docs/guides/troubleshooting.md", ROOT));
  const quoted = [...page.matchAll(/\b(?:Log:|logs)\s+`([^`]+)`/g)].map(([, message = ""]) => message);
  assert(quoted.length > 5, "the page quotes no log messages");
  const code = [...sources(new URL("src/", ROOT))].join("\n");
  assert.deepEqual(quoted.filter((message) => !code.includes(`"${message}"`)), []);
});

Deno.test("docs/guides/README.md links to every guide", () => {
  const index = Deno.readTextFileSync(new URL("docs/guides/README.md", ROOT));
  const guides = [...Deno.readDirSync(new URL("docs/guides/", ROOT))].map(({ name }) => name);
  assert.deepEqual(guides.filter((name) => name !== "README.md" && !index.includes(`](${name})`)), []);
});

Deno.test("links between Markdown files point to existing files and headings", () => {
  const slug = (heading: string) =>
    heading.toLowerCase().replace(/[`*]/g, "").replace(/[^\p{L}\p{N} _-]/gu, "").trim().replaceAll(" ", "-");
  const headings = (text: string) =>
    [...text.replace(/^```[\s\S]*?^```$/gm, "").matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => slug(heading));
  const files = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "ARCHITECTURE.md"];
  for (const folder of ["guides", "contributing", "decisions"]) {
    for (const { name } of Deno.readDirSync(new URL(`docs/${folder}/`, ROOT))) files.push(`docs/${folder}/${name}`);
  }
  const broken = files.flatMap((file) => {
    const url = new URL(file, ROOT);
    const text = Deno.readTextFileSync(url);
    return [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link).filter((link) => {
      if (/^[a-z]+:/.test(link)) return false;
      const target = new URL(link, url);
      const anchor = target.hash.slice(1);
      target.hash = "";
      try {
        const { isFile } = Deno.statSync(target);
        return isFile && anchor !== "" && !headings(Deno.readTextFileSync(target)).includes(anchor);
      } catch {
        return true;
      }
    }).map((link) => `${file}: ${link}`);
  });
  assert.deepEqual(broken, []);
});

Deno.test("commands and options of op in README.md and the guides exist", async () => {
  const guides = [...Deno.readDirSync(new URL("docs/guides/", ROOT))].map(({ name }) => `docs/guides/${name}`);
  const commands = ["README.md", ...guides].flatMap((file) => {
    const text = Deno.readTextFileSync(new URL(file, ROOT));
    const spans = [...text.matchAll(/`op ([^`]+)`/g)].map(([, command = ""]) => command);
    const lines = [...text.matchAll(/^(?:\$ )?(?:deno task )?op ([a-z][^#\n]*)/gm)].map(([, command = ""]) => command);
    return [...spans, ...lines].map((command) => ({ file, words: command.trim().split(/\s+/) }));
  });
  assert(commands.length > 50);
  const missing = new Set<string>();
  for (const { file, words } of commands) {
    if (words[0] === "help") continue;
    const names = words.filter((word) => /^[a-z][a-z]*$/.test(word)).slice(0, 2);
    const io = new RecordedIo();
    await cli([...names, "--help"], io);
    const [, usage = ""] = /^Usage: op ([a-z ]+?)(?: [[<]|$)/m.exec(io.stdout) ?? [];
    const isGroup = /\[command\]/.test(io.stdout.split("\n", 1)[0] ?? "");
    if (!usage.startsWith(names[0] ?? "?") || (isGroup && names.length > 1)) {
      missing.add(`${file}: op ${names.join(" ")}`);
    }
    const own = words.includes("--") ? words.slice(0, words.indexOf("--")) : words;
    for (const option of own.filter((word) => /^--[a-z]/.test(word)).map((word) => word.split("=")[0]!)) {
      if (!new RegExp(`${option}\\b`).test(io.stdout)) missing.add(`${file}: op ${names.join(" ")} ${option}`);
    }
  }
  assert.deepEqual([...missing], []);
});
