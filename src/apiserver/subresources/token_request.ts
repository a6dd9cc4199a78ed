/**
 * Serves `serviceaccounts/NAME/token`, which issues a token for a service account
 * (`k8s.io/kubernetes/pkg/registry/core/serviceaccount/storage/token.go`).
 */
import { isObject } from "../../base/json.ts";
import { own } from "../../base/own.ts";
import { type FieldError, invalid as invalidField } from "../../schema/field_error.ts";
import { type Bound, ISSUER } from "../access/tokens.ts";
import { trackUpdate } from "../apply/managed_fields.ts";
import type { Core } from "../core/core.ts";
import type { Target } from "../core/target.ts";
import { keyOf } from "../objects/key.ts";
import type { ServedKind } from "../objects/kinds.ts";
import { type Draft, type ManagedFieldsEntry, metadataOf, type StoredObject, timestamp } from "../objects/objects.ts";
import { writeOptions } from "../objects/options.ts";
import { builtinSchema } from "../objects/server_schema.ts";
import { getObject } from "../verbs/read.ts";
import { contentType, parseObject, readBody } from "../wire/body.ts";
import { badRequest, conflict, invalid, notFound } from "../wire/status_error.ts";

const KIND = { group: "authentication.k8s.io", kind: "TokenRequest" };

/** TokenRequest as a served kind, so that the code for kinds can track its fields. */
const TOKEN_REQUEST: ServedKind = {
  ...KIND,
  version: "v1",
  apiVersion: "authentication.k8s.io/v1",
  listKind: "TokenRequestList",
  plural: "tokenrequests",
  singular: "tokenrequest",
  shortNames: [],
  categories: [],
  namespaced: true,
  verbs: [],
  subresources: [],
  collection: "authentication.k8s.io/tokenrequests",
  isBuiltin: true,
  get schema() {
    return builtinSchema("io.k8s.api.authentication.v1.TokenRequest");
  },
  rules: {
    allowsUnconditionalUpdate: true,
    decode: (object) => ({ object, unknown: [] }),
    prepareCreate: (object) => object,
    prepareUpdate: (object) => object,
    validate: () => [],
    read: (stored) => stored,
  },
};

// Lifetimes of tokens in seconds, as in the real server.
const DEFAULT_LIFETIME = 3600;
const MIN_LIFETIME = 600;
const MAX_LIFETIME = 2 ** 32;

/** Returns whether a request is for a token. */
export function isTokenRequest({ kind, subresource }: Target): boolean {
  return subresource === "token" && kind.collection === "/serviceaccounts";
}

/**
 * Issues a token.
 *
 * @param core The server.
 * @param target Target of the request: the account.
 * @param request The request, with a TokenRequest as its body.
 * @returns The completed TokenRequest.
 */
