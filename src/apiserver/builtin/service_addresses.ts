/**
 * Addresses and node ports of Services (`k8s.io/kubernetes/pkg/registry/core/service/storage`). The
 * real server selects them at random; this one selects the lowest free ones, so that tests are
 * reproducible.
 */
import { isObject } from "../../base/json.ts";
import { own } from "../../base/own.ts";
import { type FieldError, invalid } from "../../schema/field_error.ts";
import type { Rules } from "../objects/kinds.ts";
import type { StoredObject } from "../objects/objects.ts";
import type { Store } from "../objects/store.ts";
import { type Fields, fields, withDefaults } from "./_parts.ts";

export const SERVICES = "/services";

const FIRST_NODE_PORT = 30_000;

/** Returns the rules of Services, based on those of built-in kinds. */
export function serviceRules(rules: Rules, store: Store): Rules {
  return {
    ...rules,
    prepareCreate: (object, now) => withAddresses(store, rules.prepareCreate(object, now)),
    prepareUpdate(object, old, subresource) {
      const next = rules.prepareUpdate(object, old, subresource);
      return subresource === undefined ? withAddresses(store, withExistingAddresses(next, old)) : next;
    },
    validate(object, old, subresource) {
      const errors = rules.validate(object, old, subresource);
      return errors.length > 0 || subresource !== undefined ? errors : addressErrors(store, object, old);
    },
  };
}

/** Keeps the addresses and node ports of a Service that an update omits. */
function withExistingAddresses(service: StoredObject, old: StoredObject): StoredObject {
  const [spec, before] = [fields(service.spec), fields(old.spec)];
  if (!isInCluster(spec) || !isInCluster(before)) return service;
  const { clusterIP, clusterIPs, ipFamilies, ipFamilyPolicy } = before;
  const kept = withDefaults(spec, { clusterIP, clusterIPs, ipFamilies, ipFamilyPolicy });
  if (!hasNodePorts(spec) || !hasNodePorts(before)) return { ...service, spec: kept };
  const ports = portsOf(spec).map((port) => {
    const same = portsOf(before).find((each) => each.port === port.port && each.protocol === port.protocol);
    return same?.nodePort === undefined ? port : withDefaults(port, { nodePort: same.nodePort });
  });
  return { ...service, spec: { ...kept, ports } };
}

function withAddresses(store: Store, service: StoredObject): StoredObject {
  const spec = fields(service.spec);
  if (!isInCluster(spec)) return service;
  const address = own(spec, "clusterIP") || fields(own(spec, "clusterIPs"))[0] || freeAddress(store);
  const filled = address === "None" ? spec : withDefaults(spec, {
    clusterIP: address,
    clusterIPs: [address],
    ipFamilies: [String(address).includes(":") ? "IPv6" : "IPv4"],
    ipFamilyPolicy: "SingleStack",
  });
  return { ...service, spec: hasNodePorts(spec) ? withNodePorts(store, filled) : filled };
}

// Lower addresses are reserved for static assignment (KEP-3070: 16 addresses of a small range).
const FIRST_FREE = 17;

/** Returns the lowest free address that is at least 10.0.0.17 and does not end in 0 or 255. */
function freeAddress(store: Store): string {
  const used = new Set(store.list(SERVICES).map(({ spec }) => fields(spec).clusterIP));
  for (let i = FIRST_FREE;; i++) {
    const address = `10.0.${i >> 8}.${i & 255}`;
    if ((i & 255) !== 0 && (i & 255) !== 255 && !used.has(address)) return address;
  }
}

function withNodePorts(store: Store, spec: Fields): Fields {
  if (spec.type === "LoadBalancer" && spec.allocateLoadBalancerNodePorts === false) return spec;
  const used = new Set(
    store.list(SERVICES).flatMap((other) => portsOf(fields(other.spec)).map((port) => port.nodePort)),
  );
  for (const { nodePort } of portsOf(spec)) used.add(nodePort);
  const next = () => {
    let port = FIRST_NODE_PORT;
    while (used.has(port)) port++;
    used.add(port);
    return port;
  };
  return { ...spec, ports: portsOf(spec).map((port) => port.nodePort ? port : { ...port, nodePort: next() }) };
}

function addressErrors(store: Store, service: StoredObject, old: StoredObject | undefined): FieldError[] {
  const address = own(fields(service.spec), "clusterIP");
  if (!address || address === "None" || !isInCluster(fields(service.spec))) return [];
  const before = old === undefined ? undefined : own(fields(old.spec), "clusterIP");
  if (before === address) return [];
  if (before) return [invalid("spec.clusterIPs[0]", [address], "may not change once set")];
  const isUsed = store.list(SERVICES).some(({ metadata, spec }) =>
    metadata.uid !== service.metadata.uid && fields(spec).clusterIP === address
  );
  const reason = `failed to allocate IP ${address}: provided IP is already allocated`;
  return isUsed ? [invalid("spec.clusterIPs", [address], reason)] : [];
}

function isInCluster(spec: Fields): boolean {
  return own(spec, "type") !== "ExternalName";
}

function hasNodePorts(spec: Fields): boolean {
  return spec.type === "NodePort" || spec.type === "LoadBalancer";
}

function portsOf(spec: Fields): readonly Fields[] {
  return Array.isArray(spec.ports) ? spec.ports.filter(isObject) : [];
}
