/**
 * Serves reviews: kinds that the server completes and returns, but does not store
 * (`k8s.io/kubernetes/pkg/registry/authorization`, `.../authentication`).
 */
import { isObject } from "../../base/json.ts";
import { own } from "../../base/own.ts";
import { type FieldError, invalid as invalidField, required } from "../../schema/field_error.ts";
import type { Attributes } from "../access/attributes.ts";
import { type User, userInfo } from "../access/user.ts";
import { trackUpdate } from "../apply/managed_fields.ts";
import type { Core } from "../core/core.ts";
import type { Target } from "../core/target.ts";
import { decodeBody } from "../objects/decode_body.ts";
import { type Draft, type Fields, fields, metadataOf, type StoredObject, timestamp } from "../objects/objects.ts";
import { writeOptions } from "../objects/options.ts";
import { contentType, parseObject, readBody } from "../wire/body.ts";
import { badRequest, invalid, methodNotAllowed } from "../wire/status_error.ts";

const AUTHENTICATION = "authentication.k8s.io";
const AUTHORIZATION = "authorization.k8s.io";

/** Returns whether a request creates a review. */
export function isReview({ kind }: Target): boolean {
  return kind.group === AUTHENTICATION || kind.group === AUTHORIZATION;
}

/**
 * Returns the completed review.
 *
 * @param core The server.
 * @param target Target of the request.
 * @param request The request.
 */
export async function serveReview(core: Core, target: Target, request: Request): Promise<unknown> {
  const { kind } = target;
  const { value, duplicates } = await parseObject(await readBody(request), contentType(request.headers), kind.kind);
  const options = writeOptions(target.query, request.headers.get("user-agent") ?? "", "CreateOptions");
  const object = decodeBody(kind, value as Draft, { ...options, duplicates, warnings: target.warnings });
  const untracked = { ...object, metadata: metadataOf(object) } as unknown as StoredObject;
  const { metadata } = trackUpdate(core, kind, undefined, untracked, { manager: options.manager });
  const spec = fields(own(object, "spec"));
  const review = { kind: kind.kind, apiVersion: kind.apiVersion, metadata: { ...metadata }, spec };
  switch (kind.kind) {
    case "SelfSubjectAccessReview":
      checkAccessReview(review, target);
      return { ...review, status: accessStatus(core, target.user, spec) };
    case "SubjectAccessReview":
    case "LocalSubjectAccessReview":
      checkAccessReview(review, target);
      return { ...review, status: accessStatus(core, reviewedUser(spec), spec) };
    case "SelfSubjectRulesReview":
      return {
        ...review,
        metadata: {},
        spec: {},
        status: rulesStatus(core, target.user, String(own(spec, "namespace") ?? "")),
      };
    case "SelfSubjectReview":
      return {
        kind: kind.kind,
        apiVersion: kind.apiVersion,
        metadata: { creationTimestamp: timestamp(core.clock.now()) },
        status: { userInfo: userInfo(target.user) },
      };
    case "TokenReview":
      return { ...review, status: tokenStatus(core, spec) };
    default:
      throw methodNotAllowed();
  }
}

function accessStatus(core: Core, user: User, spec: Fields): unknown {
  const { authorizer } = core.access;
  const { allowed, reason } = authorizer?.decide(user, reviewedAttributes(spec)) ?? { allowed: true, reason: "" };
  return { allowed, ...(reason !== "" && { reason }) };
}

function reviewedAttributes(spec: Fields): Attributes {
  const path = own(spec, "nonResourceAttributes");
  if (isObject(path)) return { verb: stringOf(path.verb), path: stringOf(path.path) };
  const { verb, group, version, resource, subresource, namespace, name } = fields(own(spec, "resourceAttributes"));
  return {
    verb: stringOf(verb),
    group: stringOf(group),
    version: stringOf(version) || "*",
    resource: stringOf(resource),
    subresource: stringOf(subresource),
    namespace: stringOf(namespace),
    name: stringOf(name),
  };
}

function stringOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function reviewedUser(spec: Fields): User {
  const groups = own(spec, "groups");
  return { name: stringOf(own(spec, "user")), groups: Array.isArray(groups) ? groups.map(String) : [] };
}

interface Review {
  readonly kind: string;
  readonly metadata: Fields;
  readonly spec: Fields;
}

