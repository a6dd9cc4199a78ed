/** How a kind is watched, and which reconciles its changes trigger. */
import type { AnyKind, Infer, KubeObject } from "../resource/kind.ts";

/**
 * An object to reconcile: its name, in the namespace of the changed object; its name and namespace;
 * or the object itself.
 */
export type ReconcileRequest =
  | string
  | { readonly name: string; readonly namespace?: string | undefined }
  | { readonly metadata: { readonly name: string; readonly namespace?: string | undefined } };

/** The context of a mapping function. */
export interface MapContext {
  /** Returns the objects that an index of the controller has under a key. */
  index(name: string, key: string): readonly KubeObject[];
  /** Returns all cached objects of the controller's kind. */
  all(): readonly KubeObject[];
}

/** Options of {@linkcode watch}. */
export interface WatchOptions<K extends AnyKind = AnyKind> {
  /**
   * Labels that objects must have, or a selector string: `app=web,tier!=cache`. The API server
   * filters by it. @default {all}
   */
  readonly labelSelector?: string | { readonly [label: string]: string };
  /** A field selector: `metadata.name=web`. The API server filters by it. @default {all} */
  readonly fieldSelector?: string;
  /** The only namespaces to watch. @default {those of the operator} */
  readonly namespaces?: readonly string[];
  /**
   * Whether only metadata is cached; the API server sends nothing else. Objects of the kind are
   * then read without spec and status. @default {false}
   */
  readonly metadataOnly?: boolean;
  /**
   * Whether all of `metadata.managedFields` is cached, which is most of an object's size. @default
   * {false: only the entries of this operator}
   */
  readonly managedFields?: boolean;
  /**
   * Watches only objects with these names, by one watch per name, instead of all objects. A
   * function returns the names that one of the controller's own objects refers to; a change of a
   * named object reconciles the objects that name it, and watches start and stop as names come and
   * go. A list of fixed names is watched in the namespace of each object, and the generated roles
   * are limited to these names.
   *
   * @default {all objects in the watched namespaces}
   */
  // deno-lint-ignore no-explicit-any -- the kind of the object is not known here
  readonly names?: readonly string[] | ((own: any) => ReconcileRequest | readonly ReconcileRequest[] | undefined);
  /**
   * Whether reconciles for changes of this kind wait until all new changes of other kinds are
   * processed. @default {"normal"}
   */
  readonly priority?: "normal" | "low";
  /**
   * Returns the part of the object that matters. A change of anything else does not trigger a
   * reconcile. @default {the whole object}
   */
  select?(object: Infer<K>): unknown;
  /**
   * Returns whether a change triggers a reconcile. `before` is `undefined` for an object that is
   * new or was found at start. @default {always true}
   */
  predicate?(object: Infer<K>, before: Infer<K> | undefined): boolean;
  /**
   * Returns the objects of the controller's kind to reconcile when an object changes. It is called
   * with the old object as well. @default {for the own kind the object, for kinds in `owns` the
   * owner}
   */
  map?(object: Infer<K>, context: MapContext): ReconcileRequest | readonly ReconcileRequest[] | undefined;
}

/** A kind and how it is watched, as {@linkcode watch} returns it. */
export interface Watch<K extends AnyKind = AnyKind> {
  /** The watched kind. */
  readonly kind: K;
  /** The options of the watch. */
  // deno-lint-ignore no-explicit-any -- one list contains watches of different kinds
  readonly options: WatchOptions<any>;
}

/**
 * Declares how a kind is watched. For the controller's own kind and kinds in `owns` and `reads`, it
 * limits what is cached and which changes trigger a reconcile. Any other kind is watched and may be
 * read, and its changes reconcile the objects that `map` or `names` returns.
 *
 * @param kind The kind.
 * @param options Which objects are watched, and what their changes trigger.
 * @returns The value for the option `watches` of a controller, which rejects options that
 *   contradict each other.
 *
 * @example A Secret that a spec refers to
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
 *       map: ({ metadata: { namespace, name } }, { index }) =>
 *         index("bySecret", `${namespace}/${name}`),
 *     }),
 *   ],
 *   async reconcile(site, { get, log }) {
 *     const secret = await get(Secret, site.spec.secret);
 *     log.info("Secret read", { isThere: secret !== undefined });
 *   },
 * });
 * ```
 *
 * @example Only the Secrets that are referred to: no other Secret is cached
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

/** An index, as {@linkcode index} returns it. */
export interface Index<K extends AnyKind = AnyKind> {
  /** The kind whose cached objects it contains. */
  readonly kind: K;
  /** Returns the keys of an object, or `undefined` if it is not in the index. */
  // deno-lint-ignore no-explicit-any
  keys(object: any): string | readonly string[] | undefined;
}

/**
 * Declares an index of cached objects, which finds objects by a key without a scan.
 *
 * @param kind The controller's own kind, or a kind that it owns, reads or watches.
 * @param keys Returns the keys of an object, or `undefined` if it is not in the index.
 * @returns The value for the option `indexes` of a controller. `index` of the context reads it by
 *   its name there.
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
