/** For whom there is room among the requests that a server takes at once over one HTTP/2 connection (SETTINGS_MAX_CONCURRENT_STREAMS). */

// So many are left to those that may not wait.
const URGENT = 2;
// So much are watches at most, which do not end for minutes: requests have room beside them.
const WATCHES = 0.6;

/**
 * Whether there is room for one more request.
 *
 * @param most How many the server takes at once.
 * @param taken How many go on.
 * @param isUrgent Whether it may not wait, as the question whether anybody is there: it finds room beside all that does.
 */
export function hasRoom(most: number, taken: number, isUrgent: boolean): boolean {
  return taken < (isUrgent ? most : Math.max(Math.min(1, most), most - URGENT));
}

/**
 * Whether there is room for one more watch.
 *
 * @param most How many requests the server takes at once.
 * @param watches How many watches go on, and wait.
 * @param isAlone Whether nothing but watches goes over the connection: one has room then, however little the server takes.
 */
export function hasRoomToWatch(most: number, watches: number, isAlone: boolean): boolean {
  return watches < Math.max(isAlone ? 1 : 0, Math.min(Math.floor(most * WATCHES), most - URGENT - 1));
}
