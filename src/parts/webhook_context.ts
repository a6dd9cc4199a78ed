/** The context of a webhook's functions, and the values that they return. */
import type { Clock } from "../base/clock.ts";
import type { Returned } from "./returned.ts";
import type { AnyKind, Infer, KubeObject, ObjectMeta } from "../resource/kind.ts";
import type { FieldError } from "../resource/validation.ts";
import type { Access } from "./access.ts";
import type { Denial } from "./denial.ts";
import type { ListOptions, Log, NamespaceOptions, Readable } from "./context.ts";

/** An operation that a webhook can review, named as in the API. */
export type Operation = "CREATE" | "UPDATE" | "DELETE" | "CONNECT";

/** The user who sent a request. */
export interface UserInfo {
  /** The username, such as `system:serviceaccount:shop:deployer`. */
  readonly username: string;
  /** Distinguishes the user from earlier users of the same name. */
  readonly uid?: string;
  /** The groups of the user, such as `system:authenticated`. */
  readonly groups?: readonly string[];
  /** More information from the authenticator, such as the scopes of a token. */
  readonly extra?: { readonly [key: string]: readonly string[] };
}

/** A version of a kind. */
export interface GroupVersionKind {
  /** The API group. Empty for the core group. */
  readonly group: string;
  /** The version, such as `v1`. */
  readonly version: string;
  /** The kind, in CamelCase and singular. */
  readonly kind: string;
}

/** A version of a resource. */
export interface GroupVersionResource {
  /** The API group. Empty for the core group. */
  readonly group: string;
  /** The version, such as `v1`. */
  readonly version: string;
  /** The plural name, in lower case. */
  readonly resource: string;
}

/** The `request` of an AdmissionReview (`admission.k8s.io/v1`). */
export interface AdmissionRequest {
  /** Identifies the request, not the object. */
  readonly uid: string;
  /** The kind of the object, in the version that the webhook reviews. */
  readonly kind: GroupVersionKind;
  /** The resource of the object, in the same version. */
  readonly resource: GroupVersionResource;
  /** The subresource, such as `status`. Absent or empty for the object itself. */
  readonly subResource?: string;
  /** The kind of the original request, if it was for another version. */
  readonly requestKind?: GroupVersionKind;
  /** The resource of the original request. */
  readonly requestResource?: GroupVersionResource;
  /** The subresource of the original request. */
  readonly requestSubResource?: string;
  /** The name. Absent if the server generates it. */
  readonly name?: string;
  /** The namespace. Absent for cluster-scoped kinds. */
  readonly namespace?: string;
  /** The operation. */
  readonly operation: Operation;
  /** The user who sent the request. */
  readonly userInfo: UserInfo;
  /** The new object. Null or absent if it is deleted. */
  readonly object?: unknown;
  /** The stored object. Null or absent if it is created. */
  readonly oldObject?: unknown;
  /** Whether the request is a dry run, which stores nothing. */
  readonly dryRun?: boolean;
  /** The options of the request: `CreateOptions`, `UpdateOptions` and so on (`meta.k8s.io/v1`). */
  readonly options?: unknown;
}

/** The object that `/scale` reads and writes (`autoscaling/v1`, Scale). */
export interface ScaleObject extends KubeObject {
  readonly spec?: { readonly replicas?: number };
  readonly status?: { readonly replicas: number; readonly selector?: string };
}

/**
 * The object of a request. For the object itself and for `status`, it is an object of the kind.
 * `scale` and connections have objects of other types.
 */
export type Subject<K extends AnyKind, Sub extends string> = [Sub] extends [never] ? Infer<K>
  : Sub extends "status" ? Infer<K>
  : Sub extends "scale" ? ScaleObject
  : { readonly [field: string]: unknown };

/** An object under review, with defaults applied. A new object has no resourceVersion yet. */
export type ReviewedObject<K extends AnyKind, Sub extends string = never> = Subject<K, Sub> extends
  infer Whole extends { readonly metadata: ObjectMeta }
  ? Omit<Whole, "metadata"> & { readonly metadata: Omit<ObjectMeta, "resourceVersion"> & { resourceVersion?: string } }
  : Subject<K, Sub>;

