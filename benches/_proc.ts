/** CPU time and memory of a process, from Linux' /proc. */

// USER_HZ is a constant of Linux' interface (man 5 proc) and does not depend on the kernel's own
// tick.
const TICKS_PER_SECOND = 100;

/**
 * Returns the CPU time of a process in seconds: user and system, all threads.
 *
 * @param pid The process.
 */
export function cpuSeconds(pid: number): number {
  const text = Deno.readTextFileSync(`/proc/${pid}/stat`);
  // The name in brackets may contain spaces, so fields are counted after it. utime and stime are
  // fields 14 and 15.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** Returns the CPU time in seconds of all child processes that have exited. */
export function cpuSecondsOfEnded(): number {
  const text = Deno.readTextFileSync("/proc/self/stat");
  // cutime and cstime are fields 16 and 17.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND;
}

/** Memory of a process, in MB of 1,000,000 bytes. */
export interface Memory {
  /** Resident set size. */
  readonly rss: number;
  /** Peak resident set size. */
  readonly peak: number;
  /** Proportional set size: shared pages count by share. */
  readonly pss: number;
}

/**
 * Returns the memory of a process.
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
  if (kibibytes === undefined) throw new Error(`Cannot read the memory of a process: /proc has no ${name}`);
  return Number(kibibytes) * 1024 / 1e6;
}
