/** Direct calls to the API server that a part declares in addition to `owns` and `reads`. */
import type { AnyKind } from "../resource/kind.ts";

/** A verb of the API server that a part can declare. */
export type Verb = "get" | "list" | "create" | "patch" | "delete";

const VERBS: readonly string[] = ["get", "list", "create", "patch", "delete"] satisfies Verb[];

/** A kind and verbs, as {@linkcode access} returns them. */
export interface Access<K extends AnyKind = AnyKind, V extends Verb = Verb> {
  /** The kind. */
  readonly kind: K;
  /** The declared verbs. Each becomes a verb of an RBAC rule. */
  readonly verbs: readonly V[];
}

/**
 * Declares direct calls on a kind, by verb. Reads that are declared this way go to the API server
 * each time; the kind is not watched or cached.
 *
 * @param kind The kind.
 * @param verbs One or more of `get`, `list`, `create`, `patch`, `delete`.
 * @returns The value for the option `uses` of a controller or a webhook.
 * @throws {TypeError} If there is no verb, or an unknown one.
 *
 * @example Usage
 * ```ts
 * import { access, controller, resource, s } from "@op/sdk";
 * import { Secret } from "@op/sdk/kinds";
 *
 * const Site = resource({
 *   group: "demo.example.com",
 *   version: "v1",
 *   kind: "Site",
 *   spec: s.object({ secret: s.string() }),
 * });
 *
 * const sites = controller(Site, {
 *   uses: [access(Secret, "get")],
 *   async reconcile(site, { get, log }) {
 *     const secret = await get(Secret, site.spec.secret);
 *     log.info("Secret read", { isThere: secret !== undefined });
 *   },
 * });
 * ```
 */
export function access<K extends AnyKind, V extends Verb>(kind: K, ...verbs: readonly V[]): Access<K, V> {
  if (verbs.length === 0) {
    throw new TypeError(`access(${kind.kind}): no verb is given. Add at least one of ${VERBS.join(", ")}.`);
  }
  for (const verb of verbs) {
    if (!VERBS.includes(verb)) {
      throw new TypeError(`access(${kind.kind}): "${verb}" is not a verb. Use one of ${VERBS.join(", ")}.`);
    }
  }
  return { kind, verbs };
}
