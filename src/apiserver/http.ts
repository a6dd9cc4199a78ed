/**
 * Routes a request to its operation, and encodes the response in the format that the client
 * accepts.
 */
import { isObject } from "../base/json.ts";
import { invalid as invalidField } from "../schema/field_error.ts";
import { AccessDeniedError } from "./access/denial.ts";
import type { User } from "./access/user.ts";
import { deleteAdmitted } from "./admission/deletion.ts";
import type { Core } from "./core/core.ts";
import { storedOf } from "./core/stored.ts";
import type { Outcome, Target } from "./core/target.ts";
import { isDiscoveryPath, serveDiscovery } from "./discovery/discovery.ts";
import type { ServedKind } from "./objects/kinds.ts";
import type { StoredObject } from "./objects/objects.ts";
import { deleteOptions, isTrue } from "./objects/options.ts";
import { connect, isConnection } from "./subresources/connect.ts";
import { isPodPart, servePodPart } from "./subresources/pod_parts.ts";
import { isScale, serveScale } from "./subresources/scale.ts";
import { isTokenRequest, serveTokenRequest } from "./subresources/token_request.ts";
import { type IncludeObject, partial, tableOf } from "./tables/table.ts";
import { getObject, listObjects, selection } from "./verbs/read.ts";
import { isReview, serveReview } from "./verbs/reviews.ts";
import type { Watches, WatchEvent } from "./verbs/watch.ts";
import { create, patch, update } from "./verbs/writes.ts";
import { withConversions } from "./webhooks/conversion.ts";
import { acceptedForm, type Form, hasFormat } from "./wire/accept.ts";
import { contentType, jsonError, notAnObjectError, OBJECT_TYPES, parseJson, readBody } from "./wire/body.ts";
import {
  COMMON_HEADERS,
  encodeBody,
  errorResponse,
  inAcceptedFormat,
  jsonOf,
  jsonResponse,
  markAsStreaming,
  requestAsJson,
} from "./wire/formats.ts";
import { type ResourcePath, resourcePath } from "./wire/path.ts";
import { PROTOBUF } from "./wire/protobuf/media_type.ts";
import {
  badRequest,
  methodNotAllowed,
  methodNotSupported,
  notAcceptable,
  notFound,
  resourceNotFound,
  StatusError,
  unsupportedMediaType,
} from "./wire/status_error.ts";
import { warningHeaders } from "./wire/warning_headers.ts";
import { parseYaml } from "./wire/yaml.ts";

/** Options for {@linkcode respond}. */
export interface RespondOptions {
  /** The user, if the connection authenticated it. @default {the user of the request's token} */
  readonly user?: User;
  /** Whether anonymous requests are allowed. @default {true} */
  readonly anonymous?: boolean;
  /**
   * Called if the user lacks an RBAC permission. The response contains only the error's message.
   */
  readonly onDenied?: (error: AccessDeniedError) => void;
}

/**
 * Responds to a request.
 *
 * @param core The server.
 * @param watches The open watches.
 * @param request The request.
 * @param options Additional options.
 * @returns The response. A rejected request gets a response with a `Status` object.
 */
export async function respond(
  core: Core,
  watches: Watches,
  request: Request,
  { user: connectionUser, anonymous = true, onDenied }: RespondOptions = {},
): Promise<Response> {
  const warnings: string[] = [];
  try {
    const user = core.access.authenticate(request, connectionUser, anonymous);
    const jsonRequest = await requestAsJson(request);
    const mayReplay = jsonRequest.body !== null && core.kinds.hasConversionWebhooks;
    const response = await withConversions(() => {
      // This function runs again after a conversion, so the warnings of the previous attempt are
      // dropped.
      warnings.length = 0;
      return dispatch(core, watches, mayReplay ? jsonRequest.clone() : jsonRequest, { user, warnings });
    });
    return withWarnings(await inAcceptedFormat(response, request.headers), warnings);
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    if (error instanceof AccessDeniedError) onDenied?.(error);
    return withWarnings(await inAcceptedFormat(await errorResponse(error, request.headers), request.headers), warnings);
  }
}

