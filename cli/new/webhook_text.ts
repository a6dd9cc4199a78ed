/** Generates the modules of webhooks and of their tests. */
import { articleOf } from "./controller.ts";
import type { KindNames } from "./kind_names.ts";

/** The type of a webhook. */
export type WebhookType = "validation" | "mutation";

/** The inputs of a module. */
export interface WebhookModule {
  readonly names: Pick<KindNames, "kind" | "group" | "isBuiltin">;
  /** The name under which it is exported. */
  readonly key: string;
  /** The module that exports the kind. */
  readonly from: string;
}

/**
 * Returns the module of a webhook.
 *
 * @param type The type of the webhook.
 * @param options The kind and the name of the webhook.
 */
export function webhookText(type: WebhookType, { names, key, from }: WebhookModule): string {
  const { kind } = names;
  const imports = (names: string): string => {
    const own = `import { ${kind} } from ${JSON.stringify(from)};\n`;
    return `import { ${names} } from "@op/sdk";\n${own}\n`;
  };
  if (type === "validation") {
    return `/** Validates ${articleOf(kind)} ${kind} before it is stored. */
${imports("deny, webhook")}export const ${key} = webhook(${kind}, {
  validate(object, { old }) {
    const { name } = object.metadata;
    if (old === undefined && name === "forbidden") return deny("this name is reserved", { field: "metadata.name" });
  },
});
`;
  }
  return `/** Changes ${articleOf(kind)} ${kind} before it is stored. */
${imports("webhook")}export const ${key} = webhook(${kind}, {
  mutate(object) {
    object.metadata.labels = { ...object.metadata.labels, ${JSON.stringify(labelOf(names))}: "true" };
  },
});
`;
}

/**
 * Returns the module of a webhook's test, in which an API server in the test process calls it.
 *
 * @param type The type of the webhook.
 * @param options The kind and the name of the webhook.
 * @param object A valid object without its name.
 */
export function webhookTestText(
  type: WebhookType,
  { names, key, from }: WebhookModule,
  object: object,
): string {
  const { kind, isBuiltin } = names;
  const kindImport = `import { ${kind} } from ${JSON.stringify(from)};`;
  const imports = [
    'import assert from "node:assert/strict";',
    'import type { Input } from "@op/sdk";',
    ...(isBuiltin ? [kindImport] : []),
    'import { memoryCluster } from "@op/sdk/testing";',
    `import { ${key} } from "./${type}.ts";`,
    ...(isBuiltin ? [] : [kindImport]),
  ];
  const subject = `${articleOf(kind)} ${kind}`;
  const test = type === "validation"
    ? `Deno.test("${key} rejects ${subject} with a reserved name and accepts others", async () => {
  await using cluster = await memoryCluster({ parts: { ${key} } });
  await cluster.create(${kind}, "first", object);
  await assert.rejects(cluster.create(${kind}, "forbidden", object), /metadata\\.name: this name is reserved/);
});
`
    : `Deno.test("${key} adds a label to ${subject} before it is stored", async () => {
  await using cluster = await memoryCluster({ parts: { ${key} } });
  const created = await cluster.create(${kind}, "first", object);
  assert.equal(created.metadata.labels?.[${JSON.stringify(labelOf(names))}], "true");
});
`;
  return `${imports.join("\n")}

/** ${subject[0]!.toUpperCase()}${subject.slice(1)} that the API server accepts; it lacks only a name. */
const object: Input<typeof ${kind}> = ${literal(object)};

${test}`;
}

/** Returns a label with the domain of the kind, or with another domain for kinds of Kubernetes. */
function labelOf({ group, isBuiltin }: WebhookModule["names"]): string {
  return `${isBuiltin ? "example.com" : group}/seen`;
}

/** Returns an object as TypeScript, in which keys that are identifiers have no quotes. */
function literal(object: object): string {
  return JSON.stringify(object, null, 2).replace(/^( *)"([A-Za-z_$][\w$]*)":/gm, "$1$2:");
}
