/**
 * The operator of the soak test. Some of its reconciles fail. On SIGUSR1 it logs its memory after a
 * garbage collection (V8's `gc()`).
 */
import op from "../../tests/fixtures/operators/misbehaving.ts";

const { gc } = globalThis as unknown as { gc: () => void };

if (import.meta.main) {
  Deno.addSignalListener("SIGUSR1", () => {
    gc();
    console.error(JSON.stringify({ msg: "Memory measured", ...Deno.memoryUsage() }));
  });
  await op.main();
}
