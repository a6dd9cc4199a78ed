// Made by tools/cli_internal.ts from src/resource/conditions.ts: do not edit.
import { frozenCopy } from "./_freeze.gen.ts";
import { markKnownValid } from "../schema/_marks.gen.ts";
import type { Schema } from "@op/sdk/resource";
import type { Condition } from "@op/sdk/resource";

export interface AddedStatus {
  readonly conditions?: readonly Condition[];
  readonly observedGeneration?: number;
}

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

export const OBSERVED_GENERATION: Schema<number> = markKnownValid({ type: "integer", format: "int64" });
