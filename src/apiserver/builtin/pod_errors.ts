/**
 * Validation of pods, limited to rules that hand-written objects tend to violate
 * (`k8s.io/kubernetes/pkg/apis/core/validation`).
 */
import { labelErrors } from "../../base/name_rules.ts";
import { own } from "../../base/own.ts";
import { Quantity } from "../../base/quantity.ts";
import {
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  notFound,
  notSupported,
  required,
} from "../../schema/field_error.ts";
import { type Fields, fields, items } from "./_parts.ts";

/**
 * Returns the errors of the spec of a pod.
 *
 * @param spec The spec.
 * @param path Path of the spec, such as `spec.template.spec`.
 */
export function podErrors(spec: Fields, path: string): FieldError[] {
  const volumes = items(spec.volumes);
  const containers = items(spec.containers);
  const errors = volumeErrors(volumes, `${path}.volumes`);
  const names = new Set(volumes.map(({ name }) => name));
  const { restartPolicy } = spec;
  if (restartPolicy !== undefined && !RESTART_POLICIES.includes(String(restartPolicy))) {
    errors.push(notSupported(`${path}.restartPolicy`, restartPolicy, RESTART_POLICIES));
  }
  if (containers.length === 0) return [...errors, required(`${path}.containers`)];
  for (const key of ["containers", "initContainers"]) {
    const seen = new Set<unknown>();
    items(own(spec, key)).forEach((container, i) => {
      const containerPath = `${path}.${key}[${i}]`;
      const { name, image } = container;
      if (!name) errors.push(required(`${containerPath}.name`));
      else errors.push(...labelErrors(String(name)).map((error) => invalid(`${containerPath}.name`, name, error)));
      if (seen.has(name)) errors.push(duplicate(`${containerPath}.name`, name));
      seen.add(name);
      if (!image) errors.push(required(`${containerPath}.image`));
      errors.push(...containerErrors(container, containerPath, names));
    });
  }
  const deadline = spec.activeDeadlineSeconds;
  if (typeof deadline === "number" && (deadline < 1 || deadline > 2 ** 31 - 1)) {
    errors.push(invalid(`${path}.activeDeadlineSeconds`, deadline, "must be between 1 and 2147483647, inclusive"));
  }
  return errors;
}

const RESTART_POLICIES = ["Always", "OnFailure", "Never"];
const PULL_POLICIES = ["Always", "IfNotPresent", "Never"];

function containerErrors(container: Fields, path: string, volumes: ReadonlySet<unknown>): FieldError[] {
  const { imagePullPolicy: pullPolicy, ports, env, volumeMounts, resources } = container;
  return [
    ...pullPolicy === undefined || PULL_POLICIES.includes(String(pullPolicy))
      ? []
      : [notSupported(`${path}.imagePullPolicy`, pullPolicy, PULL_POLICIES)],
    ...portErrors(items(ports), `${path}.ports`),
    ...items(env).flatMap(({ name }, i) => name ? [] : [required(`${path}.env[${i}].name`)]),
    ...mountErrors(items(volumeMounts), `${path}.volumeMounts`, volumes),
    ...resourceErrors(fields(resources), `${path}.resources`),
  ];
}

function portErrors(ports: readonly Fields[], path: string): FieldError[] {
  const names = new Set<unknown>();
  return ports.flatMap(({ name, containerPort, hostPort, protocol }, i) => {
    const errors: FieldError[] = [];
    if (name !== undefined && names.has(name)) errors.push(duplicate(`${path}[${i}].name`, name));
    names.add(name);
    if (!containerPort) errors.push(required(`${path}[${i}].containerPort`));
    for (const [key, port] of Object.entries({ containerPort, hostPort })) {
      if (typeof port !== "number" || port === 0 || (port >= 1 && port <= 65535)) continue;
      errors.push(invalid(`${path}[${i}].${key}`, port, "must be between 1 and 65535, inclusive"));
    }
    const isKnown = protocol === undefined || PROTOCOLS.includes(String(protocol));
    return isKnown ? errors : [...errors, notSupported(`${path}[${i}].protocol`, protocol, PROTOCOLS)];
  });
}

