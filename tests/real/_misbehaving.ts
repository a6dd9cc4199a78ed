/** An operator with objects among the healthy ones that misbehave, each in its own way, by their names. */
import { controller, operator, resource, s } from "@op/sdk";
import { ConfigMap } from "@op/sdk/kinds";

export const Item = resource({
  group: "misbehaving.example.com",
  version: "v1",
  kind: "Item",
  spec: s.object({ text: s.string() }),
  status: s.object({}),
});

const MEGABYTES = 50;

const items = controller(Item, {
  owns: [ConfigMap],
  async reconcile(item, { apply, log }) {
    const { metadata: { name }, spec: { text } } = item;
    switch (name) {
      case "throws":
        throw new Error("I always throw");
      case "hangs":
        return await new Promise<never>(() => {});
      case "rejects":
        await Promise.resolve();
        void Promise.reject(new Error("Nobody awaits me"));
        break;
      case "times":
        setTimeout(() => {
          throw new Error("I throw in a timer");
        }, 1);
        break;
      case "litters": {
        const litter = Array.from({ length: MEGABYTES }, () => new Array(128 * 1024).fill(Math.random()));
        log.debug("Littered", { parts: litter.length });
      }
    }
    await apply(ConfigMap, { metadata: { name }, data: { text } });
  },
});

const op = operator({
  name: "misbehaving-operator",
  parts: { items },
  health: { hostname: "127.0.0.1" },
  gracefulShutdownTimeout: "1s",
});
export default op;
if (import.meta.main) await op.main();
