/** Tokens in files, which are replaced while we run. */
import type { Clock } from "../base/clock.ts";
import { CredentialError, type TokenSource } from "./http.ts";
import type { Machine } from "./machine.ts";
import { whyUnreadable } from "./unreadable.ts";

// client-go reads the file anew after a minute; the kubelet renews a token at 80 % of its life, an hour by default.
const FRESH_FOR = 60_000;

/**
 * A token that is read from a file, and read again when a minute has passed or it was refused.
 *
 * @param path The file.
 * @param machine Reads it.
 * @param clock Says when a minute has passed.
 * @returns The source. It throws a {@linkcode CredentialError} when the file cannot be read or is empty.
 */
export function tokenFile(path: string, machine: Machine, clock: Clock): TokenSource {
  let held: { token: string; read: { now: number; elapsed: number } } | undefined;
  return async (again) => {
    const { now, elapsed } = held?.read ?? { now: 0, elapsed: 0 };
    // By the clock that went further: one may be set back, the other stands still while the machine sleeps.
    const age = Math.max(clock.now() - now, clock.elapsed() - elapsed);
    if (held !== undefined && !again && age < FRESH_FOR) return held.token;
    try {
      held = { token: await read(path, machine), read: { now: clock.now(), elapsed: clock.elapsed() } };
    } catch (error) {
      // While the file is being replaced, the token that was good is tried on.
      if (held === undefined || again) throw error;
    }
    return held.token;
  };
}

async function read(path: string, machine: Machine): Promise<string> {
  let text: string;
  try {
    text = await machine.readText(path);
  } catch (cause) {
    throw new CredentialError(`Cannot read the token file "${path}": it ${whyUnreadable(cause, path)}`, { cause });
  }
  if (text.trim() === "") throw new CredentialError(`Cannot read the token file "${path}": it is empty`);
  return text.trim();
}
