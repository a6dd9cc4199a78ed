/**
 * Warnings about objects of built-in kinds, limited to those that operators encounter
 * (`WarningsOnCreate` of `k8s.io/kubernetes/pkg/registry`).
 */
import { isObject } from "../../base/json.ts";
import { own } from "../../base/own.ts";
import type { StoredObject } from "../objects/objects.ts";
import { fields } from "./_parts.ts";

type Spec = Readonly<Record<string, unknown>>;

const WARNINGS: Readonly<Record<string, (spec: Spec, isNew: boolean) => string[]>> = {
  "/services": ({ clusterIP, externalIPs }) =>
    clusterIP === "None" && Array.isArray(externalIPs) ? ["spec.externalIPs is ignored for headless services"] : [],
  "apps/statefulsets": ({ volumeClaimTemplates: claims }) =>
    (Array.isArray(claims) ? claims : []).flatMap((claim, i) =>
      fractionWarnings(claim, `spec.volumeClaimTemplates[${i}]`)
    ),
  "storage.k8s.io/csidrivers": ({ tokenRequests, serviceAccountTokenInSecrets }, isNew) =>
    !isNew || tokenRequests === undefined || serviceAccountTokenInSecrets !== undefined ? [] : [
      "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible " +
      "logging of tokens in volume attributes",
    ],
};

/**
 * Returns the warnings about an object.
 *
 * @param name `group/plural`.
 * @param object The object as written.
 * @param isNew Whether it is created.
 */
export function builtinWarnings(name: string, object: StoredObject, isNew: boolean): string[] {
  const { spec } = object;
  if (name === "/secrets") return certificateWarnings(object);
  return own(WARNINGS, name)?.(isObject(spec) ? spec : {}, isNew) ?? [];
}

/** Warns about fractions of bytes. */
function fractionWarnings(claim: unknown, path: string): string[] {
  const { requests } = fields(fields(fields(claim).spec).resources);
  const storage = own(fields(requests), "storage");
  return typeof storage === "string" && storage.endsWith("m")
    ? [`${path}.resources.requests[storage]: fractional byte value "${storage}" is invalid, must be an integer`]
    : [];
}

/** Warns about a TLS Secret without PEM data. */
function certificateWarnings({ type, data }: StoredObject): string[] {
  if (type !== "kubernetes.io/tls" || !isObject(data)) return [];
  const isPem = (key: string) => atob(String(own(data, key) ?? "")).includes("-----BEGIN ");
  const missing = isPem("tls.crt") ? isPem("tls.key") ? undefined : "key" : "certificate";
  return missing === undefined ? [] : [`tls: failed to find any PEM data in ${missing} input`];
}
