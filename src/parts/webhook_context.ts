/** What a webhook's functions are handed, and what they may answer. */
import type { Clock } from "../base/clock.ts";
import type { Returned } from "./returned.ts";
import type { AnyKind, Infer, KubeObject, ObjectMeta } from "../resource/kind.ts";
import type { FieldError } from "../resource/validation.ts";
import type { Access } from "./access.ts";
import type { Denial } from "./denial.ts";
import type { ListOptions, Log, NamespaceOptions, Readable } from "./context.ts";

/** What a webhook can be asked about, in the API's own words. */
export type Operation = "CREATE" | "UPDATE" | "DELETE" | "CONNECT";

/** Who sent a request. */
export interface UserInfo {
  /** Such as `system:serviceaccount:shop:deployer`. */
  readonly username: string;
  /** What tells the user from one of that name that was there before. */
  readonly uid?: string;
  /** The groups that the user is in, such as `system:authenticated`. */
  readonly groups?: readonly string[];
  /** What the authenticator says besides, such as the scopes of a token. */
  readonly extra?: { readonly [key: string]: readonly string[] };
}

/** A kind in one of its versions. */
export interface GroupVersionKind {
  /** API group; empty for the core group. */
  readonly group: string;
  /** Such as `v1`. */
  readonly version: string;
  /** In CamelCase, singular. */
  readonly kind: string;
}

/** Where objects of a kind are in paths, in one of its versions. */
export interface GroupVersionResource {
  /** API group; empty for the core group. */
  readonly group: string;
  /** Such as `v1`. */
  readonly version: string;
  /** The plural name, in lower case. */
  readonly resource: string;
}

/** `request` of an AdmissionReview, whole (`admission.k8s.io/v1`). */
export interface AdmissionRequest {
  /** Of the request, not of the object. */
  readonly uid: string;
  /** What the object is; in the version that the webhook asks for. */
  readonly kind: GroupVersionKind;
  /** Where the object is in paths, in the same version. */
  readonly resource: GroupVersionResource;
  /** What of the object is written, such as `status`; absent or empty for the object itself. */
  readonly subResource?: string;
  /** What the request was made for, where that was another version. */
  readonly requestKind?: GroupVersionKind;
  /** `resource` of what the request was made for. */
  readonly requestResource?: GroupVersionResource;
  /** `subResource` of what the request was made for. */
  readonly requestSubResource?: string;
  /** Absent where the server is to make the name. */
  readonly name?: string;
  /** Absent of a kind that lives in no namespace. */
  readonly namespace?: string;
  /** What is done with the object. */
  readonly operation: Operation;
  /** Who asks. */
  readonly userInfo: UserInfo;
  /** As it is to be; null or absent where it goes. */
  readonly object?: unknown;
  /** As it is stored; null or absent where it is new. */
  readonly oldObject?: unknown;
  /** Whether nothing will be stored. */
  readonly dryRun?: boolean;
  /** How it was asked: `CreateOptions`, `UpdateOptions` and so on (`meta.k8s.io/v1`). */
  readonly options?: unknown;
}

/** What `/scale` reads and writes (`autoscaling/v1`, Scale). */
export interface ScaleObject extends KubeObject {
  readonly spec?: { readonly replicas?: number };
  readonly status?: { readonly replicas: number; readonly selector?: string };
}

/** What a request is about: the kind's object, be it by its status; `/scale` and connections have objects of their own. */
export type Subject<K extends AnyKind, Sub extends string> = [Sub] extends [never] ? Infer<K>
  : Sub extends "status" ? Infer<K>
  : Sub extends "scale" ? ScaleObject
  : { readonly [field: string]: unknown };

/** An object on its way into the cluster, with its defaults. What is new has no resourceVersion yet. */
export type ReviewedObject<K extends AnyKind, Sub extends string = never> = Subject<K, Sub> extends
  infer Whole extends { readonly metadata: ObjectMeta }
  ? Omit<Whole, "metadata"> & { readonly metadata: Omit<ObjectMeta, "resourceVersion"> & { resourceVersion?: string } }
  : Subject<K, Sub>;

