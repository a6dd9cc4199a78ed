/**
 * The functions that the package `@op/cli` shares with this one. They are not published: the task
 * `generate` copies them into the folder `cli/internal`, because a published package contains its
 * own files only.
 *
 * @module
 */
export { ID_LABEL, NAME_LABEL } from "./base/installed_labels.ts";
export { GO_YAML, type GoYaml, KUSTOMIZE_YAML } from "./base/go_yaml.ts";
export { equal, isObject } from "./base/json.ts";
export { setOwn } from "./base/own.ts";
export { applyJsonPatch, type JsonPatchOperation } from "./base/json_patch.ts";
export { isLocalHost } from "./base/local_host.ts";
export { maskSecretChange, maskSecretMessage, maskSecrets } from "./base/mask_secrets.ts";
export { isLabelRequirementMet, type LabelRequirement, parseLabelSelector } from "./base/label_selector.ts";
export { byNearness, nearest } from "./base/nearest.ts";
export { leaseAnnotations, type LeaseState, leaseState, shownPause } from "./runtime/lease_annotations.ts";
export { columnSchema, type ColumnType, columnType } from "./resource/column_type.ts";
export { CONDITIONS, OBSERVED_GENERATION } from "./resource/conditions.ts";
export { finalizerPrefix } from "./resource/finalizer_prefix.ts";
export { pluralOf } from "./resource/plural.ts";
