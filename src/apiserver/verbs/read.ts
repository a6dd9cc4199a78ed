/** Reads of objects: get and list. */
import { isObject } from "../../base/json.ts";
import { forbidden as forbiddenField, invalid as invalidField, notSupported } from "../../schema/field_error.ts";
import type { Core } from "../core/core.ts";
import { storedOf } from "../core/stored.ts";
import { keyOf } from "../objects/key.ts";
import type { ServedKind } from "../objects/kinds.ts";
import type { StoredObject } from "../objects/objects.ts";
import { CompactedError } from "../objects/store.ts";
import { eachConverted } from "../webhooks/conversion.ts";
import { jsonBytesError } from "../wire/json_error.ts";
import { badRequest, expired, invalid, StatusError } from "../wire/status_error.ts";
import { fieldSelection, labelSelection, type Selection } from "./selectors.ts";

/** A list in a response. */
export interface ObjectList {
  readonly items: readonly StoredObject[];
  readonly metadata: {
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
}

/**
 * Returns an object.
 *
 * @throws {StatusError} If the object does not exist.
 */
export function getObject(
  core: Core,
  kind: ServedKind,
  namespace: string | undefined,
  name: string,
  query?: URLSearchParams,
): StoredObject {
  const version = query?.get("resourceVersion") ?? "";
  const revision = version === "" ? 0 : revisionOf(version, (message) => new StatusError(500, undefined, message));
  if (revision > core.store.revision) throw tooLarge(revision, core.store.revision);
  return kind.rules.read(storedOf(core, kind, namespace, name));
}

/**
 * Returns the filter of a list or watch.
 *
 * @param kind Kind of the objects.
 * @param query The query.
 * @param name Name of the object, for a watch on a single object.
 */
export function selection(kind: ServedKind, query: URLSearchParams, name?: string): Selection {
  const labels = query.get("labelSelector");
  const fields = query.get("fieldSelector");
  const parts: Selection[] = [];
  if (labels) parts.push(labelSelection(labels));
  if (fields) parts.push(fieldSelection(kind, fields));
  if (name !== undefined) parts.push(({ metadata }) => metadata.name === name);
  return parts.length === 0 ? () => true : (object) => parts.every((part) => part(object));
}

/** Returns the prefix of all keys in a namespace. */
export function prefixOf(namespace: string | undefined): string {
  return namespace === undefined ? "" : `${namespace}/`;
}

/**
 * Lists objects of a kind.
 *
 * @param core The server.
 * @param kind The kind.
 * @param namespace The namespace; all namespaces if absent.
 * @param query The query: selectors, limit, continue, resourceVersion.
 * @throws {StatusError} If the query is invalid, or requests a revision that is no longer
 * available.
 */
export function listObjects(
  core: Core,
  kind: ServedKind,
  namespace: string | undefined,
  query: URLSearchParams,
): ObjectList {
  const isSelected = selection(kind, query);
  // The real server responds to a list at resourceVersion 0 from its watch cache, without pages.
  const limit = query.get("resourceVersion") === "0" ? 0 : integer(query, "limit");
  integer(query, "timeoutSeconds");
  const exact = exactRevision(core, query);
  const from = query.get("continue") ? readContinue(query.get("continue") ?? "") : undefined;
  const revision = from?.revision ?? exact ?? core.store.revision;
  const all = snapshot(core, kind, revision, prefixOf(namespace), from !== undefined);
  const selected = eachConverted(all, (object) => kind.rules.read(object)).filter(isSelected)
    .filter(({ metadata }) => from === undefined || keyOf(metadata.namespace, metadata.name) > from.after);
  const metadata = { resourceVersion: String(revision) };
  if (limit <= 0 || selected.length <= limit) return { items: selected, metadata };
  const items = selected.slice(0, limit);
  const last = items.at(-1);
  const after = last === undefined ? "" : keyOf(last.metadata.namespace, last.metadata.name);
  const isCounted = !query.get("labelSelector") && !query.get("fieldSelector");
  return {
    items,
    metadata: {
      ...metadata,
      continue: btoa(
        JSON.stringify({ v: "meta.k8s.io/v1", rv: revision, start: `${encodeURIComponent(after)}\u0000` }),
      ).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", ""),
      // The real server does not count the remaining objects of a list with selectors.
      ...(isCounted && { remainingItemCount: selected.length - limit }),
    },
  };
}

function snapshot(core: Core, kind: ServedKind, revision: number, prefix: string, isPage: boolean): StoredObject[] {
  try {
    return core.store.listAt(kind.collection, revision, prefix);
  } catch (error) {
    if (!(error instanceof CompactedError)) throw error;
    if (!isPage) throw expired(`The resourceVersion for the provided list is too old.`);
    throw expired(
      "The provided continue parameter is too old to display a consistent list result. You can start a new list without " +
        "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. " +
        "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or " +
        "deleted between the time the first chunk was returned and now may show up in the list.",
    );
  }
}

/**
 * Returns the exact revision that a list requests; `undefined` if any recent revision is
 * acceptable.
 */
function exactRevision(core: Core, query: URLSearchParams): number | undefined {
  const text = query.get("resourceVersion") ?? "";
  const match = query.get("resourceVersionMatch") ?? "";
  checkMatch(text, match, query);
  if (text === "" || text === "0") return undefined;
  if (query.get("continue")) throw badRequest("specifying resource version is not allowed when using continue");
  const revision = revisionOf(text, (message) => badRequest(`invalid resource version: ${message}`));
  if (revision > core.store.revision) throw tooLarge(revision, core.store.revision);
  if (match === "Exact") return revision;
  // A limit without resourceVersionMatch requests the exact revision.
  return match === "" && query.get("limit") ? revision : undefined;
}

function checkMatch(text: string, match: string, query: URLSearchParams): void {
  const errors = [];
  if (query.get("sendInitialEvents") !== null) {
    errors.push(forbiddenField("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  }
  if (match !== "" && text === "") {
    errors.push(
      forbiddenField("resourceVersionMatch", "resourceVersionMatch is forbidden unless resourceVersion is provided"),
    );
  }
  if (match !== "" && query.get("continue")) {
    errors.push(forbiddenField("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided"));
  }
  if (match !== "" && match !== "Exact" && match !== "NotOlderThan") {
    errors.push(notSupported("resourceVersionMatch", match, ["Exact", "NotOlderThan", ""]));
  }
  if (match === "Exact" && text === "0") {
    errors.push(
      forbiddenField("resourceVersionMatch", `resourceVersionMatch "exact" is forbidden for resourceVersion "0"`),
    );
  }
  if (errors.length > 0) throw invalid({ group: "meta.k8s.io", kind: "ListOptions" }, "", errors);
}

/**
 * Parses a resourceVersion.
 *
 * @param text The resourceVersion.
 * @param rejection Returns the error for an invalid resourceVersion. It differs between verbs.
 */
export function revisionOf(text: string, rejection: (message: string) => StatusError): number {
  if (/^\d+$/.test(text)) return Number(text);
  const error = invalidField(
    "resourceVersion",
    text,
    `strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`,
  );
  throw rejection(`resourceVersion: ${error.message}`);
}

/** Returns the error for a resourceVersion that does not exist yet. */
export function tooLarge(requested: number, current: number): StatusError {
  const message = `Timeout: Too large resource version: ${requested}, current: ${current}`;
  return new StatusError(504, "Timeout", message, {
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
    retryAfterSeconds: 1,
  });
}

function readContinue(token: string): { revision: number; after: string } {
  const rejection = (detail: string) => badRequest(`invalid continue token: continue key is not valid: ${detail}`);
  const illegal = token.search(/[^\w-]/);
  if (illegal >= 0) throw rejection(`illegal base64 data at input byte ${illegal}`);
  if (token.length % 4 === 1) throw rejection(`illegal base64 data at input byte ${token.length - 1}`);
  const bytes = atob(token.replaceAll("-", "+").replaceAll("_", "/"));
  const error = jsonBytesError(bytes);
  if (error !== undefined) throw rejection(error);
  const parsed: unknown = JSON.parse(bytes);
  const { v = "", rv = 0, start = "" } = isObject(parsed) ? parsed : {};
  if (v !== "meta.k8s.io/v1") throw rejection(`server does not recognize this encoded version ${v}`);
  if (rv === 0) {
    throw badRequest("invalid continue token: incorrect encoded start resourceVersion (version meta.k8s.io/v1)");
  }
  if (typeof start !== "string" || start === "") {
    throw badRequest(
      "invalid continue token: continue key is not valid: encoded start key empty (version meta.k8s.io/v1)",
    );
  }
  return { revision: Number(rv), after: decodeURIComponent(start.replace(/\0$/, "")) };
}

/** Parses an integer of the query; 0 if it is absent. */
export function integer(query: URLSearchParams, key: string): number {
  const text = query.get(key) || "0";
  const parsing = `strconv.ParseInt: parsing ${JSON.stringify(text)}`;
  if (!/^[+-]?\d+$/.test(text)) throw badRequest(`${parsing}: invalid syntax`);
  if (BigInt.asIntN(64, BigInt(text)) !== BigInt(text)) throw badRequest(`${parsing}: value out of range`);
  return Number(text);
}
