/** Represents an object that kustomize's transformers change, with its previous identities. */
import type { BuiltinSchemas } from "./builtin_schemas.ts";
import type { PlainObject } from "../objects.ts";

/** Group, version, kind, namespace and name. */
export interface Identity {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** An object of a kustomization. Patches and references find it by any name it has had. */
export class Resource {
  /** The current object. */
  object: PlainObject;
  /** Whether a hash of its data is appended to its name after all changes. */
  needsHash = false;
  /** Name prefixes that were added, the innermost first. */
  readonly prefixes: string[] = [];
  /** Name suffixes that were added, the innermost first. */
  readonly suffixes: string[] = [];
  readonly #previous: Identity[] = [];
  readonly #builtin: BuiltinSchemas;

  constructor(object: PlainObject, builtin: BuiltinSchemas) {
    this.object = object;
    this.#builtin = builtin;
  }

  /**
   * Whether the kind is known to be cluster-scoped. Unknown kinds count as namespaced, as in
   * kustomize.
   */
  get isClusterScoped(): boolean {
    return this.#builtin.isNamespaced(this.object.apiVersion, this.object.kind) === false;
  }

  /** The current identity. */
  get identity(): Identity {
    const { apiVersion, kind, metadata: { name, namespace = "default" } } = this.object;
    const [version = "", group = ""] = apiVersion.split("/").reverse();
    return { group, version, kind, name, namespace: this.isClusterScoped ? "" : namespace };
  }

  /** The identity in the file that the object comes from. */
  get original(): Identity {
    return this.#previous[0] ?? this.identity;
  }

  /** All identities, the current one last. */
  get identities(): readonly Identity[] {
    return [...this.#previous, this.identity];
  }

  /** Replaces the object, and stores its previous identity if the identity changes. */
  change(object: PlainObject): void {
    const before = this.identity;
    this.object = object;
    if (!sameIdentity(before, this.identity)) this.#previous.push(before);
  }
}

/** Returns whether two identities are equal. */
export function sameIdentity(a: Identity, b: Identity): boolean {
  return a.group === b.group && a.version === b.version && a.kind === b.kind && a.namespace === b.namespace &&
    a.name === b.name;
}

/** Formats an identity for errors, for example `Deployment.apps "shop/web"`. */
export function shownIdentity({ group, kind, namespace, name }: Identity): string {
  return `${kind}${group === "" ? "" : `.${group}`} "${namespace === "" ? "" : `${namespace}/`}${name}"`;
}