function checkAccessReview(review: Review, { namespace }: Target): void {
  const errors = accessReviewErrors(review, namespace);
  if (errors.length > 0) throw invalid({ group: AUTHORIZATION, kind: "" }, "", errors);
  if (review.kind !== "LocalSubjectAccessReview" || review.metadata.namespace === namespace) return;
  throw badRequest(`spec.resourceAttributes.namespace must match namespace: ${namespace}`);
}

function accessReviewErrors({ kind, metadata, spec }: Review, namespace: string | undefined): FieldError[] {
  const [resource, path] = [own(spec, "resourceAttributes"), own(spec, "nonResourceAttributes")];
  const errors: FieldError[] = [];
  if (isObject(resource) && isObject(path)) {
    const value = { Path: stringOf(path.path), Verb: stringOf(path.verb) };
    errors.push(
      invalidField("spec.nonResourceAttributes", value, "cannot be specified in combination with resourceAttributes"),
    );
  }
  if (!isObject(resource) && !isObject(path)) {
    const detail = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
    errors.push(invalidField("spec.resourceAttributes", null, detail));
  }
  const groups = own(spec, "groups");
  if (
    kind !== "SelfSubjectAccessReview" && !stringOf(own(spec, "user")) && !(Array.isArray(groups) && groups.length > 0)
  ) {
    errors.push(invalidField("spec.user", "", "at least one of user or group must be specified"));
  }
  errors.push(...selectorErrors(fields(resource)));
  const isLocal = kind === "LocalSubjectAccessReview";
  const { managedFields: _managed, namespace: namespaceInBody, ...rest } = metadata;
  if (Object.keys(rest).length > 0 || (!isLocal && namespaceInBody !== undefined)) {
    errors.push(invalidField("metadata", metadata, isLocal ? "must be empty except for namespace" : "must be empty"));
  }
  if (!isLocal) return errors;
  if (isObject(resource) && stringOf(resource.namespace) !== stringOf(namespaceInBody)) {
    const detail = "must match metadata.namespace";
    errors.push(invalidField("spec.resourceAttributes.namespace", stringOf(resource.namespace), detail));
  }
  if (isObject(path)) {
    const value = { Path: stringOf(path.path), Verb: stringOf(path.verb) };
    errors.push(invalidField("spec.nonResourceAttributes", value, "disallowed on this kind of request"));
  }
  return namespace === undefined ? [] : errors;
}

function selectorErrors(resource: Fields): FieldError[] {
  return ["fieldSelector", "labelSelector"].flatMap((key) => {
    const selector = own(resource, key);
    if (!isObject(selector)) return [];
    const path = `spec.resourceAttributes.${key}`;
    const raw = stringOf(selector.rawSelector);
    const count = Array.isArray(selector.requirements) ? selector.requirements.length : 0;
    if (raw !== "" && count > 0) {
      return [invalidField(`${path}.rawSelector`, raw, "may not specified at the same time as requirements")];
    }
    if (raw !== "" || count > 0) return [];
    return [required(`${path}.requirements`, `when ${path} is specified, requirements or rawSelector is required`)];
  });
}

function rulesStatus(core: Core, user: User, namespace: string): unknown {
  if (namespace === "") throw badRequest("no namespace on request");
  const { authorizer } = core.access;
  if (authorizer === undefined) {
    return {
      resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }],
      nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
      incomplete: false,
    };
  }
  const { rules, error } = authorizer.rulesFor(user, namespace);
  const resourceRules = rules.filter(({ resources = [] }) => resources.length > 0);
  const pathRules = rules.filter(({ nonResourceURLs = [] }) => nonResourceURLs.length > 0);
  return {
    resourceRules: resourceRules.map(({ verbs, apiGroups, resources, resourceNames = [] }) => ({
      verbs,
      apiGroups,
      resources,
      ...(resourceNames.length > 0 && { resourceNames }),
    })),
    nonResourceRules: pathRules.map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
    incomplete: false,
    ...(error !== "" && { evaluationError: error }),
  };
}

function tokenStatus(core: Core, spec: Fields): unknown {
  const token = stringOf(own(spec, "token"));
  if (token === "") throw badRequest("token is required for TokenReview in authentication");
  const audiences = own(spec, "audiences");
  const wanted = Array.isArray(audiences) && audiences.length > 0 ? audiences.map(String) : undefined;
  const reviewed = core.access.review(token, wanted);
  if (typeof reviewed === "string") return { user: {}, error: `[invalid bearer token, ${reviewed}]` };
  return {
    authenticated: true,
    user: userInfo(reviewed.user),
    ...(reviewed.audiences && { audiences: reviewed.audiences }),
  };
}