async function dispatch(
  core: Core,
  watches: Watches,
  request: Request,
  { user, warnings }: Pick<Target, "user" | "warnings">,
): Promise<Response> {
  const url = new URL(request.url);
  const path = resourcePath(url.pathname);
  if (path === undefined) {
    if (isDiscoveryPath(url.pathname)) return await serveDiscovery(core, url, request);
    if (url.pathname.startsWith("/api/")) throw resourceNotFound();
    return pageNotFound();
  }
  const kind = core.kinds.get(path.group, path.version, path.plural);
  if (kind === undefined || !fitsScope(kind, path, request.method)) {
    const isBuiltin = kind?.isBuiltin ?? core.kinds.all.some((each) => each.isBuiltin && each.group === path.group);
    if (isBuiltin) throw resourceNotFound();
    return pageNotFound();
  }
  const target: Target = {
    kind,
    namespace: kind.namespaced ? path.namespace : undefined,
    name: path.name,
    subresource: path.subresource,
    query: url.searchParams,
    user,
    warnings,
    ...path.subpath !== undefined && { subpath: path.subpath },
    ...path.isWatch && { isWatchPath: true },
  };
  if (kind.deprecation !== undefined) warnings.push(kind.deprecation);
  if (path.subresource !== undefined && !kind.subresources.some(({ name }) => name === path.subresource)) {
    throw kind.isBuiltin ? resourceNotFound() : notFound(kind, path.name ?? "");
  }
  return await operate(core, watches, target, request);
}

/**
 * Returns the response for an unknown path, such as the path of a custom kind that is not defined.
 */
function pageNotFound(): Response {
  const headers = { ...COMMON_HEADERS, "content-type": "text/plain; charset=utf-8" };
  return new Response("404 page not found\n", { status: 404, headers });
}

/**
 * Returns whether a path fits the scope of its kind. For built-in kinds, the path across all
 * namespaces fits each method; later checks reject all methods but reads.
 */
function fitsScope(kind: ServedKind, { namespace, name }: ResourcePath, method: string): boolean {
  if (!kind.namespaced) return namespace === undefined;
  return namespace !== undefined || (name === undefined && (kind.isBuiltin || method === "GET"));
}

async function operate(core: Core, watches: Watches, target: Target, request: Request): Promise<Response> {
  const { kind, namespace, name, subresource } = target;
  const verb = verbOf(request.method, target);
  if (isConnection(target, request.method)) return await connect(core, target, verb ?? "");
  const allowed = subresource === undefined
    ? kind.verbs
    : kind.subresources.find((part) => part.name === subresource)?.verbs;
  if (verb === undefined || !allowed?.includes(verb)) throw unsupportedMethod(request.method, target);
  if (isTokenRequest(target)) return jsonResponse(await serveTokenRequest(core, target, request), 201);
  if (isPodPart(target)) return await servePodPart(core, target, request);
  if (isReview(target)) return jsonResponse(await serveReview(core, target, request), 201);
  const accept = request.headers.get("accept");
  const form = acceptedForm(accept, kind.isBuiltin);
  // For built-in kinds, the real server checks the Accept header before anything else.
  if (kind.isBuiltin && !hasFormat(accept)) throw notAcceptable(true, verb === "list" || verb === "watch");
  if (form === undefined) throw notAcceptable(false, false);
  if (isScale(target)) return objectResponse(await serveScale(core, target, request), form, core, target);
  switch (verb) {
    case "get":
      // With a resourceVersion, the cached result of a conversion is recent enough.
      if (!target.query.get("resourceVersion")) {
        await kind.rules.refresh?.(storedOf(core, kind, namespace, name ?? ""));
      }
      return objectResponse(
        { code: 200, object: getObject(core, kind, namespace, name ?? "", target.query) },
        form,
        core,
        target,
      );
    case "list":
      return list(core, target, form);
    case "watch":
      return watch(core, watches, target, form, request.signal);
    case "create":
      return objectResponse(await create(core, target, request), form, core, target);
    case "update":
      return objectResponse(await update(core, target, request), form, core, target);
    case "patch":
      return objectResponse(await patch(core, target, request), form, core, target);
    case "delete":
      return await remove(core, target, request, form);
    default:
      return await removeCollection(core, target, request);
  }
}

/** Returns the error for a method that a path does not support. */
function unsupportedMethod(method: string, { kind, name, subresource }: Target): StatusError {
  if (!kind.isBuiltin && subresource !== undefined) return methodNotSupported(kind, VERBS[method] ?? "");
  if (kind.isBuiltin && method === "GET" && name === undefined && kind.verbs.includes("list")) {
    return methodNotSupported(kind, "watch");
  }
  if (kind.isBuiltin || name !== undefined) return methodNotAllowed();
  if (method === "PUT" || method === "PATCH") return badRequest("name must be provided");
  return methodNotAllowed();
}

/** Verbs of methods on subresources, for error messages. */
const VERBS: Readonly<Record<string, string>> = { POST: "create", DELETE: "delete" };

type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "deletecollection";

