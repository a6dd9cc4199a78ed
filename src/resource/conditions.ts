/** What is added to every status: conditions and the generation they speak of. */
import { s, type Schema } from "../schema/mod.ts";
import type { Condition } from "./kind.ts";

/** What the SDK adds to a status, as types. */
export interface AddedStatus {
  /** What is known of the object, one entry a type. Kept by the SDK. */
  readonly conditions?: readonly Condition[];
  /** The `metadata.generation` that this status was written for. Kept by the SDK. */
  readonly observedGeneration?: number;
}

/**
 * The schema of `status.conditions`: a map by type of metav1.Condition, with the bounds that Kubernetes' own types have
 * (k8s.io/apimachinery, pkg/apis/meta/v1/types.go).
 */
export const CONDITIONS: Schema<readonly Condition[]> = s.array(
  s.object({
    type: s.string({
      maxLength: 316,
      pattern:
        "^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$",
    }),
    status: s.enum(["True", "False", "Unknown"]),
    observedGeneration: s.optional(s.integer({ format: "int64", minimum: 0 })),
    lastTransitionTime: s.string({ format: "date-time" }),
    reason: s.string({ minLength: 1, maxLength: 1024, pattern: "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$" }),
    message: s.string({ maxLength: 32768 }),
  }),
  { listType: "map", listMapKeys: ["type"] },
);

/** The schema of `status.observedGeneration`. */
export const OBSERVED_GENERATION: Schema<number> = s.integer({ format: "int64" });
