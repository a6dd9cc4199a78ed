/**
 * Attacks on the ports of a compiled operator under the limits of its generated Deployment.
 * Meanwhile, an API server requests reviews from another address, and none of them may be lost.
 */
import assert from "node:assert/strict";
import { operator, webhook } from "../../mod.ts";
import { attack } from "../fixtures/attacker.ts";
import { eventually, HANG_LIMIT } from "../eventually.ts";
import { Note, PATH, review } from "../fixtures/reviews.ts";
import { buildOperator, freePort } from "../fixtures/build_operator.ts";
import { generatedMemoryLimit, type LimitedProcess, place, startLimited } from "./_limited_operator.ts";

const ATTACKER = "127.0.0.2";

const SMALL = JSON.stringify(review("hello"));

Deno.test("a compiled operator under its generated limits answers every review while clients attack it", async (t) => {
  await using around = await place();
  const [port, health] = [freePort(), freePort()];
  await using built = await buildOperator(`
    import { operator, webhook } from "repository/mod.ts";
    import { Note } from "repository/tests/fixtures/reviews.ts";
    const noteRules = webhook(Note, { validate() {} });
    const op = operator({
      name: "notes",
      parts: { noteRules },
      health: { hostname: "127.0.0.1", port: ${health} },
      sandbox: { net: ["127.0.0.1"], read: [${JSON.stringify(around.folder)}] },
      webhooks: { hostname: "127.0.0.1", port: ${port} },
    });
    export default op;
    if (import.meta.main) await op.main();
  `);
  const noteRules = webhook(Note, { validate() {} });
  const memory = generatedMemoryLimit(operator({ name: "notes", parts: { noteRules } }));

  await t.step("with 1,024 descriptors and the generated memory limit", async (t) => {
    await using running = await startLimited(built.path, around, { memory, descriptors: 1024 });
    await running.logged(({ msg }) => msg === "Webhooks served");
    await using server = reviewing(port, around.authority, running);
    await server.ask(SMALL, 200);
    const before = running.descriptors();

    await t.step("1,100 connections that are reset after their handshake leave no descriptors open", async () => {
      const asking = server.askDuring(SMALL);
      await using reset = await attack(port, { kind: "reset-tls", count: 1100, address: ATTACKER });
      assert.equal(reset.results.length, 1100);
      await asking.stop();
      await fallsTo(running, before + 40);
    });

    await t.step(
      "800 idle connections and 300 slow bodies do not block 1,000 reviews",
      async () => {
        await using _idle = await attack(port, { kind: "idle", count: 800, address: ATTACKER });
        await using _slow = await attack(port, { kind: "slow", count: 300, address: ATTACKER, path: PATH });
        await using _large = await attack(port, { kind: "slow-large", count: 50, address: ATTACKER, path: PATH });
        await server.ask(SMALL, 1000);
      },
    );

    await t.step("12,000 unfinished bodies on 60 HTTP/2 connections do not block other reviews", async () => {
      const asking = server.askDuring(SMALL);
      await using _unfinished = await attack(port, { kind: "http2", count: 60, address: ATTACKER, path: PATH });
      await server.ask(SMALL, 200);
      await asking.stop();
    });

    await t.step("20 bodies of 7 MiB at once, three times, are all answered", async () => {
      const large = JSON.stringify(review("x".repeat(6.9 * 2 ** 20)));
      for (let i = 0; i < 3; i++) await server.ask(large, 20, 20);
    });

    await t.step(
      "bodies that use 20 times their length when parsed do not exhaust memory or block other reviews",
      async () => {
        const asking = server.askDuring(SMALL);
        for (const length of [20_000, 600_000, 2_000_000]) {
          const wide = review();
          Object.assign(wide.request.object, { data: Array(length / 3 | 0).fill({}) });
          for (let i = 0; i < 3; i++) await server.ask(JSON.stringify(wide), 10, 10, [200, 413, 429, 504]);
        }
        await asking.stop();
      },
    );

    await t.step("memory stays far below the limit, and SIGTERM ends it with exit code 0", async () => {
      await server.ask(SMALL, 10);
      assert(running.peakMemory() < memory, `${running.peakMemory()} of ${memory} bytes were resident`);
      assert.equal(await running.stop("SIGTERM"), 0);
    });
  });

  await t.step("with 64 descriptors", async (t) => {
    await using running = await startLimited(built.path, around, { memory, descriptors: 64 });
    await running.logged(({ msg }) => msg === "Webhooks served");
    await using server = reviewing(port, around.authority, running);
    await server.ask(SMALL, 10, 4);
    const livez = async () => {
      const response = await fetch(`http://127.0.0.1:${health}/livez`, { signal: AbortSignal.timeout(HANG_LIMIT) });
      return await response.text();
    };

    await t.step("health responds while idle connections use all descriptors, and afterwards", async () => {
      {
        await using _idle = await attack(health, { kind: "plain", count: 200 });
        assert.match(await livez(), /^\[\+\]event loop/);
      }
      assert.match(await livez(), /^\[\+\]event loop/);
    });

    await t.step(
      "webhooks respond after idle connections have used all descriptors, and health throughout",
      async () => {
        {
          await using _idle = await attack(port, { kind: "idle", count: 100, address: ATTACKER });
          assert.match(await livez(), /^\[\+\]event loop/);
        }
        await server.askUntilAnswered(SMALL);
        await server.ask(SMALL, 100, 4);
      },
    );

    await t.step("SIGTERM ends it with exit code 0", async () => {
      assert.equal(await running.stop("SIGTERM"), 0);
    });
  });
});

