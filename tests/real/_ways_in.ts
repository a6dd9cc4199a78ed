/** Ways into a real cluster for a test: clients by kubeconfig, and a proxy that counts connections. */
import { systemClock } from "../../src/base/clock.ts";
import { Client } from "../../src/kube/client.ts";
import { connect } from "../../src/kube/connect.ts";
import type { Connection } from "../../src/kube/connection.ts";
import { denoMachine } from "../../src/operator/machine.ts";

/** A client with a connection of its own. */
export interface OwnClient extends Disposable {
  readonly client: Client;
  readonly connection: Connection;
}

/** A folder for a test's files. */
export interface Folder extends AsyncDisposable {
  readonly path: string;
  /** Writes files; those in folders below make them. */
  write(files: Readonly<Record<string, string>>): Promise<void>;
}

/** Makes a folder that is gone with the test. */
export async function temporaryFolder(): Promise<Folder> {
  const path = await Deno.makeTempDir({ prefix: "real-test-" });
  return {
    path,
    async write(files) {
      for (const [name, text] of Object.entries(files)) {
        const file = `${path}/${name}`;
        await Deno.mkdir(file.slice(0, file.lastIndexOf("/")), { recursive: true });
        await Deno.writeTextFile(file, text);
      }
    },
    [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }),
  };
}

/**
 * A client that finds its way by a kubeconfig file, as an operator outside of a cluster does.
 *
 * @param kubeconfig The file's path.
 */
export async function clientBy(kubeconfig: string): Promise<OwnClient> {
  const connection = await connect(denoMachine, systemClock, { kubeconfig });
  return clientOf(connection);
}

/** A client of a connection; it closes the connection. */
export function clientOf(connection: Connection): OwnClient {
  return {
    client: new Client(connection, { userAgent: "test" }),
    connection,
    [Symbol.dispose]: () => connection.close(),
  };
}

/** A way to a port of the loopback that counts who comes along. */
export interface CountingProxy extends Disposable {
  readonly port: number;
  /** How many connections were opened so far. */
  readonly opened: number;
  /** How many of them are open now. */
  readonly open: number;
}

/**
 * Opens a proxy for TCP. What is in the bytes it does not know.
 *
 * @param port Where it leads.
 */
export function countingProxy(port: number): CountingProxy {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const ends = new Set<Deno.TcpConn>();
  let opened = 0;
  let open = 0;
  (async () => {
    for await (const near of listener) {
      opened++;
      open++;
      pass(near, port).catch(() => undefined).finally(() => open--);
    }
  })();

  async function pass(near: Deno.TcpConn, port: number): Promise<void> {
    ends.add(near);
    const far = await Deno.connect({ hostname: "127.0.0.1", port });
    ends.add(far);
    await Promise.allSettled([near.readable.pipeTo(far.writable), far.readable.pipeTo(near.writable)]);
    ends.delete(near);
    ends.delete(far);
  }

  return {
    port: listener.addr.port,
    get opened() {
      return opened;
    },
    get open() {
      return open;
    },
    [Symbol.dispose]() {
      listener.close();
      for (const end of ends) {
        try {
          end.close();
        } catch { /* its stream has closed it */ }
      }
    },
  };
}
