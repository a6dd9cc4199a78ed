import assert from "node:assert/strict";
import { join } from "node:path";
import { RecordedIo } from "../_recorded_io.ts";
import type { OperatorFacts } from "../inspect.ts";
import { buildImage } from "./image.ts";

const IMAGE = "registry.example.com/team/shop:1.2.0";

function facts(builder: OperatorFacts["builder"]): Pick<OperatorFacts, "builder" | "manifests"> {
  const deployment = { kind: "Deployment", spec: { template: { spec: { containers: [{ image: IMAGE }] } } } };
  return { builder, manifests: { manager: [{ kind: "ServiceAccount" }, deployment] } as never };
}

Deno.test("buildImage runs the builder in the project, with the image in its arguments and its environment", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const io = new RecordedIo("/");
    const args = ["-c", 'echo "$IMG $1 $2" > output; echo one; echo two >&2', "sh", "--tag=$IMG", "."];
    await buildImage(facts({ binary: "sh", args }), folder, io);
    // The shell's own "$IMG" was replaced as well.
    assert.equal(await Deno.readTextFile(join(folder, "output")), `${IMAGE} --tag=${IMAGE} .\n`);
    assert.deepEqual([io.stdout, io.stderr], [`\nBuilt image ${IMAGE}\n`, "one\ntwo\n"]);
    await buildImage(facts({ binary: "sh", args: ["-c", "printenv IMG > output"] }), folder, io);
    assert.equal(await Deno.readTextFile(join(folder, "output")), `${IMAGE}\n`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("buildImage reports which command failed, and where to configure another builder", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const io = new RecordedIo("/");
    await assert.rejects(
      buildImage(facts({ binary: "sh", args: ["-c", "echo no space >&2; exit 3"] }), folder, io),
      { name: "Failure", message: `Cannot build image "${IMAGE}": "sh -c echo no space >&2; exit 3" failed.` },
    );
    assert.equal(io.stderr, "no space\n");
    await assert.rejects(
      buildImage(facts({ binary: "no-such-builder" }), folder, io),
      /^Failure: Cannot run "no-such-builder": the program is not installed, or not on the PATH\. Name the image builder in operator\.toml: \[build/,
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
