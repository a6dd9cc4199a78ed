/** Reads writes from the audit log of a real cluster while it grows. */

/** A completed write. Times are in milliseconds since the epoch. */
export interface Write {
  readonly received: number;
  readonly answered: number;
  readonly verb: string;
  readonly path: string;
  /** The object's name. Missing for creates if the log does not have it. */
  readonly name: string | undefined;
  readonly code: number;
}

/** Resources that an operator writes in addition to its work: Leases, Events, access reviews. */
const HOUSEKEEPING: readonly (string | undefined)[] = ["leases", "events", "selfsubjectaccessreviews"];

/** Follows the writes of one user. */
export interface Writes extends Disposable {
  /** Returns the writes since the last call. */
  next(): Write[];
}

/**
 * Opens an audit log at its current end.
 *
 * @param path The log.
 * @param user The user whose writes are returned.
 */
export function followWrites(path: string, user: string): Writes {
  const file = Deno.openSync(path);
  file.seekSync(0, Deno.SeekMode.End);
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(1 << 20);
  let rest = "";
  return {
    next() {
      for (let count = file.readSync(buffer); count !== null; count = file.readSync(buffer)) {
        rest += decoder.decode(buffer.subarray(0, count), { stream: true });
      }
      const lines = rest.split("\n");
      rest = lines.pop()!;
      return lines.map((line) => JSON.parse(line)).filter((event) =>
        event.user.username === user && !HOUSEKEEPING.includes(event.objectRef?.resource)
      ).map((event) => ({
        received: milliseconds(event.requestReceivedTimestamp),
        answered: milliseconds(event.stageTimestamp),
        verb: event.verb,
        path: event.requestURI,
        name: event.objectRef?.name,
        code: event.responseStatus?.code ?? 0,
      }));
    },
    [Symbol.dispose]: () => file.close(),
  };
}

/** Parses a timestamp with microseconds, which `Date` does not support. */
function milliseconds(timestamp: string): number {
  return Date.parse(`${timestamp.slice(0, 19)}Z`) + Number(`0${timestamp.slice(19, -1)}`) * 1000;
}
