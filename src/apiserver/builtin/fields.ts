/**
 * Fields of built-in kinds for field selectors (`conversion.go` and `strategy.go` of
 * `k8s.io/kubernetes/pkg`).
 */
import { isObject } from "../../base/json.ts";
import { own } from "../../base/own.ts";
import type { StoredObject } from "../objects/objects.ts";

/** Returns the value of a field as a string. */
type Read = (object: StoredObject) => string;

/** The selectable fields of a kind. */
export interface BuiltinFields {
  /** The functions that read the selectable fields, by path. */
  readonly fields: ReadonlyMap<string, Read>;
  /** Returns the error message for a field that is not selectable. */
  readonly unknown: (field: string) => string;
}

const NAME: readonly [string, Read] = ["metadata.name", ({ metadata }) => metadata.name];
const NAMESPACE: readonly [string, Read] = ["metadata.namespace", ({ metadata }) => metadata.namespace ?? ""];

function at(...path: readonly string[]): Read {
  return (object) => {
    const value = path.reduce<unknown>((part, key) => isObject(part) ? own(part, key) : undefined, object);
    return value === undefined || value === null ? "" : String(value);
  };
}

const byPath = (...paths: readonly string[]): (readonly [string, Read])[] =>
  paths.map((path) => [path, at(...path.split("."))]);

const REFERENCE = ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"];

const source: Read = (event) => at("source", "component")(event) || at("reportingComponent")(event);

/**
 * Fields by kind, for kinds with more than name and namespace. Events are in the form in which they
 * are served.
 */
const FIELDS: Readonly<Record<string, readonly (readonly [string, Read])[]>> = {
  "/pods": [
    NAME,
    NAMESPACE,
    ...byPath("spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName"),
    ["spec.hostNetwork", (pod) => at("spec", "hostNetwork")(pod) || "false"],
    ["spec.host", at("spec", "nodeName")],
    ...byPath("status.phase", "status.podIP", "status.nominatedNodeName"),
    ["status.podIPs", at("status", "podIP")],
  ],
  "/nodes": [NAME, ["spec.unschedulable", (node) => at("spec", "unschedulable")(node) || "false"]],
  "/replicationcontrollers": [
    NAME,
    NAMESPACE,
    ["status.replicas", (it) => at("status", "replicas")(it) || "0"],
  ],
  "/namespaces": [NAME, ...byPath("status.phase")],
  "/secrets": [NAME, NAMESPACE, ...byPath("type")],
  "/services": [NAME, NAMESPACE, ...byPath("spec.clusterIP", "spec.type")],
  "/events": [
    NAME,
    NAMESPACE,
    ...REFERENCE.map((key): readonly [string, Read] => [`involvedObject.${key}`, at("involvedObject", key)]),
    ...byPath("reason", "reportingComponent", "type"),
    ["source", source],
  ],
  "events.k8s.io/events": [
    NAME,
    NAMESPACE,
    ...REFERENCE.map((key): readonly [string, Read] => [`regarding.${key}`, at("regarding", key)]),
    ...byPath("reason", "reportingController", "type"),
  ],
  "batch/jobs": [NAME, NAMESPACE, ["status.successful", (job) => at("status", "succeeded")(job) || "0"]],
  "certificates.k8s.io/certificatesigningrequests": [NAME, ...byPath("spec.signerName")],
  "resource.k8s.io/resourceslices": [NAME, ...byPath("spec.nodeName", "spec.driver")],
};

const UNKNOWN: Readonly<Record<string, (field: string) => string>> = {
  "batch/jobs": (field) => `field label ${JSON.stringify(field)} not supported for Job`,
  "resource.k8s.io/resourceslices": (field) =>
    `field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: ${field}`,
};

/**
 * Returns the selectable fields of a built-in kind.
 *
 * @param name `group/plural`.
 */
export function builtinFields(name: string): BuiltinFields {
  const fields = own(FIELDS, name);
  if (fields === undefined) {
    const unknown = (field: string) =>
      `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`;
    return { fields: new Map([NAME, NAMESPACE]), unknown };
  }
  const unknown = own(UNKNOWN, name) ?? ((field: string) => `field label not supported: ${field}`);
  return { fields: new Map(fields), unknown };
}