/** `T` without `readonly`, at every depth. */
export type Draft<T> = T extends readonly (infer Item)[] ? Draft<Item>[]
  : T extends object ? { -readonly [P in keyof T]: Draft<T[P]> }
  : T;

/**
 * An object that a webhook may change. A new object has neither uid nor resourceVersion yet, and no
 * name if it has `generateName`.
 */
export type MutableObject<K extends AnyKind, Sub extends string = never> = Subject<K, Sub> extends
  infer Whole extends { readonly metadata: ObjectMeta }
  ? Draft<Omit<Whole, "metadata">> & { metadata: Draft<Partial<ObjectMeta>> }
  : Draft<Subject<K, Sub>>;

/**
 * The value that `validate` returns: `undefined` if the object is valid, otherwise its errors. The
 * errors that `validate()` of the SDK returns are accepted too.
 */
export type ValidateResult = void | undefined | Denial | FieldError | readonly (Denial | FieldError)[];

/**
 * The value that `mutate` returns: `undefined` if it changed the object in place, the changed
 * object, or denials.
 */
export type MutateResult<K extends AnyKind, Sub extends string = never> =
  | void
  | undefined
  | Denial
  | readonly Denial[]
  | MutatedObject<K, Sub>;

/**
 * An object that `mutate` returns. Omitted top-level properties and omitted properties of the
 * metadata remain unchanged.
 */
type MutatedObject<K extends AnyKind, Sub extends string> = Subject<K, Sub> extends
  infer Whole extends { readonly metadata: ObjectMeta }
  ? Returned<Partial<Omit<Whole, "metadata">> & { readonly metadata?: Partial<ObjectMeta> }>
  : Returned<Subject<K, Sub>>;

/** The context of a webhook's functions. */
export interface WebhookContext<
  K extends AnyKind = AnyKind,
  Sub extends string = never,
  Uses extends readonly Access[] = readonly Access[],
  Services = unknown,
  Reads extends readonly AnyKind[] = readonly AnyKind[],
> {
  /** The operation under review. */
  readonly operation: Operation;
  /** The stored object, or `undefined` if the object is created. */
  readonly old: Subject<K, Sub> | undefined;
  /** The user who sent the request. */
  readonly user: UserInfo;
  /**
   * Whether the request is a dry run. If so, the webhook must not change anything outside the
   * object.
   */
  readonly dryRun: boolean;
  /** The object's name in the request. Empty if the API server generates it later. */
  readonly name: string;
  /** The object's namespace, or `undefined` for cluster-scoped kinds. */
  readonly namespace: string | undefined;
  /** The request as received. */
  readonly request: AdmissionRequest;
  /**
   * Shows a warning to the user who sent the request, without denying it. kubectl prints at most
   * 256 bytes of it.
   */
  warn(message: string): void;
  /**
   * Adds an entry to the API server's audit log. The key consists of at most 63 letters, digits,
   * `-`, `_` and `.`.
   */
  audit(key: string, value: string): void;
  /**
   * Returns an object, or `undefined` if it does not exist. It reads the cache for kinds in
   * `reads`, and the API server for kinds in `uses`.
   */
  get<T extends AnyKind>(
    kind: Readable<T, never, readonly [], Reads, Uses, "get">,
    name: string,
    options?: NamespaceOptions,
  ): Promise<Infer<T> | undefined>;
  /**
   * Lists objects. It reads the cache for kinds in `reads`, and the API server for kinds in `uses`.
   */
  list<T extends AnyKind>(
    kind: Readable<T, never, readonly [], Reads, Uses, "list">,
    options?: ListOptions,
  ): Promise<readonly Infer<T>[]>;
  /** The services that the operator created at start; see the option `services` of `operator`. */
  readonly services: Services;
  /**
   * Returns the current time of the operator's clock. In a memory cluster the test moves this
   * clock; `Date` does not follow it.
   */
  now(): Date;
  /** The operator's clock: system time, or the clock of the memory cluster. */
  readonly clock: Clock;
  /** A log with the request's uid and the object's keys. */
  readonly log: Log;
  /** Aborted when the API server stops waiting for the response, or the operator stops. */
  readonly signal: AbortSignal;
}