const PROTOCOLS = ["SCTP", "TCP", "UDP"];

function mountErrors(mounts: readonly Fields[], path: string, volumes: ReadonlySet<unknown>): FieldError[] {
  const mountPaths = new Set<unknown>();
  return mounts.flatMap(({ name, mountPath }, i) => {
    const errors: FieldError[] = [];
    if (!name) errors.push(required(`${path}[${i}].name`));
    if (!volumes.has(name)) errors.push(notFound(`${path}[${i}].name`, name ?? ""));
    if (!mountPath) errors.push(required(`${path}[${i}].mountPath`));
    if (mountPaths.has(mountPath)) errors.push(invalid(`${path}[${i}].mountPath`, mountPath, "must be unique"));
    mountPaths.add(mountPath);
    return errors;
  });
}

/** Checks that requests do not exceed limits. */
function resourceErrors({ requests, limits }: Fields, path: string): FieldError[] {
  return Object.entries(fields(requests)).flatMap(([name, request]) => {
    const limit = own(fields(limits), name);
    if (limit === undefined || Quantity.parse(String(request)).compare(Quantity.parse(String(limit))) <= 0) return [];
    return [invalid(`${path}.requests`, request, `must be less than or equal to ${name} limit of ${limit}`)];
  });
}

/**
 * Checks that images have no surrounding white space. Pod templates may have it, because older
 * servers accepted it.
 */
export function imageErrors(spec: Fields): FieldError[] {
  const reason = "must not have leading or trailing whitespace";
  return ["containers", "initContainers"].flatMap((key) =>
    items(own(spec, key)).flatMap(({ image }, i) =>
      typeof image === "string" && image.trim() !== image ? [invalid(`spec.${key}[${i}].image`, image, reason)] : []
    )
  );
}

/** Sources of volumes in the order of the real server's checks. */
const VOLUME_SOURCES = [
  "emptyDir",
  "hostPath",
  "gitRepo",
  "gcePersistentDisk",
  "awsElasticBlockStore",
  "secret",
  "nfs",
  "iscsi",
  "glusterfs",
  "flocker",
  "persistentVolumeClaim",
  "rbd",
  "cinder",
  "cephfs",
  "quobyte",
  "downwardAPI",
  "fc",
  "configMap",
  "azureFile",
  "vsphereVolume",
  "photonPersistentDisk",
  "portworxVolume",
  "azureDisk",
  "storageos",
  "projected",
  "scaleIO",
  "csi",
  "ephemeral",
  "image",
];

/** Required fields of volume sources. */
const REQUIRED_FIELDS: readonly (readonly [source: string, key: string])[] = [
  ["secret", "secretName"],
  ["configMap", "name"],
  ["persistentVolumeClaim", "claimName"],
  ["hostPath", "path"],
];

function volumeErrors(volumes: readonly Fields[], path: string): FieldError[] {
  const names = new Set<unknown>();
  return volumes.flatMap((volume, i) => {
    const volumePath = `${path}[${i}]`;
    const { name } = volume;
    const [, ...extraSources] = VOLUME_SOURCES.filter((source) => own(volume, source) !== undefined);
    const errors = extraSources.map((source) =>
      forbidden(`${volumePath}.${source}`, "may not specify more than 1 volume type")
    );
    for (const [source, key] of REQUIRED_FIELDS) {
      const given = own(volume, source);
      if (!extraSources.includes(source) && given !== undefined && !own(fields(given), key)) {
        errors.push(required(`${volumePath}.${source}.${key}`));
      }
    }
    if (!name) errors.push(required(`${volumePath}.name`));
    else errors.push(...labelErrors(String(name)).map((error) => invalid(`${volumePath}.name`, name, error)));
    if (names.has(name)) errors.push(duplicate(`${volumePath}.name`, name));
    names.add(name);
    return errors;
  });
}