/**
 * Requests reviews as an API server does: over HTTP/1.1, with persistent connections. Errors quote
 * the operator's last log lines, which include a panic of Deno.
 */
function reviewing(port: number, authority: string, { log }: LimitedProcess) {
  const client = Deno.createHttpClient({ caCerts: [authority], http2: false });
  const once = async (body: string, statuses: readonly number[]): Promise<void> => {
    try {
      await request(body, statuses);
    } catch (cause) {
      const lines = log.slice(-10).map((line) => JSON.stringify(line)).join("\n");
      throw new Error(`Review of ${body.length} bytes failed: ${cause}\n${lines}`, { cause });
    }
  };
  const request = async (body: string, statuses: readonly number[]): Promise<void> => {
    const response = await fetch(`https://127.0.0.1:${port}${PATH}?timeout=30s`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
      client,
      signal: AbortSignal.timeout(HANG_LIMIT),
    });
    const text = await response.text();
    assert(statuses.includes(response.status), `${response.status}: ${text}`);
    if (response.status === 200) assert.equal(JSON.parse(text).response.allowed, true);
  };
  const ask = async (body: string, count: number, atOnce = 16, statuses = [200]): Promise<void> => {
    let left = count;
    await Promise.all(Array.from({ length: atOnce }, async () => {
      while (left-- > 0) await once(body, statuses);
    }));
  };
  return {
    ask,
    /** Requests one review after the other until it is stopped. Fails if one got no response. */
    askDuring(body: string) {
      let isOver = false;
      const asking = (async () => {
        while (!isOver) await once(body, [200]);
      })();
      asking.catch(() => {});
      return {
        async stop(): Promise<void> {
          isOver = true;
          await asking;
        },
      };
    },
    /**
     * Repeats a request until it gets a response: using a connection shows whether the server
     * closed it for others.
     */
    askUntilAnswered: (body: string): Promise<void> => eventually(() => once(body, [200])),
    [Symbol.asyncDispose]: () => Promise.resolve(client.close()),
  };
}

async function fallsTo(running: LimitedProcess, most: number): Promise<void> {
  await eventually(() => assert(running.descriptors() <= most, `${running.descriptors()} descriptors are open`));
}
