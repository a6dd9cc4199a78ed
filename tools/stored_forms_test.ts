import assert from "node:assert/strict";
import { definitions, resources } from "../src/openapi/kubernetes.gen.ts";
import { messages } from "../src/openapi/protobuf.gen.ts";
import { SPECIAL, storedFormsModule } from "./stored_forms.ts";

Deno.test("src/openapi/stored_forms.gen.ts has the stored forms of the generated data", async () => {
  const text = await Deno.readTextFile(new URL("../src/openapi/stored_forms.gen.ts", import.meta.url));
  assert(text === storedFormsModule({ messages, resources }), 'it is stale: run "deno run -A tools/stored_forms.ts"');
});

Deno.test("SPECIAL has exactly the messages for which OpenAPI describes no fields", () => {
  const special = Object.entries(definitions).flatMap(([name, schema]) => {
    const message = name.split(".").slice(-3).join(".");
    const hasFields = (messages[message] ?? "") !== "";
    return hasFields && JSON.parse(schema).properties === undefined ? [message] : [];
  });
  assert.deepEqual(special.sort(), [...SPECIAL.keys()].sort());
});

const site = { group: "demo", version: "v1", kind: "Site", verbs: ["patch"], schema: "io.demo.v1.Site" };

for (
  const { name, fields, expected } of [
    { name: "a value that Go omits if it is zero", fields: "1 on t", expected: "on" },
    { name: "a pointer and a value that is never omitted", fields: "1 a ?t;2 b !s;3 on t", expected: "on" },
    { name: "a list and a map of strings", fields: "1 a *s;2 b %s", expected: "b=%" },
    {
      name: "quantities",
      fields: "1 a ?:api.resource.Quantity;2 b %:api.resource.Quantity;3 c *:api.resource.Quantity",
      expected: "a=q b=%q c=q",
    },
    { name: "raw JSON", fields: "1 a :pkg.runtime.RawExtension", expected: "a==" },
    { name: "a time", fields: "1 a :meta.v1.Time;2 on t", expected: "on" },
    { name: "an embedded message", fields: "1  !:demo.v1.Part", expected: "on" },
    {
      name: "an object, a list and a map",
      fields: "1 a ?:demo.v1.Part;2 b *:demo.v1.Part;3 c %:demo.v1.Part",
      expected: "a=0 b=0 c=%0",
    },
    { name: "a recursive type", fields: "1 a ?:demo.v1.Site;2 on t", expected: "a=0 on" },
    { name: "types without forms", fields: "1 a ?:demo.v1.Plain;2 b %:demo.v1.Plain", expected: "b=%" },
  ]
) {
  Deno.test(`storedFormsModule writes ${name} as ${expected}`, () => {
    const module = storedFormsModule({
      messages: { "demo.v1.Site": fields, "demo.v1.Part": "1 on t", "demo.v1.Plain": "1 on ?t" },
      resources: [site],
    });
    assert(module.includes(`"${expected}";`), module);
  });
}

Deno.test("storedFormsModule omits kinds that clients cannot apply", () => {
  const module = storedFormsModule({
    messages: { "demo.v1.Site": "1 on t" },
    resources: [{ ...site, verbs: ["create"] }],
  });
  assert(!module.includes("demo"), module);
});
