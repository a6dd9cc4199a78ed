/**
 * Field managers of objects that `op` writes. `managedFields` stores them, so they never change.
 * `op dev` has its own. With the manager of `op deploy`, it would remove fields that an overlay
 * adds to the objects of a deployed operator, such as an annotation of its ServiceAccount.
 */

/** The field manager of `op deploy` and `op uninstall`. */
export const MANAGER = "op-deploy";

/** The field manager of `op dev`. */
export const DEV_MANAGER = "op-dev";
