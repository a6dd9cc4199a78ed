/** What requests reached a memory cluster, for a test to look at. */
import { type Attributes, attributesOf, isOfResource } from "../apiserver/access/attributes.ts";
import { isObject } from "../base/json.ts";
import { maskSecrets } from "../base/mask_secrets.ts";
import type { AnyKind } from "../resource/kind.ts";

/** What is asked for, in the words of RBAC. */
export type RequestVerb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "deletecollection";

/** A request that was sent to the server. */
export interface RequestRecord {
  /** Of HTTP, such as `PATCH`. */
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** By what the sender calls itself: an operator by its name. */
  readonly userAgent: string;
  /** In the words of RBAC; of a path that is no resource, the method in lower case. */
  readonly verb: RequestVerb | string;
  /** API group; absent, as all that follow, where the path is no resource. */
  readonly group?: string;
  /** Plural name. */
  readonly resource?: string;
  /** Such as `status`; absent for the object itself. */
  readonly subresource?: string;
  /** Absent where the request is about the whole cluster. */
  readonly namespace?: string;
  /** Of a create: the name in the body. */
  readonly name?: string;
  /** When it was sent, in milliseconds since the epoch, by the cluster's clock. */
  readonly time: number;
  /** The body of a write: JSON, or the text as it is where it is none. Printing the body of a Secret masks its values; reading them does not. */
  readonly body?: unknown;
  /** The status of the answer; absent while there is none, or when none arrived. */
  readonly status?: number;
  /** The faults that were injected. */
  readonly faults: readonly string[];
}

/** Which requests are meant: those to which all of it applies. */
export interface RequestFilter {
  /** In RBAC's words. @default {whatever} */
  readonly verb?: RequestVerb;
  /** By group and plural name, in whatever version. @default {whatever} */
  readonly kind?: AnyKind;
  /** The namespace in the path. @default {whatever} */
  readonly namespace?: string;
  /** The object's name; of a create, the one in the body. @default {whatever} */
  readonly name?: string;
  /** Such as `status`; an empty text means the object itself. @default {whatever} */
  readonly subresource?: string;
  /** Who sends it, by the name in its user agent: an operator's own name, and `test-client` of the test's own requests. */
  readonly by?: string;
  /** Whatever else. */
  readonly where?: (request: RequestRecord) => boolean;
}

/** A record on its way: what is known later is filled in. */
export type OpenRecord = { -readonly [K in keyof RequestRecord]: RequestRecord[K] } & { faults: string[] };

/**
 * What is known of a request before it is answered.
 *
 * @param request The request; its body is not touched.
 * @param text Its body, where it has one.
 * @param time When it was sent.
 */
export function recordOf(request: Request, text: string | undefined, time: number): OpenRecord {
  const url = new URL(request.url);
  const attributes = attributesOf(request.method, url);
  const body = text === undefined || text === "" ? undefined : parsed(text);
  if (isOfResource(attributes) && attributes.group === "" && attributes.resource === "secrets") maskWhenPrinted(body);
  return {
    method: request.method,
    path: url.pathname + url.search,
    userAgent: request.headers.get("user-agent") ?? "",
    ...placeOf(attributes, body),
    time,
    ...(body !== undefined && { body }),
    faults: [],
  };
}

/** Deno's `console.log` and Node's `util.inspect` print a value by these methods, where it has them. */
function maskWhenPrinted(body: unknown): void {
  if (!isObject(body)) return;
  const masked = () => ({ ...maskSecrets({ apiVersion: "v1", kind: "Secret", ...body }) });
  const methods = {
    "Deno.customInspect": (inspect: typeof Deno.inspect, options: Deno.InspectOptions) => inspect(masked(), options),
    "nodejs.util.inspect.custom": masked,
  };
  for (const [name, value] of Object.entries(methods)) Object.defineProperty(body, Symbol.for(name), { value });
}

function placeOf(attributes: Attributes, body: unknown): Pick<RequestRecord, "verb"> & Partial<RequestRecord> {
  if (!isOfResource(attributes)) return { verb: attributes.verb };
  const { verb, group, resource, subresource, namespace } = attributes;
  const name = attributes.name || (body as { metadata?: { name?: string } } | undefined)?.metadata?.name;
  return {
    verb,
    group,
    resource,
    ...(subresource !== "" && { subresource }),
    ...(namespace !== "" && { namespace }),
    ...(name && { name }),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Whether a request is meant. */
export function isMeant(filter: RequestFilter, request: RequestRecord): boolean {
  const { verb, kind, namespace, name, subresource, by, where } = filter;
  return (verb === undefined || request.verb === verb) &&
    (kind === undefined || (request.group === kind.group && request.resource === kind.plural)) &&
    (namespace === undefined || request.namespace === namespace) &&
    (name === undefined || request.name === name) &&
    (subresource === undefined || (request.subresource ?? "") === subresource) &&
    (by === undefined || request.userAgent.split("/")[0] === by) && (where?.(request) ?? true);
}
