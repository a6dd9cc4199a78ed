/** Detects executables from `op build`. */

/**
 * Whether this program is an executable. Its declarations were validated at build time. Validating
 * them again at each start would double the time until the first reconcile, so executables do not
 * load the validation modules at all.
 */
export const IS_EXECUTABLE: boolean = Deno.build.standalone;
