/** Cells of services, ingresses and other network kinds. */
import type { StoredObject } from "../../objects/objects.ts";
import {
  at,
  type Cells,
  type Fields,
  fields,
  firstItems,
  labels,
  list,
  orElse,
  selectorText,
  strings,
} from "./_fields.ts";

export const networkCells: Readonly<Record<string, Cells>> = {
  "/services": {
    Type: at("spec", "type"),
    "Cluster-IP": ({ spec }) => strings(spec, "clusterIPs")[0] ?? "<none>",
    "External-IP": externalIp,
    "Port(s)": ({ spec }) => list(spec, "ports").map(servicePort).join(",") || "<none>",
    Selector: ({ spec }) => labels(fields(spec).selector),
  },
  "/endpoints": {
    Endpoints: (it) => {
      const subsets = list(it, "subsets");
      return subsets.length === 0 ? "<none>" : firstItems(subsets.flatMap(subsetAddresses), 3);
    },
  },
  "discovery.k8s.io/endpointslices": {
    AddressType: ({ addressType }) => addressType,
    Ports: (it) => firstItems(list(it, "ports").map(({ port, name }) => String(port ?? name ?? "*")), 3) || "<unset>",
    Endpoints: (it) => firstItems(list(it, "endpoints").flatMap((each) => strings(each, "addresses")), 3) || "<unset>",
  },
  "networking.k8s.io/ingresses": {
    Class: orElse("<none>", "spec", "ingressClassName"),
    Hosts: hosts,
    Address: ({ status }) => balancerAddresses(status),
    Ports: ({ spec }) => list(spec, "tls").length > 0 ? "80, 443" : "80",
  },
  "networking.k8s.io/ingressclasses": {
    Name: ({ metadata }) => withDefault(metadata, "ingressclass.kubernetes.io/is-default-class"),
    Controller: at("spec", "controller"),
    Parameters: (it) => {
      const parameters = at("spec", "parameters")(it);
      if (parameters === undefined) return "<none>";
      const { apiGroup, kind, name } = fields(parameters);
      return `${kind}${apiGroup === undefined ? "" : `.${apiGroup}`}/${name}`;
    },
  },
  "networking.k8s.io/networkpolicies": {
    "Pod-Selector": (it) => selectorText(at("spec", "podSelector")(it)) || "<none>",
  },
  "networking.k8s.io/ipaddresses": {
    ParentRef: (it) => {
      const parent = at("spec", "parentRef")(it);
      if (parent === undefined) return "<none>";
      const { group, resource, namespace, name } = fields(parent);
      const type = group ? `${resource}.${group}` : String(resource ?? "");
      return [type.toLowerCase(), ...namespace ? [namespace] : [], name ?? ""].join("/");
    },
  },
  "networking.k8s.io/servicecidrs": { CIDRs: ({ spec }) => strings(spec, "cidrs").join(",") },
};

/**
 * Formats a name. Appends `(default)` if an annotation makes the object the default of its kind.
 */
export function withDefault({ name, annotations }: StoredObject["metadata"], ...keys: readonly string[]): string {
  return keys.some((key) => annotations?.[key] === "true") ? `${name} (default)` : name;
}

function externalIp({ spec, status }: StoredObject): unknown {
  const own = strings(spec, "externalIPs");
  switch (fields(spec).type) {
    case "ClusterIP":
    case "NodePort":
      return own.join(",") || "<none>";
    case "LoadBalancer":
      return [balancerAddresses(status), ...own].filter((each) => each !== "").join(",") || "<pending>";
    case "ExternalName":
      return fields(spec).externalName ?? "";
    default:
      return "<unknown>";
  }
}

function balancerAddresses(status: unknown): string {
  const addresses = list(fields(status).loadBalancer, "ingress").map(({ ip, hostname }) => ip || hostname || "");
  return [...new Set(addresses.filter((each) => each !== ""))].sort().join(",");
}

function servicePort({ port, nodePort, protocol }: Fields): string {
  return `${port}${nodePort ? `:${nodePort}` : ""}/${protocol ?? "TCP"}`;
}

function subsetAddresses(subset: Fields): string[] {
  const addresses = list(subset, "addresses").map(({ ip }) => String(ip));
  const ports = list(subset, "ports");
  if (ports.length === 0) return addresses;
  return ports.flatMap(({ port }) => addresses.map((ip) => `${ip.includes(":") ? `[${ip}]` : ip}:${port}`));
}

/** Formats the hosts of the first three rules. */
function hosts({ spec }: StoredObject): string {
  const rules = list(spec, "rules");
  const named: string[] = [];
  let isMore = false;
  for (const { host } of rules) {
    if (named.length === 3) isMore = true;
    if (!isMore && host) named.push(String(host));
  }
  if (named.length === 0) return "*";
  return isMore ? `${named.join(",")} + ${rules.length - 3} more...` : named.join(",");
}
