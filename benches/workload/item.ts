/** The kind of the backlog's objects, and the controllers that reconcile them. */
import { controller, resource, s } from "@op/sdk";
import { ConfigMap } from "@op/sdk/kinds";

export const Item = resource({
  group: "bench.example.com",
  version: "v1",
  kind: "Item",
  spec: s.object({ size: s.integer() }),
  status: s.object({ double: s.optional(s.integer()) }),
});

/** Writes one status per object. */
export const items = controller(Item, {
  reconcile(item, { status }) {
    status({ double: item.spec.size * 2 });
  },
});

/** Applies one owned ConfigMap per object, and writes its status. */
export const itemsWithConfigMap = controller(Item, {
  owns: [ConfigMap],
  async reconcile(item, { apply, status }) {
    await apply(ConfigMap, { metadata: { name: item.metadata.name }, data: { size: String(item.spec.size) } });
    status({ double: item.spec.size * 2 });
  },
});
