/** A client that attacks a server with connections that Deno cannot make, from an address of its own. It needs Python 3 and its standard library alone. */
import { fileURLToPath } from "node:url";

const SCRIPT = fileURLToPath(new URL("_attacker.py", import.meta.url));

/** What a connection does. `reset` waits for a byte of the server, `reset-tls` for a handshake; the others stay open. */
export type AttackKind = "reset" | "reset-tls" | "idle" | "plain" | "slow" | "slow-large";

/** Options of {@linkcode attack}. */
export interface AttackOptions {
  readonly kind: AttackKind;
  /** How many connections, one after the other. */
  readonly count: number;
  /** The client's own address, on loopback. @default {"127.0.0.1"} */
  readonly address?: string;
  /** Where slow bodies are sent. @default {"/"} */
  readonly path?: string;
}

/** An attack whose connections have all been made. Disposing of it closes those that are open. */
export interface Attack extends AsyncDisposable {
  /** For each connection `done`, or the name of Python's error. */
  readonly results: readonly string[];
}

/**
 * Attacks a port of the loopback.
 *
 * @param port The port.
 * @param options How.
 */
export async function attack(port: number, options: AttackOptions): Promise<Attack> {
  const { kind, count, address = "127.0.0.1", path = "/" } = options;
  const process = new Deno.Command("python3", {
    args: [SCRIPT, String(port), address, kind, String(count), path],
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const results: string[] = [];
  let text = "";
  const reader = process.stdout.pipeThrough(new TextDecoderStream()).getReader();
  while (!text.endsWith("end\n")) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`Cannot attack: Python ended with ${(await process.status).code}`);
    text += value;
  }
  results.push(...text.trim().split("\n").slice(0, -1));
  return {
    results,
    async [Symbol.asyncDispose]() {
      await process.stdin.close();
      await process.status;
      await reader.cancel();
    },
  };
}
