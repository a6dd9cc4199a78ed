/**
 * Serves subresources of pods. Evictions and bindings change the pod. Logs are not available, since
 * they are on the pod's node and no node runs here (`k8s.io/kubernetes/pkg/registry/core/pod`).
 */
import { own } from "../../base/own.ts";
import { writeAdmitted, writeOf } from "../admission/admitted.ts";
import { trackUpdate } from "../apply/managed_fields.ts";
import type { Core } from "../core/core.ts";
import type { Steps } from "../core/steps.ts";
import type { Target } from "../core/target.ts";
import { type Draft, metadataOf, type StoredObject, withMetadata } from "../objects/objects.ts";
import { writeOptions } from "../objects/options.ts";
import { getObject } from "../verbs/read.ts";
import { contentType, parseObject, readBody } from "../wire/body.ts";
import { COMMON_HEADERS, jsonResponse } from "../wire/formats.ts";
import { badRequest } from "../wire/status_error.ts";
import { bind } from "./binding.ts";
import { checkContainer, nodeAddress, nodeOf } from "./connect.ts";
import { evict } from "./eviction.ts";

interface Part {
  /** Kind of the body. */
  readonly kind: string;
  /** Name of the kind's package in Go. */
  readonly package: string;
  /** Performs the request. */
  act(core: Core, target: Target, body: Draft, dryRun: boolean): void | Promise<void>;
}

/** Subresources that change a pod. */
const PARTS: Readonly<Record<string, Part>> = {
  eviction: { kind: "Eviction", package: "policy", act: evict },
  binding: { kind: "Binding", package: "core", act: bind },
};

/** Returns whether a request is for a subresource of a pod that this module serves. */
export function isPodPart(target: Target): boolean {
  return partOf(target) !== undefined || (target.kind.collection === "/pods" && target.subresource === "log");
}

/**
 * Returns the part of a request. A Binding may also be posted to `bindings`; its name is then the
 * name of the pod.
 */
function partOf({ kind, subresource = "" }: Target): Part | undefined {
  if (kind.collection === "/bindings") return PARTS.binding;
  return kind.collection === "/pods" ? own(PARTS, subresource) : undefined;
}

/** Responds to a request for a subresource of a pod. */
export async function servePodPart(core: Core, target: Target, request: Request): Promise<Response> {
  const part = partOf(target);
  if (part === undefined) return serveLog(core, target);
  const { value } = await parseObject(await readBody(request), contentType(request.headers), part.kind);
  const body = value as Draft;
  if (body.kind !== part.kind) throw wrongKindError(part, body);
  const options = writeOptions(target.query, request.headers.get("user-agent") ?? "", "CreateOptions");
  const { namespace: given } = metadataOf(body);
  if (given && given !== target.namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  const submitted = withManagedFields(
    core,
    withMetadata(body as unknown as StoredObject, { namespace: target.namespace ?? "" }),
    {
      manager: options.manager,
      subresource: target.subresource,
    },
  );
  const { name = "" } = metadataOf(submitted);
  const named = target.name === undefined ? { ...target, name } : target;
  const steps = reviewSteps(submitted, named.name ?? "");
  const reviewed = await writeAdmitted(core, writeOf(named, "CREATE", options), steps);
  const pods = core.kinds.get("", "v1", "pods") ?? target.kind;
  await part.act(core, { ...named, kind: pods }, reviewed as unknown as Draft, options.dryRun);
  return jsonResponse({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 }, 201);
}

/** Returns a body with managed fields, which only webhooks receive. */
function withManagedFields(
  core: Core,
  body: StoredObject,
  options: { manager: string; subresource: string | undefined },
): StoredObject {
  const kind = core.kinds.get("", "v1", "bindings");
  if (body.kind !== "Binding" || kind === undefined) return body;
  const { manager, subresource } = options;
  return trackUpdate(core, kind, undefined, body, { manager, ...subresource !== undefined && { subresource } });
}

/** The steps of admission for a body. */
function* reviewSteps(body: StoredObject, name: string): Steps<StoredObject> {
  const mutated = yield { phase: "mutate", object: body };
  if (mutated.metadata.name !== name) {
    throw badRequest(`name in URL does not match name in ${body.kind} object`);
  }
  return yield { phase: "validate", object: mutated };
}

function wrongKindError({ kind, package: folder }: Part, body: Draft): Error {
  const { kind: given, apiVersion = "" } = body as { kind?: string; apiVersion?: string };
  const [version, group] = apiVersion.split("/").reverse();
  const type = `${group?.split(".")[0] || version}.${given}`;
  return badRequest(
    `${given} in version "${version}" cannot be handled as a ${kind}: converting (${type}) to (${folder}.${kind}): unknown conversion`,
  );
}

function serveLog(core: Core, { kind, namespace, name, query }: Target): Response {
  const pod = getObject(core, kind, namespace, name ?? "");
  checkContainer(pod, query.get("container"));
  const node = nodeOf(pod);
  // A pod without a node has no log.
  return node === undefined ? new Response(null, { status: 204, headers: COMMON_HEADERS }) : nodeAddress(core, node);
}
