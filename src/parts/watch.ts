/** How a kind is watched, and whom its changes wake. */
import type { AnyKind, Infer, KubeObject } from "../resource/kind.ts";

/** An object to wake: its name, in the namespace of what changed; its name and namespace; or the object itself. */
export type ReconcileRequest =
  | string
  | { readonly name: string; readonly namespace?: string | undefined }
  | { readonly metadata: { readonly name: string; readonly namespace?: string | undefined } };

/** What a mapping function is handed beside the object. */
export interface MapContext {
  /** The objects of an index of the controller that have a key. */
  index(name: string, key: string): readonly KubeObject[];
  /** All live objects of the controller's kind. */
  all(): readonly KubeObject[];
}

/** Options of {@linkcode watch}. */
export interface WatchOptions<K extends AnyKind = AnyKind> {
  /** Labels that objects must have, or the API's own text: `app=web,tier!=cache`. The server leaves the others out. @default {all} */
  readonly labelSelector?: string | { readonly [label: string]: string };
  /** The API's own text: `metadata.name=web`. The server leaves the others out. @default {all} */
  readonly fieldSelector?: string;
  /** The only namespaces to look at. @default {those of the operator} */
  readonly namespaces?: readonly string[];
  /** Whether only the metadata is held: the server sends no more. What is read of the kind is then without spec and status. @default {false} */
  readonly metadataOnly?: boolean;
  /** Whether all of `metadata.managedFields` is held: it is most of an object's bytes. @default {false: no more than what this operator applied} */
  readonly managedFields?: boolean;
  /**
   * The only objects that are watched, one watch a name, in place of all in the cluster: those that the controller's own objects name, which a change of them
   * wakes. Watches come and go as names do. Names that are known beforehand, as a list, are looked for beside each object, and the roles that are made
   * give rights to them alone.
   *
   * @default {all in the namespaces that are looked at}
   */
  // deno-lint-ignore no-explicit-any -- the object is of the controller's kind, which is not known here
  readonly names?: readonly string[] | ((own: any) => ReconcileRequest | readonly ReconcileRequest[] | undefined);
  /** Whether changes wait until all that is new has been seen to. @default {"normal"} */
  readonly priority?: "normal" | "low";
  /** The part of the object that counts: a change of anything else wakes nobody. @default {all of it} */
  select?(object: Infer<K>): unknown;
  /** Whether a change wakes anybody. `before` is missing for what is new, or was found at start. @default {it does} */
  predicate?(object: Infer<K>, before: Infer<K> | undefined): boolean;
  /** Whom a change wakes, among the objects of the controller's kind. It is asked of the object before the change as well. @default {of its own kind the object, of kinds in `owns` the owner, of others nobody} */
  map?(object: Infer<K>, context: MapContext): ReconcileRequest | readonly ReconcileRequest[] | undefined;
}

/** What {@linkcode watch} answers: a kind and how it is watched. */
export interface Watch<K extends AnyKind = AnyKind> {
  /** The kind that is watched. */
  readonly kind: K;
  /** Which of its objects, and whom they wake. */
  // deno-lint-ignore no-explicit-any -- watches of different kinds stand in one list
  readonly options: WatchOptions<any>;
}

/**
 * Says how a kind is watched. Of the controller's own kind, and of those in `owns` and `reads`, it narrows what is held and what wakes; any other kind is
 * watched and read for it, and wakes whom `map` names.
 *
 * @param kind The kind.
 * @param options Which of its objects, and whom they wake.
 * @returns What `watches` of a controller takes. What does not go together is refused there.
 *
 * @example A kind of somebody else that a spec names
 * ```ts
 * import { controller, index, resource, s, watch } from "@op/sdk";
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
 *   indexes: { bySecret: index(Site, (site) => `${site.metadata.namespace}/${site.spec.secret}`) },
 *   watches: [
 *     watch(Secret, {
 *       select: (secret) => secret.data,
 *       map: ({ metadata }, { index }) => index("bySecret", `${metadata.namespace}/${metadata.name}`),
 *     }),
 *   ],
 *   async reconcile(site, { get, log }) {
 *     const secret = await get(Secret, site.spec.secret);
 *     log.info("Secret read", { isThere: secret !== undefined });
 *   },
 * });
 * ```
 *
 * @example Only the objects that are named: no other Secret is ever held
 * ```ts
 * import { controller, type Infer, resource, s, watch } from "@op/sdk";
 * import { Secret } from "@op/sdk/kinds";
 *
 * const Site = resource({
 *   group: "demo.example.com",
 *   version: "v1",
 *   kind: "Site",
 *   spec: s.object({ secret: s.string() }),
 * });
 * type Site = Infer<typeof Site>;
 *
 * const sites = controller(Site, {
 *   watches: [watch(Secret, { names: (site: Site) => site.spec.secret })],
 *   async reconcile(site, { get, log }) {
 *     const secret = await get(Secret, site.spec.secret);
 *     log.info("Secret read", { isThere: secret !== undefined });
 *   },
 * });
 * ```
 */
export function watch<K extends AnyKind>(kind: K, options: WatchOptions<K>): Watch<K> {
  return { kind, options };
}

/** What {@linkcode index} answers. */
export interface Index<K extends AnyKind = AnyKind> {
  /** The kind whose live objects it holds. */
  readonly kind: K;
  /** The keys under which an object is found; nothing for one that is not. */
  // deno-lint-ignore no-explicit-any
  keys(object: any): string | readonly string[] | undefined;
}

/**
 * An index of a kind's live objects: they are found by a key without looking at all of them.
 *
 * @param kind The controller's own kind, or one that it owns, reads or watches.
 * @param keys The keys under which an object is found; none for one that is not.
 * @returns What `indexes` of a controller takes, by the name under which `index` of a context finds it.
 *
 * @example Usage
 * ```ts
 * import { index } from "@op/sdk";
 * import { Pod } from "@op/sdk/kinds";
 *
 * const byNode = index(Pod, (pod) => pod.spec?.nodeName);
 * ```
 */
export function index<K extends AnyKind>(
  kind: K,
  keys: (object: Infer<K>) => string | readonly string[] | undefined,
): Index<K> {
  return { kind, keys };
}
