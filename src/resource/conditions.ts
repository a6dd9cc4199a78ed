/** Fields that are added to every status: conditions and the observed generation. */
import { frozenCopy } from "./_freeze.ts";
import { markKnownValid } from "../schema/_marks.ts";
import type { Schema } from "../schema/mod.ts";
import type { Condition } from "./kind.ts";

/** The fields that the SDK adds to a status. */
export interface AddedStatus {
  /** The conditions of the object, one for each type. The SDK maintains them. */
  readonly conditions?: readonly Condition[];
  /** The `metadata.generation` for which this status was written. The SDK maintains it. */
  readonly observedGeneration?: number;
}

/**
 * The schema of `status.conditions`: a list map of metav1.Condition by type, with the limits of
 * Kubernetes' own type (k8s.io/apimachinery, pkg/apis/meta/v1/types.go). It is marked as valid,
 * because validating it for every kind would compile its patterns, which takes longer than loading
 * the rest of a small operator.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { resource, s } from "@op/sdk";
 *
 * const Site = resource({
 *   group: "a.example",
 *   version: "v1",
 *   kind: "Site",
 *   spec: s.object({}),
 *   status: s.object({}),
 * });
 * const [version] = Site.crd!.spec.versions;
 * assert.deepEqual(
 *   version!.schema.openAPIV3Schema.properties!.status!.properties!.conditions,
 *   CONDITIONS,
 * );
 * ```
 */
export const CONDITIONS: Schema<readonly Condition[]> = markKnownValid(frozenCopy({
  type: "array",
  items: {
    type: "object",
    properties: {
      type: {
        type: "string",
        maxLength: 316,
        pattern:
          "^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$",
      },
      status: { type: "string", enum: ["True", "False", "Unknown"] },
      observedGeneration: { type: "integer", format: "int64", minimum: 0 },
      lastTransitionTime: { type: "string", format: "date-time" },
      reason: {
        type: "string",
        minLength: 1,
        maxLength: 1024,
        pattern: "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
      },
      message: { type: "string", maxLength: 32768 },
    },
    required: ["type", "status", "lastTransitionTime", "reason", "message"],
  },
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["type"],
}));

/**
 * The schema of `status.observedGeneration`.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(OBSERVED_GENERATION.format, "int64");
 * ```
 */
export const OBSERVED_GENERATION: Schema<number> = markKnownValid({ type: "integer", format: "int64" });
