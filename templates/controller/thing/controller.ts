/** What is done about a Thing: its text goes into a ConfigMap, its length into the status. */
import { controller } from "@op/sdk";
import { ConfigMap } from "@op/sdk/kinds";
import { Thing } from "./v1.ts";

export const things = controller(Thing, {
  owns: [ConfigMap],
  async reconcile(object, { apply, status }) {
    const { text } = object.spec;
    await apply(ConfigMap, { metadata: { name: object.metadata.name }, data: { text } });
    status({ length: text.length });
  },
});
