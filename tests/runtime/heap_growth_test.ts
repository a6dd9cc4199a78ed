/** Memory of an operator that runs for a day. */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";

Deno.test("the heap of an operator grows by at most 1 % from hour 4 to hour 24 of a day with resyncs, failures and broken watches", async () => {
  const main = fileURLToPath(new URL("_day.ts", import.meta.url));
  const config = fileURLToPath(new URL("../../deno.json", import.meta.url));
  // V8's optimizing compilers are off, because their code grows over time. The baseline compiler
  // compiles all code at once.
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--no-check",
      "--no-lock",
      "--v8-flags=--expose-gc,--no-opt,--no-maglev,--always-sparkplug",
      `--config=${config}`,
      main,
    ],
  }).output();
  assert.equal(code, 0, new TextDecoder().decode(stderr));
  const hours: { hour: number; bytes: number; runs: number }[] = new TextDecoder().decode(stdout).trim().split("\n")
    .map((line) => JSON.parse(line));
  assert(hours.at(-1)!.runs > 20_000, `${hours.at(-1)!.runs} runs`);
  const measured = hours.filter(({ hour }) => hour >= 4);
  const growth = slope(measured.map(({ hour, bytes }) => [hour, bytes])) * 20 / measured[0]!.bytes;
  assert(growth <= 0.01, `${(100 * growth).toFixed(2)} %: ${measured.map(({ bytes }) => bytes).join(", ")}`);
});

/** Returns the slope of the linear regression of some points. */
function slope(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (of: (point: readonly [number, number]) => number) =>
    points.reduce((sum, p) => sum + of(p), 0) / points.length;
  const [mx, my] = [mean(([x]) => x), mean(([, y]) => y)];
  const above = points.reduce((sum, [x, y]) => sum + (x - mx) * (y - my), 0);
  return above / points.reduce((sum, [x]) => sum + (x - mx) ** 2, 0);
}
