/** An operator that reaches beyond the API server: for each class of permissions what is declared, and whatever an object asks for. */
import { get } from "node:http";
import { controller, type Infer, operator, resource, s, type SandboxPermissions } from "../../mod.ts";
import { ConfigMap } from "../../src/kinds/mod.ts";

/** An object asks for one use; with no target for that which is declared. */
export const Use = resource({
  group: "reach.example.com",
  version: "v1",
  kind: "Use",
  spec: s.object({ access: s.string(), target: s.string() }),
  status: s.object({ did: s.optional(s.string()) }),
});
export type Use = Infer<typeof Use>;

/** What a use of each class is. */
const DO: Readonly<Record<string, (target: string) => unknown>> = {
  async net(target) {
    const [hostname = "", port] = target.split(":");
    (await Deno.connect({ hostname, port: Number(port) })).close();
  },
  // Node's libraries word what is refused otherwise.
  async nodeNet(target) {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    get(`http://${target}/`, resolve).on("error", reject);
    await promise;
  },
  listen(target) {
    const [hostname = "", port] = target.split(":");
    Deno.listen({ hostname, port: Number(port) }).close();
  },
  read: (target) => Deno.readTextFile(target),
  write: (target) => Deno.writeTextFile(target, "written"),
  tempFile: () => Deno.makeTempFile(),
  env: (target) => Deno.env.get(target),
  run: (target) => new Deno.Command(target).output(),
  ffi: (target) => Deno.dlopen(target, {}).close(),
  sys: (target) => target === "hostname" ? Deno.hostname() : Deno.osRelease(),
  import: (target) => import(target),
};

/**
 * The operator.
 *
 * @param sandbox What its controller declares; `sys` is declared by the operator.
 */
export function reaching({ sys = [], ...sandbox }: SandboxPermissions) {
  const uses = controller(Use, {
    owns: [ConfigMap],
    sandbox,
    async reconcile({ spec: { access, target }, metadata: { name } }, { apply, status }) {
      await DO[access]?.(target);
      await apply(ConfigMap, { metadata: { name }, data: {} });
      status({ did: `${access} ${target}` });
    },
  });
  return operator({ name: "reaching", parts: { uses }, sandbox: { sys }, gracefulShutdownTimeout: "2s" });
}
