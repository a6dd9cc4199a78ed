import assert from "node:assert/strict";
import { setImmediate } from "node:timers";
import { VirtualClock } from "../base/virtual_clock.ts";
import { settingsSource } from "./settings_source.ts";

Deno.test("settingsSource reads the file again every 10 s, and reports changes and errors", async () => {
  const path = await Deno.makeTempFile({ suffix: ".toml" });
  const write = (line: string) => Deno.writeTextFile(path, `[operator]\n${line}\n`);
  try {
    await write('log_level = "info"');
    const source = settingsSource({ config: path }, false);
    const level = (settings: Awaited<ReturnType<typeof source.read>>) => settings.get("log_level")?.value;
    assert.equal(level(await source.read()), "info");
    const clock = new VirtualClock();
    const reported: unknown[] = [];
    let next = Promise.withResolvers<void>();
    const report = (value: unknown): Promise<void> => {
      reported.push(value);
      next.resolve();
      return Promise.resolve();
    };
    using _following = source.follow(
      clock,
      (settings) => report(level(settings)),
      ({ message }) => void report(message),
    );
    for (const line of ['log_level = "debug"', 'log_level = "loud"', 'log_level = "warn"']) {
      next = Promise.withResolvers();
      await write(line);
      while (clock.nextDue === undefined) await new Promise<void>((resolve) => setImmediate(resolve));
      clock.step(clock.nextDue);
      await next.promise;
    }
    assert.deepEqual([reported[0], reported[2]], ["debug", "warn"]);
    assert.match(String(reported[1]), /must be one of debug, info, warn, error, got "loud"\.$/);
  } finally {
    await Deno.remove(path);
  }
});
