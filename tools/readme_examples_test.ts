import assert from "node:assert/strict";
import { codeBlocks } from "./readme_examples.ts";

Deno.test("codeBlocks returns only ts blocks, by the name in their first line", () => {
  const markdown = [
    "```sh\nls\n```",
    "```ts\n// website/v1.ts\nexport const a = 1;\n```",
    "text",
    '```ts\nimport "x";\n```',
    "```ts\n// website/v1.ts\nexport const b = 2;\n```",
    "```tsx\nno\n```",
  ].join("\n");
  assert.deepEqual(
    codeBlocks(markdown),
    new Map([
      ["website/v1.ts", "// website/v1.ts\nexport const a = 1;\n// website/v1.ts\nexport const b = 2;\n"],
      ["example_2.ts", 'import "x";\n'],
    ]),
  );
});
