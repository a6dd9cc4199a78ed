import assert from "node:assert/strict";
import { messagesIn } from "./messages.ts";
import plugin from "./messages/plugin.ts";

function found(source: string): string[] {
  return Deno.lint.runPlugin(plugin, "planted.ts", source).map(({ message }) => message);
}

Deno.test("messages lists errors that are thrown, created, denied and passed to super", () => {
  assert.deepEqual(
    found(`
      throw new TypeError("name is missing");
      throw invalid(path, \`must be \${type}\`);
      throw error;
      const failure = new Failure("No file " + file, { cause: error });
      return deny("closed");
      class Late extends Error { constructor() { super("too late"); } }
    `),
    [
      "errors: name is missing",
      "errors: path, `must be ${type}`",
      'errors: "No file " + file, { cause: error }',
      "errors: closed",
      "errors: too late",
    ],
  );
});

Deno.test("messages lists logs, Events, conditions, metrics, help and output by kind", () => {
  assert.deepEqual(
    found(`
      this.#options.log.warn("Lease request failed", { lease });
      events.normal("Created", "Created it");
      const condition = { reason: "Paused", message: "is paused" };
      const metric = { name: "op_x", help: "Number of x", labels: [] };
      const depth = gauge("op_y", "Number of y", []);
      command.option("--x <y>", "the y").action(() => {});
      io.out("Done\\n");
      const late = "a sentence of unknown use";
      type Fault<P> = \`\${P} is not in the schema\`;
    `),
    [
      'logs: "Lease request failed", { lease }',
      'events: "Created", "Created it"',
      "events: is paused",
      "metrics: Number of x",
      'metrics: "op_y", "Number of y", []',
      'help: "--x <y>", "the y"',
      "output: Done",
      "other: a sentence of unknown use",
      "other: ${P} is not in the schema",
    ],
  );
});

Deno.test("messages reports the file and line of a message", async () => {
  const [first] = await messagesIn(["tools/messages.ts"]);
  const source = (await Deno.readTextFile(new URL("messages.ts", import.meta.url))).split("\n");
  assert.equal(first?.file, "tools/messages.ts");
  assert.match(source[first.line - 1]!, /throw new Error\(`deno lint failed/);
});
