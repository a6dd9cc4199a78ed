/** Live calls a part makes, beyond what `owns` and `reads` bring. */
import type { AnyKind } from "../resource/kind.ts";

/** A verb of the API server that a part can ask for. */
export type Verb = "get" | "list" | "create" | "patch" | "delete";

const VERBS: readonly string[] = ["get", "list", "create", "patch", "delete"] satisfies Verb[];

/** What {@linkcode access} answers: a kind and the verbs asked for. */
export interface Access<K extends AnyKind = AnyKind, V extends Verb = Verb> {
  /** The kind. */
  readonly kind: K;
  /** What may be done with its objects: each verb is a line of the role. */
  readonly verbs: readonly V[];
}

/**
 * Asks for live calls on a kind, by exact verbs. Reads so declared go to the server each time; nothing is watched or held.
 *
 * @param kind The kind.
 * @param verbs One or more of `get`, `list`, `create`, `patch`, `delete`.
 * @returns What `uses` of a controller or a webhook takes.
 * @throws {TypeError} If no verb is given, or one that does not exist.
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
    throw new TypeError(`Cannot ask for access to ${kind.kind}: name a verb, one of ${VERBS.join(", ")}`);
  }
  for (const verb of verbs) {
    if (!VERBS.includes(verb)) {
      throw new TypeError(`Cannot ask for access to ${kind.kind}: "${verb}" is not one of ${VERBS.join(", ")}`);
    }
  }
  return { kind, verbs };
}
