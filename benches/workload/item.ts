/** What the backlog is made of, and the controllers that work it off. */
import { controller, resource, s } from "@op/sdk";
import { ConfigMap } from "@op/sdk/kinds";

export const Item = resource({
  group: "bench.example.com",
  version: "v1",
  kind: "Item",
  spec: s.object({ size: s.integer() }),
  status: s.object({ double: s.optional(s.integer()) }),
});

/** One status write an object. */
export const items = controller(Item, {
  reconcile(item, { status }) {
    status({ double: item.spec.size * 2 });
  },
});

/** One owned ConfigMap an object, and its status. */
export const itemsWithConfigMap = controller(Item, {
  owns: [ConfigMap],
  async reconcile(item, { apply, status }) {
    await apply(ConfigMap, { metadata: { name: item.metadata.name }, data: { size: String(item.spec.size) } });
    status({ double: item.spec.size * 2 });
  },
});
