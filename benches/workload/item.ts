/** What the backlog is made of, and the controller that works it off: one status write an object. */
import { controller, resource, s } from "@op/sdk";

export const Item = resource({
  group: "bench.example.com",
  version: "v1",
  kind: "Item",
  spec: s.object({ size: s.integer() }),
  status: s.object({ double: s.optional(s.integer()) }),
});

export const items = controller(Item, {
  reconcile(item, { status }) {
    status({ double: item.spec.size * 2 });
  },
});
