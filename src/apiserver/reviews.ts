/** Kinds that are questions: they are answered, not stored. Everybody may do everything here as long as access is not enforced. */
import { isObject } from "../base/json.ts";
import { own } from "../base/own.ts";
import { contentType, parseObject, readBody } from "./body.ts";
import type { Core } from "./core.ts";
import { decodeBody } from "./decode_body.ts";
import { metadataOf, timestamp } from "./objects.ts";
import { writeOptions } from "./options.ts";
import { getObject } from "./read.ts";
import { methodNotAllowed } from "./status_error.ts";
import type { Target } from "./writes.ts";

const REVIEWS = new Set(["authentication.k8s.io", "authorization.k8s.io"]);

/** Whether a request asks a question. */
export function isReview({ kind, subresource }: Target): boolean {
  return REVIEWS.has(kind.group) || (subresource === "token" && kind.collection === "/serviceaccounts");
}

/**
 * The answer to a question.
 *
 * @param core The server.
 * @param target What is asked.
 * @param request The request.
 */
export async function serveReview(core: Core, target: Target, request: Request): Promise<unknown> {
  const { kind, subresource } = target;
  const name = subresource === "token" ? "TokenRequest" : kind.kind;
  const { value } = await parseObject(await readBody(request), contentType(request.headers), name);
  if (subresource === "token") return tokenFor(core, target, value as Record<string, unknown>);
  const options = writeOptions(target.query, request.headers.get("user-agent") ?? "", "CreateOptions");
  const object = decodeBody(kind, value as Record<string, unknown>, { ...options, warnings: target.warnings });
  const status = answerTo(kind.kind);
  if (status === undefined) throw methodNotAllowed();
  return {
    kind: kind.kind,
    apiVersion: kind.apiVersion,
    metadata: metadataOf(object),
    spec: own(object, "spec") ?? {},
    status,
  };
}

const EVERYBODY = { username: "system:admin", groups: ["system:masters", "system:authenticated"] };

function answerTo(kind: string): unknown {
  switch (kind) {
    case "SelfSubjectAccessReview":
    case "SubjectAccessReview":
    case "LocalSubjectAccessReview":
      return { allowed: true };
    case "SelfSubjectRulesReview":
      return {
        resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }],
        nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
        incomplete: false,
      };
    case "SelfSubjectReview":
      return { userInfo: EVERYBODY };
    case "TokenReview":
      // No token is known here, so none is vouched for.
      return { user: {}, error: "invalid bearer token" };
    default:
      return undefined;
  }
}

// What the real server gives where nothing is asked for.
const TOKEN_SECONDS = 3600;

function tokenFor(core: Core, { kind, namespace, name = "" }: Target, body: Record<string, unknown>): unknown {
  const account = getObject(core, kind, namespace, name);
  const spec = own(body, "spec");
  const seconds = isObject(spec) ? Number(own(spec, "expirationSeconds") ?? TOKEN_SECONDS) : TOKEN_SECONDS;
  const now = core.clock.now();
  return {
    kind: "TokenRequest",
    apiVersion: "authentication.k8s.io/v1",
    metadata: { name, namespace, creationTimestamp: timestamp(now) },
    spec: { ...(isObject(spec) ? spec : {}), expirationSeconds: seconds },
    status: {
      token: `${namespace}.${name}.${account.metadata.uid}.${core.uid()}`,
      expirationTimestamp: timestamp(now + seconds * 1000),
    },
  };
}
