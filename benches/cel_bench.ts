/**
 * Measures CEL rules: compiling 20 of them, and evaluating them over a list of 1,000 items. Run it
 * with `deno bench -A benches/cel_bench.ts`.
 */
import { createEnvironment, listOf, mapOf, STRING } from "../src/cel/mod.ts";
import type { JsonSchema } from "../src/schema/json_schema.ts";
import { validate } from "../src/schema/validate.ts";

/** Rules of the whole list. */
const OF_LIST = [
  "self.size() <= 1000",
  "self.all(item, item.name != '')",
  "self.all(item, item.port > 0 && item.port < 65536)",
  "self.exists(item, item.name == 'item-999')",
  "self.exists_one(item, item.port == 1001)",
  "self.filter(item, item.port % 2 == 0).size() == 500",
  "self.map(item, item.name).all(name, name.startsWith('item-'))",
  "self.all(i, item, item.port == i + 1000)",
  "self.map(item, item.port).sum() > 0",
  "self.map(item, item.port).isSorted()",
];

/** Rules of each item. */
const OF_ITEM = [
  "self.name.size() < 64",
  "self.name.matches('^[a-z]+-[0-9]+$')",
  "self.port >= 1000 || self.name == 'web'",
  "!has(self.host) || isIP(self.host)",
  "has(self.host) ? ip(self.host).family() == 4 : true",
  "self.labels.all(key, key.size() < 64)",
  "!('reserved' in self.labels)",
  "self.name.lowerAscii() == self.name",
  "self.port in [1, 2, 3] || self.port > 3",
  "quantity(self.memory).compareTo(quantity('1Gi')) <= 0",
];

const text = { type: "string", maxLength: 64 } as const;
const schema: JsonSchema = {
  type: "object",
  properties: {
    items: {
      type: "array",
      maxItems: 1000,
      "x-kubernetes-validations": OF_LIST.map((rule) => ({ rule })),
      items: {
        type: "object",
        properties: {
          name: text,
          port: { type: "integer" },
          host: text,
          memory: text,
          labels: { type: "object", maxProperties: 8, additionalProperties: text },
        },
        "x-kubernetes-validations": OF_ITEM.map((rule) => ({ rule })),
      },
    },
  },
};
const value = {
  items: Array.from({ length: 1000 }, (_, i) => ({
    name: `item-${i}`,
    port: 1000 + i,
    host: `10.0.${i >> 8}.${i & 255}`,
    memory: "512Mi",
    labels: { app: "web", tier: "back" },
  })),
};

Deno.bench("compile 20 rules", () => {
  const environment = createEnvironment({ variables: { self: listOf(mapOf(STRING, STRING)) } });
  for (let i = 0; i < 20; i++) environment.compile(`self.all(item, item.name != 'a${i}' && item.size() < 10)`);
});

Deno.bench("evaluate 10 rules of a list of 1,000 items and 10 rules of each item", () => {
  const errors = validate(schema, value);
  if (errors.length > 0) throw new Error(JSON.stringify(errors[0]));
});
