/** Reads tokens from files that the kubelet replaces while the process runs. */
import type { Clock } from "../base/clock.ts";
import { CredentialError, type TokenSource } from "./http.ts";
import { type Machine, unreadableReason } from "./machine.ts";

// In milliseconds, as in client-go. The kubelet renews a token after 80 % of its lifetime, which is
// one hour by default.
const MAX_AGE = 60_000;

/**
 * Returns a source that reads its token from a file. It reads the file again if the token is more
 * than a minute old or was rejected with 401.
 *
 * @param path Path of the file.
 * @param machine Reads the file.
 * @param clock Measures the age of the token.
 * @returns The source. It throws a {@linkcode CredentialError} if the file cannot be read or is
 * empty.
 */
export function tokenFile(path: string, machine: Machine, clock: Clock): TokenSource {
  let cached: { token: string; read: { now: number; elapsed: number } } | undefined;
  return async (again) => {
    const { now, elapsed } = cached?.read ?? { now: 0, elapsed: 0 };
    // The larger of two ages, because the time of day can be set back and `elapsed` stops while the
    // machine sleeps.
    const age = Math.max(clock.now() - now, clock.elapsed() - elapsed);
    if (cached !== undefined && !again && age < MAX_AGE) return cached.token;
    try {
      cached = { token: await read(path, machine), read: { now: clock.now(), elapsed: clock.elapsed() } };
    } catch (error) {
      // While the file is being replaced, the previous token is still used.
      if (cached === undefined || again) throw error;
    }
    return cached.token;
  };
}

async function read(path: string, machine: Machine): Promise<string> {
  let text: string;
  try {
    text = await machine.readText(path);
  } catch (cause) {
    throw new CredentialError(`Cannot read the token file "${path}": it ${unreadableReason(cause, path)}`, { cause });
  }
  if (text.trim() === "") throw new CredentialError(`Cannot read the token file "${path}": it is empty`);
  return text.trim();
}
