/** From a request to its answer: which operation it asks for, and in which form the answer is wanted. */
import { isObject } from "../base/json.ts";
import { invalid as invalidField } from "../schema/field_error.ts";
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
import { type Form, namesFormat, wantedForm } from "./wire/accept.ts";
import { contentType, jsonFault, OBJECT_TYPES, parseJson, readBody, untypedFault } from "./wire/body.ts";
import { asWanted, COMMON, encoded, jsonResponse, refusal, requestAsJson, streaming, textOf } from "./wire/formats.ts";
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

/**
 * Answers a request.
 *
 * @param core The server.
 * @param watches The open watches.
 * @param request The request.
 * @param caller Who sent it, where that is known from the connection rather than from a token; and whether it may be unknown.
 */
export async function answer(
  core: Core,
  watches: Watches,
  request: Request,
  { user: sender, anonymous = true }: { readonly user?: User; readonly anonymous?: boolean } = {},
): Promise<Response> {
  const warnings: string[] = [];
  try {
    const user = core.access.admit(request, sender, anonymous);
    const asked = await requestAsJson(request);
    const isReadOnce = asked.body !== null && core.kinds.areConverted;
    const answer = await withConversions(() => {
      // What has to be converted first lets the request begin anew.
      warnings.length = 0;
      return dispatch(core, watches, isReadOnce ? asked.clone() : asked, { user, warnings });
    });
    return warned(await asWanted(answer, request.headers), warnings);
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    return warned(await asWanted(await refusal(error, request.headers), request.headers), warnings);
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
  if (kind === undefined || !isPlace(kind, path, request.method)) {
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

/** What is answered where nothing is: a custom kind that is not there leaves the path to nobody. */
function pageNotFound(): Response {
  const headers = { ...COMMON, "content-type": "text/plain; charset=utf-8" };
  return new Response("404 page not found\n", { status: 404, headers });
}

/** Whether a path fits the scope of its kind: in a namespace, or across all, where only built-in kinds know more than reading. */
function isPlace(kind: ServedKind, { namespace, name }: ResourcePath, method: string): boolean {
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
  if (verb === undefined || !allowed?.includes(verb)) throw notThere(request.method, target);
  if (isTokenRequest(target)) return jsonResponse(await serveTokenRequest(core, target, request), 201);
  if (isPodPart(target)) return await servePodPart(core, target, request);
  if (isReview(target)) return jsonResponse(await serveReview(core, target, request), 201);
  const accept = request.headers.get("accept");
  const form = wantedForm(accept, kind.isBuiltin);
  // The paths of built-in kinds are taken by another library, which looks at the header first.
  if (kind.isBuiltin && !namesFormat(accept)) throw notAcceptable(true, verb === "list" || verb === "watch");
  if (form === undefined) throw notAcceptable(false, false);
  if (isScale(target)) return written(await serveScale(core, target, request), form, core, target);
  switch (verb) {
    case "get":
      // What was remembered is for whoever is content with any version.
      if (!target.query.get("resourceVersion")) {
        await kind.rules.refresh?.(storedOf(core, kind, namespace, name ?? ""));
      }
      return written(
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
      return written(await create(core, target, request), form, core, target);
    case "update":
      return written(await update(core, target, request), form, core, target);
    case "patch":
      return written(await patch(core, target, request), form, core, target);
    case "delete":
      return await remove(core, target, request, form);
    default:
      return await removeCollection(core, target, request);
  }
}

/** The refusal of a method on a path. Custom kinds leave it to the operation to find out that a name is missing. */
function notThere(method: string, { kind, name, subresource }: Target): StatusError {
  if (!kind.isBuiltin && subresource !== undefined) return methodNotSupported(kind, VERBS[method] ?? "");
  if (kind.isBuiltin && method === "GET" && name === undefined && kind.verbs.includes("list")) {
    return methodNotSupported(kind, "watch");
  }
  if (kind.isBuiltin || name !== undefined) return methodNotAllowed();
  if (method === "PUT" || method === "PATCH") return badRequest("name must be provided");
  return methodNotAllowed();
}

/** What a method asks for on a subresource. */
const VERBS: Readonly<Record<string, string>> = { POST: "create", DELETE: "delete" };

type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "deletecollection";

function verbOf(method: string, { name, namespace, subresource, kind, query, isWatchPath }: Target): Verb | undefined {
  switch (method) {
    case "GET":
    case "HEAD":
      // The paths of built-in kinds know no HEAD.
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
  const { object, isGone } = await deleteAdmitted(core, target, { namespace, name }, options);
  // A pod or namespace is answered as it was, others are only said to be gone.
  if (!isGone || ANSWERED.has(kind.collection)) {
    return written({ code: 200, object }, form, core, { kind, query });
  }
  return jsonResponse({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    details: { name, ...(kind.group !== "" && { group: kind.group }), kind: kind.plural, uid: object.metadata.uid },
  });
}

const ANSWERED = new Set([
  "/pods",
  "/services",
  "/serviceaccounts",
  "/persistentvolumes",
  "/persistentvolumeclaims",
  "/podtemplates",
  "/replicationcontrollers",
  "/resourcequotas",
  "storage.k8s.io/storageclasses",
  "storage.k8s.io/volumeattachments",
  "storage.k8s.io/csidrivers",
  "storage.k8s.io/csinodes",
]);

async function removeCollection(core: Core, target: Target, request: Request): Promise<Response> {
  const { kind, namespace, query } = target;
  const options = deleteOptions(query, await optionsBody(request));
  const isChosen = selection(kind, query);
  const { items, metadata } = listObjects(core, kind, namespace, new URLSearchParams());
  const removed: unknown[] = [];
  for (const object of items.filter(isChosen)) {
    await deleteAdmitted(core, target, placeOf(object), options);
    // All are shown as they were.
    removed.push(kind.isBuiltin ? anonymous(object) : object);
  }
  return jsonResponse({ ...listHead(kind, metadata), items: removed });
}

function placeOf({ metadata: { namespace, name } }: StoredObject): { namespace: string | undefined; name: string } {
  return { namespace, name };
}

/** The options in the body of a deletion; it may have none. */
async function optionsBody(request: Request): Promise<unknown> {
  const text = await readBody(request);
  if (text === "") return undefined;
  const type = contentType(request.headers);
  if (type === "application/yaml") return await parseYaml(text);
  if (!OBJECT_TYPES.includes(type)) throw unsupportedMediaType([...OBJECT_TYPES, PROTOBUF]);
  const refused = (why: string) => badRequest(`couldn't get version/kind; json parse error: ${why}`);
  let options: unknown;
  try {
    options = parseJson(text);
  } catch {
    throw refused(jsonFault(text));
  }
  if (options !== null && !isObject(options)) throw refused(untypedFault(options));
  return options ?? {};
}

async function written(
  { code, object }: Outcome,
  form: Form,
  core: Core,
  { kind, query }: Pick<Target, "kind" | "query">,
): Promise<Response> {
  const text = await encoded(shown(object, form, core, kind, query), form);
  return new Response(text, { status: code, headers: { ...COMMON, "content-type": form.contentType } });
}

function warned(response: Response, warnings: readonly string[]): Response {
  for (const header of warningHeaders(warnings)) response.headers.append("warning", header);
  return response;
}

function shown(object: StoredObject, form: Form, core: Core, kind: ServedKind, query: URLSearchParams): unknown {
  if (form.as === "metadata") return partial(object, form.metaVersion);
  if (form.as === "metadataList") throw wrongForm(kind, false);
  if (form.as === "object") return object;
  const { resourceVersion } = object.metadata;
  return tableOf(kind, [object], { resourceVersion }, core.clock.now(), {
    includeObject: included(query),
    withColumns: true,
    version: form.metaVersion,
  });
}

/** The refusal to who wants the metadata of one of many, or of many of one. */
function wrongForm(kind: ServedKind, isList: boolean): StatusError {
  const [group] = kind.group.split(".");
  const type = kind.isBuiltin ? `*${group || "core"}.${kind.kind}` : "*unstructured.Unstructured";
  const message = isList
    ? `you requested PartialObjectMetadata, but the requested object is a list (${type}List)`
    : `you requested PartialObjectMetadataList, but the requested object is not a list (${type})`;
  return new StatusError(406, "NotAcceptable", message);
}

function included(query: URLSearchParams): IncludeObject {
  const wanted = query.get("includeObject") || "Metadata";
  if (wanted === "None" || wanted === "Object" || wanted === "Metadata") return wanted;
  const fault = invalidField("includeObject", wanted, "must be 'Metadata', 'Object', 'None', or empty");
  throw badRequest(`Unable to convert to Table as requested: ${fault.field}: ${fault.message}`);
}

async function list(core: Core, { kind, namespace, query }: Target, form: Form): Promise<Response> {
  const { items, metadata } = listObjects(core, kind, namespace, query);
  const headers = { ...COMMON, "content-type": form.contentType };
  if (form.as === "table") {
    const table = tableOf(kind, items, metadata, core.clock.now(), {
      includeObject: included(query),
      withColumns: true,
      version: form.metaVersion,
    });
    return new Response(await encoded(table, form), { headers });
  }
  if (form.as === "metadata") throw wrongForm(kind, true);
  if (form.as === "metadataList") {
    const answer = {
      kind: "PartialObjectMetadataList",
      apiVersion: `meta.k8s.io/${form.metaVersion}`,
      metadata,
      // An empty list is null after this conversion, and no other.
      items: items.length === 0 ? null : items.map((item) => partial(item, form.metaVersion)),
    };
    return new Response(await encoded(answer, form), { headers });
  }
  if (form.format === "yaml") {
    return new Response(await encoded({ kind: kind.listKind, apiVersion: kind.apiVersion, metadata, items }, form), {
      headers,
    });
  }
  // Items of a built-in list do not say their kind: the list does.
  const texts = items.map((item) => kind.isBuiltin ? textOf(anonymous(item)) : textOf(item));
  const head = JSON.stringify(listHead(kind, metadata));
  return new Response(`${head.slice(0, -1)},"items":[${texts.join(",")}]}\n`, { headers });
}

/** A list but for its items. One of custom objects always says where it goes on: that it does not is said too. */
function listHead(kind: ServedKind, metadata: object): object {
  const { listKind, apiVersion, isBuiltin } = kind;
  return { kind: listKind, apiVersion, metadata: isBuiltin ? metadata : { continue: "", ...metadata } };
}

const anonymousForms = new WeakMap<StoredObject, object>();

function anonymous(object: StoredObject): object {
  const known = anonymousForms.get(object);
  if (known !== undefined) return known;
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = object;
  anonymousForms.set(object, rest);
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
      const options = { includeObject: included(query), withColumns: isFirst, version: form.metaVersion };
      line = tableOf(kind, rows, { resourceVersion }, core.clock.now(), options);
      isFirst = false;
    }
    if (protobuf !== undefined) return protobuf.eventFrame(type, line as StoredObject);
    return `{"type":"${type}","object":${textOf(line)}}\n`;
  };
  const body = watches.open({ kind, namespace, name, query, encode, signal });
  const contentType = form.format === "protobuf" ? `${PROTOBUF};stream=watch` : form.contentType;
  return streaming(new Response(body, { headers: { ...COMMON, "content-type": contentType } }));
}
