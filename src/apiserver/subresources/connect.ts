/**
 * Connections to containers, ports, services and nodes: exec, attach, port-forward and proxy
 * (`k8s.io/apiserver/pkg/endpoints/handlers.ConnectResource`). They are authorized and admitted as
 * in a real server. Then they fail, since no workloads run here.
 */
import { isObject } from "../../base/json.ts";
import { own } from "../../base/own.ts";
import { attributesOn } from "../access/attributes.ts";
import { namespaceOf, writeAdmitted } from "../admission/admitted.ts";
import type { Core } from "../core/core.ts";
import type { Steps } from "../core/steps.ts";
import type { Target } from "../core/target.ts";
import { keyOf } from "../objects/key.ts";
import { type Fields, fields, type StoredObject } from "../objects/objects.ts";
import { getObject } from "../verbs/read.ts";
import { badRequest, forbidden, internalError, notFound, StatusError } from "../wire/status_error.ts";
import { type ConnectOptions, connectOptions } from "./connect_options.ts";

const STREAM_METHODS = ["GET", "POST"];
const ALL_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

/** HTTP methods of each connection. */
const METHODS: Readonly<Record<string, readonly string[]>> = {
  "/pods/exec": STREAM_METHODS,
  "/pods/attach": STREAM_METHODS,
  "/pods/portforward": STREAM_METHODS,
  "/pods/proxy": ALL_METHODS,
  "/services/proxy": ALL_METHODS,
  "/nodes/proxy": ALL_METHODS,
};

/** Returns whether a request is for a connection. */
export function isConnection({ kind, subresource, name }: Target, method: string): boolean {
  if (name === undefined || subresource === undefined) return false;
  return own(METHODS, `${kind.collection}/${subresource}`)?.includes(method) ?? false;
}

/**
 * Runs the checks that a real server runs before it connects.
 *
 * @param core The server.
 * @param target Target of the request.
 * @param verb The verb for which the request was authorized.
 * @throws {StatusError} Always: the rejection, or the error that the address is not reachable.
 */
export async function connect(core: Core, target: Target, verb: string): Promise<never> {
  const { kind, namespace, name = "", subresource = "", user, query, warnings } = target;
  if (query.has("dryRun")) throw badRequest("dryRun is not supported");
  const part = kind.subresources.find((each) => each.name === subresource);
  const options = connectOptions(part?.kind ?? "", query, target.subpath);
  const write = {
    operation: "CONNECT" as const,
    kind,
    namespace: namespaceOf(kind, namespace, name),
    name,
    subresource,
    user,
    dryRun: false,
    options: null,
    warnings,
  };
  const steps = reviewSteps(options as unknown as StoredObject);
  const reviewed = await writeAdmitted(core, write, steps) as unknown as ConnectOptions;
  if (subresource !== "proxy" && verb !== "create") checkAllowed(core, target, "create");
  switch (kind.collection) {
    case "/services":
      return serviceEndpoint(core, target);
    case "/nodes":
      return nodeAddress(core, parseProxyName(name, "node").name);
    default:
      return subresource === "proxy" ? podAddress(core, target) : podNode(core, target, reviewed);
  }
}

function* reviewSteps(options: StoredObject): Steps<StoredObject> {
  return yield { phase: "validate", object: yield { phase: "mutate", object: options } };
}

/**
 * Authorizes `create` too. A WebSocket starts with a GET, but running commands in a container is
 * not a read.
 */
function checkAllowed(core: Core, { kind, namespace, name = "", subresource, user }: Target, verb: string): void {
  const attributes = attributesOn(kind, { verb, subresource, namespace, name });
  const decision = core.access.authorizer?.decide(user, attributes);
  if (decision !== undefined && !decision.allowed) throw forbidden(kind, name, decision.reason);
}

/** Connects to the kubelet of the pod's node, which serves exec, attach and port-forward. */
function podNode(core: Core, { kind, namespace, name = "", subresource }: Target, options: ConnectOptions): never {
  const pod = getObject(core, kind, namespace, name);
  if (subresource !== "portforward") checkContainer(pod, options.container);
  const node = nodeOf(pod);
  if (node === undefined) throw badRequest(`pod ${name} does not have a host assigned`);
  return nodeAddress(core, node);
}

/** Returns the node of a pod. */
export function nodeOf({ spec }: StoredObject): string | undefined {
  const node = isObject(spec) ? own(spec, "nodeName") : undefined;
  return typeof node === "string" && node !== "" ? node : undefined;
}

