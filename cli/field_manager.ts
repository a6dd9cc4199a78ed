/**
 * Field managers of objects that `op` writes. `managedFields` stores them, so they never change.
 * `op dev` has its own: with one manager for both, it would remove what an overlay adds to the
 * objects of a deployed operator, such as an annotation of its service account.
 */

/** The field manager of `op deploy` and `op uninstall`. */
export const MANAGER = "op-deploy";

/** The field manager of `op dev`. */
export const DEV_MANAGER = "op-dev";
