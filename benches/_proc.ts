/** What a process has used, as Linux tells it. */

// USER_HZ: a constant of Linux' interface to programs (man 5 proc), whatever the kernel's own tick is.
const TICKS_PER_SECOND = 100;

/**
 * CPU time of a process in seconds, user and system, all threads.
 *
 * @param pid The process.
 */
export function cpuSeconds(pid: number): number {
  const text = Deno.readTextFileSync(`/proc/${pid}/stat`);
  // The name in brackets may have spaces: fields are counted behind it. utime and stime are fields 14 and 15.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** CPU time in seconds of all processes that this one started and that have ended. */
export function cpuSecondsOfEnded(): number {
  const text = Deno.readTextFileSync("/proc/self/stat");
  // cutime and cstime are fields 16 and 17.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND;
}

/** Memory of a process, in MB of 1,000,000 bytes. */
export interface Memory {
  /** Resident now. */
  readonly rss: number;
  /** Resident at most so far. */
  readonly peak: number;
  /** Resident now, pages that others have as well by share. */
  readonly pss: number;
}

/**
 * Memory of a process.
 *
 * @param pid The process.
 */
export function memory(pid: number): Memory {
  const status = Deno.readTextFileSync(`/proc/${pid}/status`);
  return {
    rss: megabytes(status, "VmRSS"),
    peak: megabytes(status, "VmHWM"),
    pss: megabytes(Deno.readTextFileSync(`/proc/${pid}/smaps_rollup`), "Pss"),
  };
}

function megabytes(text: string, name: string): number {
  const [, kibibytes] = new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(text) ?? [];
  if (kibibytes === undefined) throw new Error(`Cannot read the memory of a process: there is no ${name}`);
  return Number(kibibytes) * 1024 / 1e6;
}