function verbOf(method: string, { name, namespace, subresource, kind, query, isWatchPath }: Target): Verb | undefined {
  switch (method) {
    case "GET":
    case "HEAD":
      // The real server registers no HEAD routes for built-in kinds.
      if (method === "HEAD" && kind.isBuiltin) return undefined;
      if (isWatchPath) return "watch";
      if (name !== undefined) return "get";
      return isTrue(query.get("watch")) ? "watch" : "list";
    case "POST":
      if (name !== undefined && subresource === undefined && kind.isBuiltin) return undefined;
      return !kind.namespaced || namespace !== undefined ? "create" : undefined;
    case "PUT":
      return name === undefined ? undefined : "update";
    case "PATCH":
      return name === undefined ? undefined : "patch";
    case "DELETE":
      if (name !== undefined) return "delete";
      return kind.namespaced && namespace === undefined ? undefined : "deletecollection";
    default:
      return undefined;
  }
}

async function remove(
  core: Core,
  target: Target,
  request: Request,
  form: Form,
): Promise<Response> {
  const { kind, namespace, name = "", query } = target;
  const options = deleteOptions(query, await optionsBody(request));
  const { object, isDeleted } = await deleteAdmitted(core, target, { namespace, name }, options);
  if (!isDeleted || kind.returnsDeleted) {
    return objectResponse({ code: 200, object }, form, core, { kind, query });
  }
  return jsonResponse({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    details: { name, ...(kind.group !== "" && { group: kind.group }), kind: kind.plural, uid: object.metadata.uid },
  });
}

async function removeCollection(core: Core, target: Target, request: Request): Promise<Response> {
  const { kind, namespace, query } = target;
  const options = deleteOptions(query, await optionsBody(request));
  const isSelected = selection(kind, query);
  const { items, metadata } = listObjects(core, kind, namespace, new URLSearchParams());
  const removed: unknown[] = [];
  for (const object of items.filter(isSelected)) {
    await deleteAdmitted(core, target, locationOf(object), options);
    // The response contains the objects as they were before the deletion.
    removed.push(kind.isBuiltin ? withoutType(object) : object);
  }
  return jsonResponse({ ...listWithoutItems(kind, metadata), items: removed });
}

function locationOf({ metadata: { namespace, name } }: StoredObject): {
  namespace: string | undefined;
  name: string;
} {
  return { namespace, name };
}

/** Reads the options in the body of a deletion. The body may be empty. */
async function optionsBody(request: Request): Promise<unknown> {
  const text = await readBody(request);
  if (text === "") return undefined;
  const type = contentType(request.headers);
  if (type === "application/yaml") return await parseYaml(text);
  if (!OBJECT_TYPES.includes(type)) throw unsupportedMediaType([...OBJECT_TYPES, PROTOBUF]);
  const rejection = (reason: string) => badRequest(`couldn't get version/kind; json parse error: ${reason}`);
  let options: unknown;
  try {
    options = parseJson(text);
  } catch {
    throw rejection(jsonError(text));
  }
  if (options !== null && !isObject(options)) throw rejection(notAnObjectError(options));
  return options ?? {};
}

async function objectResponse(
  { code, object }: Outcome,
  form: Form,
  core: Core,
  { kind, query }: Pick<Target, "kind" | "query">,
): Promise<Response> {
  const text = await encodeBody(convertToForm(object, form, core, kind, query), form);
  return new Response(text, { status: code, headers: { ...COMMON_HEADERS, "content-type": form.contentType } });
}

function withWarnings(response: Response, warnings: readonly string[]): Response {
  for (const header of warningHeaders(warnings)) response.headers.append("warning", header);
  return response;
}

function convertToForm(
  object: StoredObject,
  form: Form,
  core: Core,
  kind: ServedKind,
  query: URLSearchParams,
): unknown {
  if (form.as === "metadata") return partial(object, form.metaVersion);
  if (form.as === "metadataList") throw wrongFormError(kind, false);
  if (form.as === "object") return object;
  const { resourceVersion } = object.metadata;
  return tableOf(kind, [object], { resourceVersion }, core.clock.now(), {
    includeObject: includeObjectOf(query),
    withColumns: true,
    version: form.metaVersion,
  });
}

/**
 * Returns the error for a request for `PartialObjectMetadata` of a list, or for
 * `PartialObjectMetadataList` of an object.
 */
function wrongFormError(kind: ServedKind, isList: boolean): StatusError {
  const [group] = kind.group.split(".");
  const type = kind.isBuiltin ? `*${group || "core"}.${kind.kind}` : "*unstructured.Unstructured";
  const message = isList
    ? `you requested PartialObjectMetadata, but the requested object is a list (${type}List)`
    : `you requested PartialObjectMetadataList, but the requested object is not a list (${type})`;
  return new StatusError(406, "NotAcceptable", message);
}

