// Made by tools/cli_internal.ts from src/internal.ts: do not edit.
export { ID_LABEL, NAME_LABEL } from "./base/installed_labels.gen.ts";
export { GO_YAML, type GoYaml, KUSTOMIZE_YAML } from "./base/go_yaml.gen.ts";
export { equal, isObject } from "./base/json.gen.ts";
export { setOwn } from "./base/own.gen.ts";
export { applyJsonPatch, type JsonPatchOperation } from "./base/json_patch.gen.ts";
export { isLocalHost } from "./base/local_host.gen.ts";
export { maskSecretChange, maskSecretMessage, maskSecrets } from "./base/mask_secrets.gen.ts";
export { isLabelRequirementMet, type LabelRequirement, parseLabelSelector } from "./base/label_selector.gen.ts";
export { byNearness, nearest } from "./base/nearest.gen.ts";
export { columnSchema, type ColumnType, columnType } from "./resource/column_type.gen.ts";
export { CONDITIONS, OBSERVED_GENERATION } from "./resource/conditions.gen.ts";
export { finalizerPrefix } from "./resource/finalizer_prefix.gen.ts";
export { pluralOf } from "./resource/plural.gen.ts";
