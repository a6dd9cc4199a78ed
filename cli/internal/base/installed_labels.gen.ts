// Made by tools/cli_internal.ts from src/base/installed_labels.ts: do not edit.
export const NAME_LABEL = "app.kubernetes.io/name";

export const ID_LABEL = "op/operator-id";
