/**
 * Connections to what runs behind an object: a shell in a pod, its ports, what a service or a node serves. Whoever decides about them is asked
 * (`k8s.io/apiserver/pkg/endpoints/handlers.ConnectResource`), and what cannot be reached is refused; there is nothing that runs here.
 */
import { isObject } from "../../base/json.ts";
import { own } from "../../base/own.ts";
import { attributesOn } from "../access/attributes.ts";
import { admitted, namespaceOf } from "../admission/admitted.ts";
import type { Core } from "../core/core.ts";
import type { Steps } from "../core/steps.ts";
import type { Target } from "../core/target.ts";
import { keyOf } from "../objects/key.ts";
import type { StoredObject } from "../objects/objects.ts";
import { getObject } from "../verbs/read.ts";
import { badRequest, forbidden, internalError, notFound, StatusError } from "../wire/status_error.ts";
import { type ConnectOptions, connectOptions } from "./connect_options.ts";

const STREAMS = ["GET", "POST"];
const ALL = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

/** Methods by which each is connected to. */
const METHODS: Readonly<Record<string, readonly string[]>> = {
  "/pods/exec": STREAMS,
  "/pods/attach": STREAMS,
  "/pods/portforward": STREAMS,
  "/pods/proxy": ALL,
  "/services/proxy": ALL,
  "/nodes/proxy": ALL,
};

/** Whether a request asks for a connection. */
export function isConnection({ kind, subresource, name }: Target, method: string): boolean {
  if (name === undefined || subresource === undefined) return false;
  return own(METHODS, `${kind.collection}/${subresource}`)?.includes(method) ?? false;
}

/**
 * Answers such a request: all that is found out before something has to be reached.
 *
 * @param core The server.
 * @param target What is to be connected to.
 * @param verb What the request was let in for.
 * @throws {StatusError} Always: with what there is against it, or because there is nobody to connect to.
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
  const asked = await admitted(core, write, looked(options as unknown as StoredObject)) as unknown as ConnectOptions;
  if (subresource !== "proxy" && verb !== "create") mustBeAllowed(core, target, "create");
  switch (kind.collection) {
    case "/services":
      return serviceEndpoint(core, target);
    case "/nodes":
      return nodeAddress(core, schemeNamePort(name, "node").name);
    default:
      return subresource === "proxy" ? podAddress(core, target) : onItsNode(core, target, asked);
  }
}

function* looked(options: StoredObject): Steps<StoredObject> {
  return yield { phase: "validate", object: yield { phase: "mutate", object: options } };
}

/** A WebSocket begins with a GET; what is done by it is no reading. */
function mustBeAllowed(core: Core, { kind, namespace, name = "", subresource, user }: Target, verb: string): void {
  const asked = attributesOn(kind, { verb, subresource, namespace, name });
  const decision = core.access.authorizer?.decide(user, asked);
  if (decision !== undefined && !decision.allowed) throw forbidden(kind, name, decision.reason);
}

/** What is done in a pod is done by its node. */
function onItsNode(core: Core, { kind, namespace, name = "", subresource }: Target, options: ConnectOptions): never {
  const pod = getObject(core, kind, namespace, name);
  if (subresource !== "portforward") checkContainer(pod, options.container);
  const node = nodeOf(pod);
  if (node === undefined) throw badRequest(`pod ${name} does not have a host assigned`);
  return nodeAddress(core, node);
}

/** The node on which a pod runs. */
export function nodeOf({ spec }: StoredObject): string | undefined {
  const node = isObject(spec) ? own(spec, "nodeName") : undefined;
  return typeof node === "string" && node !== "" ? node : undefined;
}

/**
 * Checks that it is clear which container of a pod is meant.
 *
 * @param pod The pod.
 * @param container The one that was named, if one was.
 * @throws {StatusError} If there is no such one, or several and none was named.
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

/** Which address of a node is taken, by its type. */
const PREFERRED = ["Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP"];

/**
 * Asks something of a node.
 *
 * @param core The server.
 * @param name The node's name.
 * @throws {StatusError} Always: it is not there, has no address, or cannot be reached.
 */
export function nodeAddress(core: Core, name: string): never {
  const node = core.store.get("/nodes", name);
  if (node === undefined) throw notFound({ group: "", plural: "nodes" }, name);
  const addresses = list(own(fields(node.status), "addresses")).map(fields);
  if (!addresses.some(({ type }) => PREFERRED.includes(String(type)))) {
    const known = addresses.map(({ type, address }) => `{${type} ${address}}`).join(" ");
    throw new StatusError(500, undefined, `no preferred addresses found; known addresses: [${known}]`);
  }
  return nobody(`node "${name}"`);
}

function podAddress(core: Core, { kind, namespace, name = "" }: Target): never {
  const wanted = schemeNamePort(name, "pod");
  const { status } = getObject(core, kind, namespace, wanted.name);
  const { podIP, podIPs } = fields(status);
  if (!podIP && !fields(list(podIPs)[0]).ip) throw badRequest("address not allowed");
  return nobody(`pod "${wanted.name}"`);
}

function serviceEndpoint(core: Core, { kind, namespace, name: id = "" }: Target): never {
  const { name, port } = schemeNamePort(id, "service");
  let portName = port;
  if (/^[-+]?\d+$/.test(port)) {
    const service = getObject(core, kind, namespace, name);
    const found = list(own(fields(service.spec), "ports")).map(fields).find((each) => each.port === Number(port));
    if (found === undefined) throw unavailable(`no service port ${Number(port)} found for service ${quoted(name)}`);
    portName = String(found.name ?? "");
  }
  const endpoints = core.store.get("/endpoints", keyOf(namespace, name));
  if (endpoints === undefined) throw notFound(kind, name);
  const subsets = list(endpoints.subsets).map(fields);
  if (subsets.length === 0) throw unavailable(`no endpoints available for service ${quoted(name)}`);
  const isServed = subsets.some(({ addresses, ports }) =>
    list(ports).some((each) => String(fields(each).name ?? "") === portName) &&
    list(addresses).some((address) => isOfPod(core, namespace, fields(address)))
  );
  if (!isServed) throw unavailable(`no endpoints available for service ${quoted(id)}`);
  return nobody(`service "${name}"`);
}

/** Only what is a pod's address is called. */
function isOfPod(core: Core, namespace: string | undefined, { ip, targetRef }: Fields): boolean {
  const { namespace: place, name } = fields(targetRef);
  if (targetRef === undefined || place !== namespace) return false;
  const pod = core.store.get("/pods", keyOf(namespace, String(name)));
  return list(fields(pod?.status).podIPs).some((each) => fields(each).ip === ip);
}

/** A name as it is proxied to: `web`, `web:80`, `https:web:80`. */
function schemeNamePort(id: string, what: string): { name: string; port: string } {
  const parts = id.split(":");
  const [scheme = "", name = "", port = ""] = parts.length === 3 ? parts : ["", ...parts];
  const isValid = parts.length <= 3 && name !== "" && ["", "http", "https"].includes(scheme);
  if (!isValid) throw badRequest(`invalid ${what} request ${quoted(id)}`);
  return { name, port };
}

function unavailable(message: string): StatusError {
  return new StatusError(503, "ServiceUnavailable", message);
}

function nobody(where: string): never {
  throw internalError(`there is nobody on ${where} to ask: the API server is alone`);
}

function quoted(text: string): string {
  return JSON.stringify(text);
}

type Fields = Readonly<Record<string, unknown>>;

function fields(value: unknown): Fields {
  return isObject(value) ? value : {};
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