export async function serveTokenRequest(core: Core, target: Target, request: Request): Promise<unknown> {
  const { kind, namespace = "", name = "" } = target;
  const { value } = await parseObject(await readBody(request), contentType(request.headers), KIND.kind);
  const { dryRun, manager } = writeOptions(target.query, request.headers.get("user-agent") ?? "", "CreateOptions");
  const metadata = metadataOf(value as Draft);
  if (metadata.namespace && metadata.namespace !== namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  if (metadata.name && metadata.name !== name) {
    throw invalidRequest(name, "metadata.name", metadata.name, "must match the service account name if specified");
  }
  const account = getObject(core, kind, namespace, name);
  const { uid } = account.metadata;
  if (metadata.uid && metadata.uid !== uid) {
    const reason =
      `the UID in the token request (${metadata.uid}) does not match the UID of the service account (${uid})`;
    throw conflict({ group: KIND.group, plural: KIND.kind }, name, reason);
  }
  const given = own(value as Draft, "spec");
  const spec = isObject(given) ? given : {};
  const filled = {
    ...(value as Draft),
    metadata,
    spec: { ...spec, expirationSeconds: own(spec, "expirationSeconds") ?? DEFAULT_LIFETIME },
  };
  const { managedFields } = trackUpdate(core, TOKEN_REQUEST, undefined, filled as unknown as StoredObject, {
    manager,
    subresource: "token",
  }).metadata;
  const owners = managedFields?.map(withoutReference);
  const lifetime = Number(own(spec, "expirationSeconds") ?? DEFAULT_LIFETIME);
  const errors = lifetimeErrors(lifetime);
  if (errors.length > 0) throw invalid(KIND, "", errors);
  const bound = checkBoundObject(core, spec, { namespace, name });
  const audiences = own(spec, "audiences");
  const wanted = Array.isArray(audiences) && audiences.length > 0 ? audiences.map(String) : [ISSUER];
  const now = core.clock.now();
  const token = dryRun
    ? ""
    : core.access.tokens.issue({ namespace, name, uid, audiences: wanted, lifetime, ...(bound && { bound }) });
  return {
    kind: KIND.kind,
    apiVersion: "authentication.k8s.io/v1",
    metadata: { name, namespace, uid, creationTimestamp: timestamp(now), ...(owners && { managedFields: owners }) },
    spec: {
      audiences: wanted,
      expirationSeconds: lifetime,
      boundObjectRef: own(spec, "boundObjectRef") ?? null,
    },
    status: { token, expirationTimestamp: timestamp(now + lifetime * 1000) },
  };
}

/**
 * Removes `boundObjectRef` itself from an entry. The field always exists, so only the fields in it
 * have a manager.
 */
function withoutReference(entry: ManagedFieldsEntry): ManagedFieldsEntry {
  const { "f:spec": spec, ...rest } = entry.fieldsV1 as { "f:spec"?: Record<string, Record<string, unknown>> };
  const { ".": existence, ...reference } = spec?.["f:boundObjectRef"] ?? {};
  if (existence === undefined) return entry;
  return { ...entry, fieldsV1: { ...rest, "f:spec": { ...spec, "f:boundObjectRef": reference } } };
}

function invalidRequest(name: string, field: string, value: string, reason: string): Error {
  return invalid(KIND, name, [invalidField(field, value, reason)]);
}

function lifetimeErrors(lifetime: number): FieldError[] {
  const path = "spec.expirationSeconds";
  if (lifetime < MIN_LIFETIME) return [invalidField(path, lifetime, "may not specify a duration less than 10 minutes")];
  if (lifetime <= MAX_LIFETIME) return [];
  return [invalidField(path, lifetime, "may not specify a duration larger than 2^32 seconds")];
}

const COLLECTIONS: Readonly<Record<Bound["kind"], string>> = { Pod: "/pods", Secret: "/secrets", Node: "/nodes" };

function checkBoundObject(
  core: Core,
  spec: Readonly<Record<string, unknown>>,
  account: { namespace: string; name: string },
): Bound | undefined {
  const reference = own(spec, "boundObjectRef");
  if (!isObject(reference)) return undefined;
  const { apiVersion = "", kind = "", name = "", uid = "" } = reference as Readonly<Record<string, string>>;
  if (apiVersion !== "v1" || !(kind === "Pod" || kind === "Secret" || kind === "Node")) {
    const version = apiVersion.includes("/") ? apiVersion : `/${apiVersion}`;
    throw badRequest(`cannot bind token to object of type ${version}, Kind=${kind}`);
  }
  const collection = COLLECTIONS[kind];
  const object = core.store.get(collection, keyOf(kind === "Node" ? undefined : account.namespace, name));
  if (object === undefined) throw notFound({ group: "", plural: collection.slice(1) }, name);
  checkPod(object, account.name);
  if (uid !== "" && uid !== object.metadata.uid) {
    const reason = `the UID in the bound object reference (${uid}) does not match the UID in record. ` +
      "The object might have been deleted and then recreated";
    throw conflict({ group: "", plural: kind }, name, reason);
  }
  return { kind, name, uid: object.metadata.uid };
}

function checkPod({ kind, spec }: StoredObject, account: string): void {
  if (kind !== "Pod" || (spec as { serviceAccountName?: string }).serviceAccountName === account) return;
  const reason = "to pod running with different serviceaccount name.";
  throw badRequest(`cannot bind token for serviceaccount ${JSON.stringify(account)} ${reason}`);
}