/**
 * Checks that a request names a container of a pod, or that the pod has only one.
 *
 * @param pod The pod.
 * @param container Name of the container, if the request has one.
 * @throws {StatusError} If the container does not exist, or the name is missing.
 */
export function checkContainer(pod: StoredObject, container: unknown): void {
  const { name } = pod.metadata;
  const named = (key: string) => list(own(fields(pod.spec), key)).map((each) => String(own(fields(each), "name")));
  const all = [...named("initContainers"), ...named("containers"), ...named("ephemeralContainers")];
  if (container) {
    if (!all.includes(String(container))) throw badRequest(`container ${container} is not valid for pod ${name}`);
    return;
  }
  if (named("containers").length > 1) {
    throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${all.join(" ")}]`);
  }
}

/** Address types of nodes, in the order of preference. */
const PREFERRED_ADDRESSES = ["Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP"];

/**
 * Connects to a node.
 *
 * @param core The server.
 * @param name Name of the node.
 * @throws {StatusError} Always: the node does not exist, has no address, or is not reachable.
 */
export function nodeAddress(core: Core, name: string): never {
  const node = core.store.get("/nodes", name);
  if (node === undefined) throw notFound({ group: "", plural: "nodes" }, name);
  const addresses = list(own(fields(node.status), "addresses")).map(fields);
  if (!addresses.some(({ type }) => PREFERRED_ADDRESSES.includes(String(type)))) {
    const known = addresses.map(({ type, address }) => `{${type} ${address}}`).join(" ");
    throw new StatusError(500, undefined, `no preferred addresses found; known addresses: [${known}]`);
  }
  return unreachable(`node "${name}"`);
}

function podAddress(core: Core, { kind, namespace, name = "" }: Target): never {
  const wanted = parseProxyName(name, "pod");
  const { status } = getObject(core, kind, namespace, wanted.name);
  const { podIP, podIPs } = fields(status);
  if (!podIP && !fields(list(podIPs)[0]).ip) throw badRequest("address not allowed");
  return unreachable(`pod "${wanted.name}"`);
}

function serviceEndpoint(core: Core, { kind, namespace, name: id = "" }: Target): never {
  const { name, port } = parseProxyName(id, "service");
  let portName = port;
  if (/^[-+]?\d+$/.test(port)) {
    const service = getObject(core, kind, namespace, name);
    const found = list(own(fields(service.spec), "ports")).map(fields).find((each) => each.port === Number(port));
    if (found === undefined) {
      throw unavailableError(`no service port ${Number(port)} found for service ${quoted(name)}`);
    }
    portName = String(found.name ?? "");
  }
  const endpoints = core.store.get("/endpoints", keyOf(namespace, name));
  if (endpoints === undefined) throw notFound(kind, name);
  const subsets = list(endpoints.subsets).map(fields);
  if (subsets.length === 0) throw unavailableError(`no endpoints available for service ${quoted(name)}`);
  const isServed = subsets.some(({ addresses, ports }) =>
    list(ports).some((each) => String(fields(each).name ?? "") === portName) &&
    list(addresses).some((address) => isPodAddress(core, namespace, fields(address)))
  );
  if (!isServed) throw unavailableError(`no endpoints available for service ${quoted(id)}`);
  return unreachable(`service "${name}"`);
}

/** Returns whether an endpoint is the address of a pod. The real server connects only to pods. */
function isPodAddress(core: Core, namespace: string | undefined, { ip, targetRef }: Fields): boolean {
  const { namespace: podNamespace, name } = fields(targetRef);
  if (targetRef === undefined || podNamespace !== namespace) return false;
  const pod = core.store.get("/pods", keyOf(namespace, String(name)));
  return list(fields(pod?.status).podIPs).some((each) => fields(each).ip === ip);
}

/** Parses the name in a proxy path: `web`, `web:80` or `https:web:80`. */
function parseProxyName(id: string, resource: string): { name: string; port: string } {
  const parts = id.split(":");
  const [scheme = "", name = "", port = ""] = parts.length === 3 ? parts : ["", ...parts];
  const isValid = parts.length <= 3 && name !== "" && ["", "http", "https"].includes(scheme);
  if (!isValid) throw badRequest(`invalid ${resource} request ${quoted(id)}`);
  return { name, port };
}

function unavailableError(message: string): StatusError {
  return new StatusError(503, "ServiceUnavailable", message);
}

function unreachable(address: string): never {
  throw internalError(`cannot connect to ${address}: this API server runs no workloads`);
}

function quoted(text: string): string {
  return JSON.stringify(text);
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
