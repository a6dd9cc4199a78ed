/** Copies the text of a Thing into a ConfigMap and reports its length. */
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
