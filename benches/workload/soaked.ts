/** The operator of the soak: the one that misbehaves, and tells on SIGUSR1 what it holds when all garbage is gone. Needs V8's gc(). */
import op from "../../tests/real/_misbehaving.ts";

const { gc } = globalThis as unknown as { gc: () => void };

if (import.meta.main) {
  Deno.addSignalListener("SIGUSR1", () => {
    gc();
    console.error(JSON.stringify({ msg: "Held", ...Deno.memoryUsage() }));
  });
  await op.main();
}
