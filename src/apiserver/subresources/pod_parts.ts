/**
 * What a pod has beside itself: evictions and bindings change it; its log is on the node that it runs on, of which there is none
 * (`k8s.io/kubernetes/pkg/registry/core/pod`).
 */
import { own } from "../../base/own.ts";
import { admitted, writeOf } from "../admission/admitted.ts";
import { trackUpdate } from "../apply/managed_fields.ts";
import type { Core } from "../core/core.ts";
import type { Steps } from "../core/steps.ts";
import type { Target } from "../core/target.ts";
import { type Draft, metadataOf, type StoredObject, withMetadata } from "../objects/objects.ts";
import { writeOptions } from "../objects/options.ts";
import { getObject } from "../verbs/read.ts";
import { contentType, parseObject, readBody } from "../wire/body.ts";
import { COMMON, jsonResponse } from "../wire/formats.ts";
import { badRequest } from "../wire/status_error.ts";
import { bind } from "./binding.ts";
import { checkContainer, nodeAddress, nodeOf } from "./connect.ts";
import { evict } from "./eviction.ts";

interface Part {
  /** Kind of the request's body. */
  readonly kind: string;
  /** How Go calls the kind's package. */
  readonly package: string;
  /** Does what is asked for. */
  act(core: Core, target: Target, body: Draft, dryRun: boolean): void | Promise<void>;
}

/** What changes a pod, by subresource. */
const PARTS: Readonly<Record<string, Part>> = {
  eviction: { kind: "Eviction", package: "policy", act: evict },
  binding: { kind: "Binding", package: "core", act: bind },
};

/** Whether a request is about a part of a pod that is answered here. */
export function isPodPart(target: Target): boolean {
  return partOf(target) !== undefined || (target.kind.collection === "/pods" && target.subresource === "log");
}

/** A Binding may also be posted to a path of its own, where its name says which pod is meant. */
function partOf({ kind, subresource = "" }: Target): Part | undefined {
  if (kind.collection === "/bindings") return PARTS.binding;
  return kind.collection === "/pods" ? own(PARTS, subresource) : undefined;
}

/** Answers such a request. */
export async function servePodPart(core: Core, target: Target, request: Request): Promise<Response> {
  const part = partOf(target);
  if (part === undefined) return logOf(core, target);
  const { value } = await parseObject(await readBody(request), contentType(request.headers), part.kind);
  const body = value as Draft;
  if (body.kind !== part.kind) throw cannotBe(part, body);
  const options = writeOptions(target.query, request.headers.get("user-agent") ?? "", "CreateOptions");
  const { namespace: given } = metadataOf(body);
  if (given && given !== target.namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  const placed = tracked(core, withMetadata(body as unknown as StoredObject, { namespace: target.namespace ?? "" }), {
    manager: options.manager,
    subresource: target.subresource,
  });
  const { name = "" } = metadataOf(placed);
  const told = target.name === undefined ? { ...target, name } : target;
  const asked = await admitted(core, writeOf(told, "CREATE", options), looked(placed, told.name ?? ""));
  const pods = core.kinds.get("", "v1", "pods") ?? target.kind;
  await part.act(core, { ...told, kind: pods }, asked as unknown as Draft, options.dryRun);
  return jsonResponse({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 }, 201);
}

/** A body with what the server notes of who wrote it. Nobody but webhooks sees it. */
function tracked(
  core: Core,
  body: StoredObject,
  by: { manager: string; subresource: string | undefined },
): StoredObject {
  const kind = core.kinds.get("", "v1", "bindings");
  if (body.kind !== "Binding" || kind === undefined) return body;
  const { manager, subresource } = by;
  return trackUpdate(core, kind, undefined, body, { manager, ...subresource !== undefined && { subresource } });
}

/** A body as webhooks leave it. */
function* looked(body: StoredObject, name: string): Steps<StoredObject> {
  const mutated = yield { phase: "mutate", object: body };
  if (mutated.metadata.name !== name) {
    throw badRequest(`name in URL does not match name in ${body.kind} object`);
  }
  return yield { phase: "validate", object: mutated };
}

function cannotBe({ kind, package: folder }: Part, body: Draft): Error {
  const { kind: given, apiVersion = "" } = body as { kind?: string; apiVersion?: string };
  const [version, group] = apiVersion.split("/").reverse();
  const type = `${group?.split(".")[0] || version}.${given}`;
  return badRequest(
    `${given} in version "${version}" cannot be handled as a ${kind}: converting (${type}) to (${folder}.${kind}): unknown conversion`,
  );
}

function logOf(core: Core, { kind, namespace, name, query }: Target): Response {
  const pod = getObject(core, kind, namespace, name ?? "");
  checkContainer(pod, query.get("container"));
  const node = nodeOf(pod);
  // A pod that is nowhere yet has logged nothing.
  return node === undefined ? new Response(null, { status: 204, headers: COMMON }) : nodeAddress(core, node);
}