/** What may be changed, all the way down. */
export type Draft<T> = T extends readonly (infer Item)[] ? Draft<Item>[]
  : T extends object ? { -readonly [P in keyof T]: Draft<T[P]> }
  : T;

/** An object that a webhook may change. What is new has neither uid nor resourceVersion yet, and where it asks for a generated name no name. */
export type MutableObject<K extends AnyKind, Sub extends string = never> = Subject<K, Sub> extends
  infer Whole extends { readonly metadata: ObjectMeta }
  ? Draft<Omit<Whole, "metadata">> & { metadata: Draft<Partial<ObjectMeta>> }
  : Draft<Subject<K, Sub>>;

/** What `validate` may answer: nothing where all is well, or what is wrong. Also what `validate()` of the SDK answers of a kind. */
export type ValidateResult = void | undefined | Denial | FieldError | readonly (Denial | FieldError)[];

/** What `mutate` may answer: nothing where it changed the draft, the wanted object, or what is wrong. */
export type MutateResult<K extends AnyKind, Sub extends string = never> =
  | void
  | undefined
  | Denial
  | readonly Denial[]
  | Wanted<K, Sub>;

/** A wanted object. What is left out at its top and in its metadata stays as it is. */
type Wanted<K extends AnyKind, Sub extends string> = Subject<K, Sub> extends
  infer Whole extends { readonly metadata: ObjectMeta }
  ? Returned<Partial<Omit<Whole, "metadata">> & { readonly metadata?: Partial<ObjectMeta> }>
  : Returned<Subject<K, Sub>>;

/** What a webhook's functions are handed beside the object. */
export interface WebhookContext<
  K extends AnyKind = AnyKind,
  Sub extends string = never,
  Uses extends readonly Access[] = readonly Access[],
  Services = unknown,
  Reads extends readonly AnyKind[] = readonly AnyKind[],
> {
  /** What is done with the object. */
  readonly operation: Operation;
  /** The object as it is stored: there when it is updated or deleted. */
  readonly old: Subject<K, Sub> | undefined;
  /** Who makes the request. */
  readonly user: UserInfo;
  /** Whether nothing of it will be stored: then nothing outside may be changed either. */
  readonly dryRun: boolean;
  /** The name as the request has it; empty for one that is still to be generated. */
  readonly name: string;
  /** Where the object is; absent for a kind that lives in no namespace. */
  readonly namespace: string | undefined;
  /** The whole request, as it was received. */
  readonly request: AdmissionRequest;
  /** Tells whoever made the request something, which does not refuse it: kubectl prints it. At most 256 bytes are shown. */
  warn(message: string): void;
  /** Adds a line to the server's audit log. @param key Letters, digits, `-`, `_` and `.`, at most 63. */
  audit(key: string, value: string): void;
  /** Reads an object: of a kind in `reads` from the live copy, of one in `uses` from the server. Nothing when there is none. */
  get<T extends AnyKind>(
    kind: Readable<T, never, readonly [], Reads, Uses, "get">,
    name: string,
    options?: NamespaceOptions,
  ): Promise<Infer<T> | undefined>;
  /** Lists objects: of a kind in `reads` in the live copy, of one in `uses` on the server. */
  list<T extends AnyKind>(
    kind: Readable<T, never, readonly [], Reads, Uses, "list">,
    options?: ListOptions,
  ): Promise<readonly Infer<T>[]>;
  /** What the operator made at its start; see the option `services` of `operator`. */
  readonly services: Services;
  /** Returns the current time, by the operator's clock. In a memory cluster it is the cluster's time, which the test moves; `Date` is not. */
  now(): Date;
  /** The operator's clock: system time, or in a memory cluster the cluster's. */
  readonly clock: Clock;
  /** A log with the request's uid and the object's keys. */
  readonly log: Log;
  /** Aborted when the server will not wait for the answer any longer, or the operator stops. */
  readonly signal: AbortSignal;
}
