/** A way to a real API server on which a test lets things go wrong. */
import type { Clock } from "../../src/base/clock.ts";
import type { Connection } from "../../src/kube/connection.ts";
import type { RealCluster } from "../../src/testing/real_cluster.ts";

/** A connection that can be disturbed. */
export interface Disturbed extends Connection {
  /** How often something went wrong. */
  readonly count: number;
  /** What befalls every third write; nothing when all is well. */
  writes(fault: ((request: Request) => Promise<Response>) | undefined): void;
  /** Streams that are open from here on bring nothing more, and stay open; later ones do. */
  silence(): void;
}

/** A connection as the administrator. */
export function disturbed(cluster: RealCluster): Disturbed {
  let fault: ((request: Request) => Promise<Response>) | undefined;
  let sent = 0;
  let count = 0;
  let silenced = { is: false };
  return {
    url: cluster.url,
    get count() {
      return count;
    },
    writes: (other) => void (fault = other),
    silence() {
      silenced.is = true;
      silenced = { is: false };
    },
    async fetch(request) {
      if (request.method !== "GET" && !request.url.includes("/events") && fault !== undefined && ++sent % 3 === 0) {
        count++;
        return await fault(request);
      }
      const response = await cluster.fetch(request);
      if (!new URL(request.url).searchParams.has("watch") || response.body === null) return response;
      const held = silenced;
      const through = new TransformStream<Uint8Array, Uint8Array>({
        transform(bytes, controller) {
          if (!held.is) controller.enqueue(bytes);
        },
      });
      return new Response(response.body.pipeThrough(through), response);
    },
    close() {},
  };
}

/** A clock on which time goes by so many times faster than the machine's. */
export function hastened(clock: Clock, times: number): Clock {
  const [now, elapsed] = [clock.now(), clock.elapsed()];
  return {
    now: () => now + (clock.now() - now) * times,
    elapsed: () => elapsed + (clock.elapsed() - elapsed) * times,
    after: (delay, callback) => clock.after(delay / times, callback),
  };
}
