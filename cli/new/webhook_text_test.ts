/** The files of `op new webhook`, compiled and called by an API server. */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import * as builtin from "@op/sdk/kinds";
import type { AnyKind } from "@op/sdk";
import { namesOf } from "./kind_names.ts";
import { projectConfig } from "./project_config.ts";
import { subjectOf } from "./webhook_subject.ts";
import { webhookTestText, webhookText } from "./webhook_text.ts";

const KINDS = (Object.values(builtin) as unknown as Partial<AnyKind>[]).filter((one): one is AnyKind =>
  one.apiVersion !== undefined && one.plural !== undefined
);
const SDK = fileURLToPath(new URL("../../", import.meta.url));

Deno.test("op new webhook writes a passing test for each built-in kind whose objects can have any name", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/deno.json`, projectConfig("webhooks", { sdk: SDK }));
    // All in one module: several would load the SDK several times.
    const tests: string[] = [];
    for (const { kind, version: apiVersion, group, plural } of KINDS) {
      const names = namesOf({ kind, apiVersion, group }, plural, true);
      const subject = subjectOf(names, { samples: [] });
      // An API server calls no webhooks for this group.
      if (subject === undefined || group === "admissionregistration.k8s.io") continue;
      for (const type of ["validation", "mutation"] as const) {
        const module = {
          names,
          key: `${names.camel}${type === "validation" ? "Validation" : "Mutation"}`,
          from: "@op/sdk/kinds",
        };
        const kindFolder = `${folder}/${names.folder}`;
        await Deno.mkdir(kindFolder, { recursive: true });
        await Deno.writeTextFile(`${kindFolder}/${type}.ts`, webhookText(type, module));
        await Deno.writeTextFile(`${kindFolder}/${type}_test.ts`, webhookTestText(type, module, subject.object));
        tests.push(`import "./${names.folder}/${type}_test.ts";\n`);
      }
    }
    assert(tests.length > 80, `${tests.length} tests`);
    await Deno.writeTextFile(`${folder}/all.ts`, tests.join(""));
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["test", "--allow-all", "--quiet", "all.ts"],
      cwd: folder,
      env: { NO_COLOR: "1" },
    }).output();
    const output = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
    assert.equal(code, 0, output);
    assert(output.includes(`ok | ${tests.length} passed | 0 failed`), output);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
