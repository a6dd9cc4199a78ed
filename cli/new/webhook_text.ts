/** The modules of webhooks, as they are made. */
import { articleOf } from "./controller.ts";
import type { KindNames } from "./kind_names.ts";

/** What a webhook does. */
export type WebhookType = "validation" | "mutation";

/** What it is made from. */
export interface WebhookModule {
  readonly names: Pick<KindNames, "kind" | "group">;
  /** The name under which it is exported. */
  readonly key: string;
  /** Where the kind is imported from. */
  readonly from: string;
}

/**
 * The module of a webhook.
 *
 * @param type What it does.
 * @param options What it is made from.
 */
export function webhookText(type: WebhookType, { names: { kind, group }, key, from }: WebhookModule): string {
  const imports = (names: string): string => {
    const own = `import { ${kind} } from ${JSON.stringify(from)};\n`;
    return `import { ${names} } from "@op/sdk";\n${own}\n`;
  };
  if (type === "validation") {
    return `/** What is asked before ${articleOf(kind)} ${kind} is stored: it may be refused. */
${imports("deny, webhook")}export const ${key} = webhook(${kind}, {
  validate(object, { old }) {
    const { name } = object.metadata;
    if (old === undefined && name === "forbidden") return deny("this name is not given", { field: "metadata.name" });
  },
});
`;
  }
  return `/** What is changed of ${articleOf(kind)} ${kind} before it is stored. */
${imports("webhook")}export const ${key} = webhook(${kind}, {
  mutate(object) {
    object.metadata.labels = { ...object.metadata.labels, "${group || "example.com"}/seen": "true" };
  },
});
`;
}
