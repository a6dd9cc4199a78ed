/** Whether this program is an executable, as `op build` makes them. */

/**
 * Whether it is. What an executable declares was judged when it was built: to judge it again at each start would take as long as all else that it does until
 * its first reconcile, so that the modules which judge are not even loaded there.
 */
export const IS_EXECUTABLE: boolean = Deno.build.standalone;
