/**
 * Helpers for tools that read and write the CustomResourceDefinitions of `resource()`.
 *
 * @example The default type of a column
 * ```ts
 * import assert from "node:assert/strict";
 * import { columnSchema, columnType } from "@op/sdk/definitions";
 *
 * const schema = columnSchema(".spec.replicas", {
 *   type: "object",
 *   properties: { spec: { type: "object", properties: { replicas: { type: "integer" } } } },
 * });
 * assert.equal(columnType(schema ?? {}), "integer");
 * ```
 *
 * @module
 */
export { ID_LABEL, NAME_LABEL } from "../base/installed_labels.ts";
export { GO_YAML, type GoYaml, KUSTOMIZE_YAML } from "../base/go_yaml.ts";
export { equal, isObject } from "../base/json.ts";
export { setOwn } from "../base/own.ts";
export { applyJsonPatch, type JsonPatchOperation } from "../base/json_patch.ts";
export { isLocalHost } from "../base/local_host.ts";
export { maskSecretChange, maskSecretMessage, maskSecrets } from "../base/mask_secrets.ts";
export { isLabelRequirementMet, type LabelRequirement, parseLabelSelector } from "../base/label_selector.ts";
export { byNearness, nearest } from "../base/nearest.ts";
export { type BuiltinSchemas, builtinSchemas, type MergeSchema } from "./builtin_schemas.ts";
export { columnSchema, type ColumnType, columnType } from "./column_type.ts";
export { type AddedStatus, CONDITIONS, OBSERVED_GENERATION } from "./conditions.ts";
export { finalizerPrefix } from "./finalizer_prefix.ts";
export { pluralOf } from "./plural.ts";