function includeObjectOf(query: URLSearchParams): IncludeObject {
  const value = query.get("includeObject") || "Metadata";
  if (value === "None" || value === "Object" || value === "Metadata") return value;
  const error = invalidField("includeObject", value, "must be 'Metadata', 'Object', 'None', or empty");
  throw badRequest(`Unable to convert to Table as requested: ${error.field}: ${error.message}`);
}

async function list(core: Core, { kind, namespace, query }: Target, form: Form): Promise<Response> {
  const { items, metadata } = listObjects(core, kind, namespace, query);
  const headers = { ...COMMON_HEADERS, "content-type": form.contentType };
  if (form.as === "table") {
    const table = tableOf(kind, items, metadata, core.clock.now(), {
      includeObject: includeObjectOf(query),
      withColumns: true,
      version: form.metaVersion,
    });
    return new Response(await encodeBody(table, form), { headers });
  }
  if (form.as === "metadata") throw wrongFormError(kind, true);
  if (form.as === "metadataList") {
    const metadataList = {
      kind: "PartialObjectMetadataList",
      apiVersion: `meta.k8s.io/${form.metaVersion}`,
      metadata,
      // The real server encodes an empty list as null in this form only.
      items: items.length === 0 ? null : items.map((item) => partial(item, form.metaVersion)),
    };
    return new Response(await encodeBody(metadataList, form), { headers });
  }
  if (form.format === "yaml") {
    return new Response(await encodeBody({ kind: kind.listKind, apiVersion: kind.apiVersion, metadata, items }, form), {
      headers,
    });
  }
  // Items of a built-in list have no kind and apiVersion: the list has them.
  const texts = items.map((item) => kind.isBuiltin ? jsonOf(withoutType(item)) : jsonOf(item));
  const head = JSON.stringify(listWithoutItems(kind, metadata));
  return new Response(`${head.slice(0, -1)},"items":[${texts.join(",")}]}\n`, { headers });
}

/**
 * Returns a list without its items. A list of custom objects has `continue` even if it is empty.
 */
function listWithoutItems(kind: ServedKind, metadata: object): object {
  const { listKind, apiVersion, isBuiltin } = kind;
  return { kind: listKind, apiVersion, metadata: isBuiltin ? metadata : { continue: "", ...metadata } };
}

/**
 * Stored objects without `kind` and `apiVersion`. Entries cannot become stale, since stored objects
 * are never changed in place. `jsonOf` caches the JSON of each result by identity.
 */
const withoutTypes = new WeakMap<StoredObject, object>();

function withoutType(object: StoredObject): object {
  const known = withoutTypes.get(object);
  if (known !== undefined) return known;
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = object;
  withoutTypes.set(object, rest);
  return rest;
}

async function watch(
  core: Core,
  watches: Watches,
  target: Target,
  form: Form,
  signal: AbortSignal,
): Promise<Response> {
  const { kind, namespace, name, query } = target;
  if (form.format === "yaml") {
    const types = ["application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch"];
    const message = `only the following media types are accepted: ${types.join(", ")}`;
    throw new StatusError(406, "NotAcceptable", message);
  }
  const protobuf = form.format === "protobuf" ? await import("./wire/protobuf/envelope.ts") : undefined;
  let isFirst = true;
  const encode = ({ type, object }: WatchEvent): string | Uint8Array => {
    let line = object;
    if (type !== "ERROR" && form.as.startsWith("metadata")) line = partial(object as StoredObject, form.metaVersion);
    if (type !== "ERROR" && form.as === "table") {
      const { resourceVersion } = (object as StoredObject).metadata;
      const rows = type === "BOOKMARK" ? [] : [object as StoredObject];
      const options = { includeObject: includeObjectOf(query), withColumns: isFirst, version: form.metaVersion };
      line = tableOf(kind, rows, { resourceVersion }, core.clock.now(), options);
      isFirst = false;
    }
    if (protobuf !== undefined) return protobuf.eventFrame(type, line as StoredObject);
    return `{"type":"${type}","object":${jsonOf(line)}}\n`;
  };
  const body = watches.open({ kind, namespace, name, query, encode, signal });
  const contentType = form.format === "protobuf" ? `${PROTOBUF};stream=watch` : form.contentType;
  return markAsStreaming(new Response(body, { headers: { ...COMMON_HEADERS, "content-type": contentType } }));
}
