/** `op crd import --cluster` on a real API server, which returns definitions with defaults. */
import assert from "node:assert/strict";
import { RecordedIo } from "../../cli/_recorded_io.ts";
import { cli } from "../../cli/cli.ts";
import { importKind } from "../../cli/import/import.ts";
import { isObject } from "../../src/base/json.ts";
import { realCluster, type UserAccess } from "../../src/testing/real_cluster.ts";
import { install } from "./_install.ts";
import { fleet, garden } from "./_subjects.ts";

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

Deno.test("op crd import --cluster lists the kinds of a cluster, and imports one as from its file", async (t) => {
  await using cluster = await realCluster();
  const folder = await Deno.makeTempDir();
  const importWith = async (access: UserAccess, args: readonly string[]): Promise<Ended> => {
    await Deno.writeTextFile(`${folder}/config`, access.kubeconfig);
    const io = new RecordedIo(folder);
    const code = await cli(["crd", "import", "--kubeconfig", "config", ...args], io);
    return { code, stdout: io.stdout, stderr: io.stderr };
  };
  try {
    await t.step("reports that the cluster has no definitions", async () => {
      const stderr = "The cluster has no CustomResourceDefinitions\n";
      assert.deepEqual(await importWith(cluster.admin, ["--cluster"]), { code: 0, stdout: "", stderr });
    });
    const { definition } = await garden();
    for (const each of [definition, fleet().definition]) await install(cluster, each, "Strict");
    await t.step("lists the definitions if no name is given", async () => {
      const { code, stdout } = await importWith(cluster.admin, ["--cluster"]);
      assert.deepEqual([code, stdout.split("\n")], [0, [
        "NAME                     KIND    VERSIONS",
        "fleets.own.example.com   Fleet   v1*",
        "gardens.own.example.com  Garden  v1alpha1,v1*",
        "",
      ]]);
    });
    const file = new RecordedIo();
    await importKind("-", {}, file, () => Promise.resolve(JSON.stringify(asServed(definition))));
    for (const name of ["Garden", "gardens", "gd", "gardens.own.example.com"]) {
      await t.step(`"${name}" is imported as from its file`, async () => {
        const { code, stdout, stderr } = await importWith(cluster.admin, ["--cluster", name]);
        assert.deepEqual([code, stdout, stderr], [0, file.stdout, file.stderr]);
      });
    }
    await t.step("suggests similar names for an unknown name", async () => {
      const stderr = 'Cannot import "gradens": unknown kind. Did you mean "Garden"? Known kinds: "Garden", "Fleet".\n';
      assert.deepEqual(await importWith(cluster.admin, ["--cluster", "gradens"]), { code: 1, stdout: "", stderr });
    });
    await t.step("names the missing permission to list definitions", async () => {
      const { code, stdout, stderr } = await importWith(await cluster.user("ann"), ["--cluster"]);
      assert.deepEqual([code, stdout], [1, ""]);
      assert.match(stderr, /is forbidden/);
      assert.match(
        stderr,
        /scope\. Ask for the verb "list" on "customresourcedefinitions" of "apiextensions\.k8s\.io"/,
      );
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

/** Returns a module with sorted names of properties. A server changes only their order. */
function asServed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asServed);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, asServed(item)] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}
