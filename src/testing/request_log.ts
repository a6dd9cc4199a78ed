/** The log of requests to a memory cluster. */
import { type Attributes, attributesOf, isOfResource } from "../apiserver/access/attributes.ts";
import { isObject } from "../base/json.ts";
import { maskSecrets } from "../base/mask_secrets.ts";
import type { AnyKind } from "../resource/kind.ts";

/** An RBAC verb. */
export type RequestVerb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "deletecollection";

/** A request to the API server. */
export interface RequestRecord {
  /** HTTP method, such as `PATCH`. */
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** User agent of the client. That of an operator starts with its name. */
  readonly userAgent: string;
  /** RBAC verb. For a path that is not a resource, the HTTP method in lower case. */
  readonly verb: RequestVerb | string;
  /** API group. `undefined`, like `resource`, for a path that is not a resource. */
  readonly group?: string;
  /** Plural name of the kind. */
  readonly resource?: string;
  /** Subresource, such as `status`; `undefined` for the object itself. */
  readonly subresource?: string;
  /** Namespace; `undefined` for requests to the whole cluster. */
  readonly namespace?: string;
  /** Name of the object. For a create, the name in the body. */
  readonly name?: string;
  /** When the request was sent, in milliseconds since the epoch, by the cluster's clock. */
  readonly time: number;
  /**
   * Body of a write: the parsed JSON, or a string if it is not JSON. Printing the body of a Secret
   * masks its values; reading them does not.
   */
  readonly body?: unknown;
  /** Status of the response; `undefined` until it arrives, and if it never does. */
  readonly status?: number;
  /** Names of the faults that were injected. */
  readonly faults: readonly string[];
}

/** Selects requests. A request matches if it has all the given properties. */
export interface RequestFilter {
  /** RBAC verb. @default {any} */
  readonly verb?: RequestVerb;
  /** Kind, in any version. @default {any} */
  readonly kind?: AnyKind;
  /** Namespace in the path. @default {any} */
  readonly namespace?: string;
  /** Name of the object. For a create, the name in the body. @default {any} */
  readonly name?: string;
  /**
   * Subresource, such as `status`. The empty string stands for the object itself. @default {any}
   */
  readonly subresource?: string;
  /**
   * Name of the client in the user agent: the operator's name, or `test-client` for requests of the
   * test.
   *
   * @default {any}
   */
  readonly client?: string;
  /** Returns whether a request matches. @default {every request matches} */
  readonly where?: (request: RequestRecord) => boolean;
}

/** A record of a pending request: the response status and faults are added later. */
export type OpenRecord = { -readonly [K in keyof RequestRecord]: RequestRecord[K] } & { faults: string[] };

/**
 * Returns the record of a request that has no response yet.
 *
 * @param request The request. Its body is not read.
 * @param text The body, if there is one.
 * @param time When the request was sent, in milliseconds since the epoch.
 */
export function recordOf(request: Request, text: string | undefined, time: number): OpenRecord {
  const url = new URL(request.url);
  const attributes = attributesOf(request.method, url);
  const body = text === undefined || text === "" ? undefined : parseBody(text);
  if (isOfResource(attributes) && attributes.group === "" && attributes.resource === "secrets") maskWhenPrinted(body);
  return {
    method: request.method,
    path: url.pathname + url.search,
    userAgent: request.headers.get("user-agent") ?? "",
    ...targetOf(attributes, body),
    time,
    ...(body !== undefined && { body }),
    faults: [],
  };
}

/** Masks an object when Deno's `console.log` or Node's `util.inspect` prints it. */
function maskWhenPrinted(body: unknown): void {
  if (!isObject(body)) return;
  const masked = () => ({ ...maskSecrets({ apiVersion: "v1", kind: "Secret", ...body }) });
  const methods = {
    "Deno.customInspect": (inspect: typeof Deno.inspect, options: Deno.InspectOptions) => inspect(masked(), options),
    "nodejs.util.inspect.custom": masked,
  };
  for (const [name, value] of Object.entries(methods)) Object.defineProperty(body, Symbol.for(name), { value });
}

function targetOf(attributes: Attributes, body: unknown): Pick<RequestRecord, "verb"> & Partial<RequestRecord> {
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

function parseBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Returns whether a request matches a filter. */
export function matches(filter: RequestFilter, request: RequestRecord): boolean {
  const { verb, kind, namespace, name, subresource, client, where } = filter;
  return (verb === undefined || request.verb === verb) &&
    (kind === undefined || (request.group === kind.group && request.resource === kind.plural)) &&
    (namespace === undefined || request.namespace === namespace) &&
    (name === undefined || request.name === name) &&
    (subresource === undefined || (request.subresource ?? "") === subresource) &&
    (client === undefined || request.userAgent.split("/")[0] === client) && (where?.(request) ?? true);
}
