/**
 * Attacks on the ports of a compiled operator under the limits of its generated Deployment.
 * At the same time, an API server requests reviews from another address, and each must be answered.
 */
import assert from "node:assert/strict";
import { operator, webhook } from "../../mod.ts";
import { attack } from "../fixtures/attacker.ts";
import { eventually, HANG_LIMIT } from "../eventually.ts";
import { Note, PATH, review } from "../fixtures/reviews.ts";
import { buildOperator, freePort } from "../fixtures/build_operator.ts";
import { createFiles, generatedMemoryLimit, type LimitedProcess, startLimited } from "./_limited_operator.ts";

const ATTACKER = "127.0.0.2";

const SMALL = JSON.stringify(review("hello"));

Deno.test("a compiled operator under its generated limits answers every review while clients attack it", async (t) => {
  await using files = await createFiles();
  const [port, health] = [freePort(), freePort()];
  await using built = await buildOperator(`
    import { operator, webhook } from "repository/mod.ts";
    import { Note } from "repository/tests/fixtures/reviews.ts";
    const noteRules = webhook(Note, { validate() {} });
    const op = operator({
      name: "notes",
      parts: { noteRules },
      health: { hostname: "127.0.0.1", port: ${health} },
      sandbox: { net: ["127.0.0.1"], read: [${JSON.stringify(files.folder)}] },
      webhooks: { hostname: "127.0.0.1", port: ${port} },
    });
    export default op;
    if (import.meta.main) await op.main();
  `);
  const noteRules = webhook(Note, { validate() {} });
  const memory = generatedMemoryLimit(operator({ name: "notes", parts: { noteRules } }));

  await t.step("with 1,024 descriptors and the generated memory limit", async (t) => {
    await using running = await startLimited(built.path, files, { memory, descriptors: 1024 });
    await running.logged(({ msg }) => msg === "Webhooks served");
    await using server = reviewClient(port, files.authority, running);
    await server.review(SMALL, 200);
    const before = running.descriptors();

    await t.step("1,100 connections that are reset after their handshake leave no descriptors open", async () => {
      const reviews = server.reviewContinuously(SMALL);
      await using reset = await attack(port, { kind: "reset-tls", count: 1100, address: ATTACKER });
      assert.equal(reset.results.length, 1100);
      await reviews.stop();
      await untilDescriptorsAtMost(running, before + 40);
    });

    await t.step(
      "800 idle connections and 300 slow bodies do not block 1,000 reviews",
      async () => {
        await using _idle = await attack(port, { kind: "idle", count: 800, address: ATTACKER });
        await using _slow = await attack(port, { kind: "slow", count: 300, address: ATTACKER, path: PATH });
        await using _large = await attack(port, { kind: "slow-large", count: 50, address: ATTACKER, path: PATH });
        await server.review(SMALL, 1000);
      },
    );

    await t.step("12,000 unfinished bodies on 60 HTTP/2 connections do not block other reviews", async () => {
      const reviews = server.reviewContinuously(SMALL);
      await using _unfinished = await attack(port, { kind: "http2", count: 60, address: ATTACKER, path: PATH });
      await server.review(SMALL, 200);
      await reviews.stop();
    });

    await t.step("20 bodies of 7 MiB at once, three times, are all answered", async () => {
      const large = JSON.stringify(review("x".repeat(6.9 * 2 ** 20)));
      for (let i = 0; i < 3; i++) await server.review(large, 20, 20);
    });

    await t.step(
      "bodies that use 20 times their length when parsed do not exhaust memory or block other reviews",
      async () => {
        const reviews = server.reviewContinuously(SMALL);
        for (const length of [20_000, 600_000, 2_000_000]) {
          const wide = review();
          Object.assign(wide.request.object, { data: Array(length / 3 | 0).fill({}) });
          for (let i = 0; i < 3; i++) await server.review(JSON.stringify(wide), 10, 10, [200, 413, 429, 504]);
        }
        await reviews.stop();
      },
    );

    await t.step("memory stays far below the limit, and SIGTERM ends it with exit code 0", async () => {
      await server.review(SMALL, 10);
      assert(running.peakMemory() < memory, `${running.peakMemory()} of ${memory} bytes were resident`);
      assert.equal(await running.stop("SIGTERM"), 0);
    });
  });

  await t.step("with 64 descriptors", async (t) => {
    await using running = await startLimited(built.path, files, { memory, descriptors: 64 });
    await running.logged(({ msg }) => msg === "Webhooks served");
    await using server = reviewClient(port, files.authority, running);
    await server.review(SMALL, 10, 4);
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
        await server.reviewUntilAnswered(SMALL);
        await server.review(SMALL, 100, 4);
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
function reviewClient(port: number, authority: string, { log }: LimitedProcess) {
  const client = Deno.createHttpClient({ caCerts: [authority], http2: false });
  const reviewOnce = async (body: string, statuses: readonly number[]): Promise<void> => {
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
  const reviewAll = async (body: string, count: number, concurrency = 16, statuses = [200]): Promise<void> => {
    let left = count;
    await Promise.all(Array.from({ length: concurrency }, async () => {
      while (left-- > 0) await reviewOnce(body, statuses);
    }));
  };
  return {
    review: reviewAll,
    /**
     * Requests reviews one after another until it is stopped. Fails if a review gets no response.
     */
    reviewContinuously(body: string) {
      let isStopped = false;
      const reviews = (async () => {
        while (!isStopped) await reviewOnce(body, [200]);
      })();
      reviews.catch(() => {});
      return {
        async stop(): Promise<void> {
          isStopped = true;
          await reviews;
        },
      };
    },
    /**
     * Repeats a request until it gets a response. The server may have closed the client's
     * connections to free descriptors, which the client only notices when it uses them.
     */
    reviewUntilAnswered: (body: string): Promise<void> => eventually(() => reviewOnce(body, [200])),
    [Symbol.asyncDispose]: () => Promise.resolve(client.close()),
  };
}

async function untilDescriptorsAtMost(running: LimitedProcess, most: number): Promise<void> {
  await eventually(() => assert(running.descriptors() <= most, `${running.descriptors()} descriptors are open`));
}
