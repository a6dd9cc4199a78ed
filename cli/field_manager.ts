/**
 * The field manager of objects that `op` installs. `managedFields` stores it, so it never changes.
 */
export const MANAGER = "op-deploy";
