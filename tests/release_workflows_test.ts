/** The workflows that make releases, here and in a new project: pinned, with few permissions, and of commands that exist. */
import assert from "node:assert/strict";
import { parse } from "yaml";
import { RecordedIo } from "../cli/_recorded_io.ts";
import { cli } from "../cli/cli.ts";
import { projectConfig } from "../cli/new/project_config.ts";

interface Workflow {
  readonly on: { readonly push: { readonly tags: readonly string[] } };
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

interface Job {
  readonly needs?: string;
  readonly permissions: Readonly<Record<string, string>>;
  readonly "timeout-minutes"?: number;
  readonly steps: readonly { readonly uses?: string; readonly run?: string; readonly with?: Record<string, unknown> }[];
}

const ROOT = new URL("../", import.meta.url);

const WORKFLOWS = [
  {
    name: "of this repository",
    file: new URL(".github/workflows/release.yml", ROOT),
    config: await Deno.readTextFile(new URL("deno.json", ROOT)),
    permissions: {
      test: { contents: "read" },
      packages: { contents: "read", "id-token": "write" },
      op: { attestations: "write", contents: "write", "id-token": "write", packages: "write" },
    },
  },
  {
    name: "of a new project",
    file: new URL("templates/operator/.github/workflows/release.yml", ROOT),
    config: projectConfig("website-operator"),
    permissions: {
      test: { contents: "read" },
      image: { attestations: "write", contents: "write", "id-token": "write", packages: "write" },
    },
  },
];

/** Programs that a runner has, or that an action of the same job brings. */
const PROGRAMS = ["deno", "docker", "echo", "gh", "sudo", "tar", "cosign", "digest=$(docker"];

for (const { name, file, config, permissions } of WORKFLOWS) {
  Deno.test(`the release workflow ${name} is pinned, may do little, and its commands exist`, async (t) => {
    const text = await Deno.readTextFile(file);
    const workflow = parse(text) as Workflow;
    const { tasks } = JSON.parse(config) as { tasks: Record<string, unknown> };
    const jobs = Object.entries(workflow.jobs);
    const scripts = jobs.flatMap(([, { steps }]) => steps.flatMap(({ run }) => run ?? []));
    const commands = scripts.flatMap((script) => script.trim().split("\n"));

    await t.step("it runs for tags, and each job waits for the tests", () => {
      assert.deepEqual(workflow.on, { push: { tags: ["v*"] } });
      for (const [job, { needs, "timeout-minutes": minutes }] of jobs) {
        assert.equal(needs, job === "test" ? undefined : "test");
        assert(minutes !== undefined && minutes <= 60, `${job} ends by itself`);
      }
    });

    await t.step("nothing is permitted but what a job needs", () => {
      assert.deepEqual(workflow.permissions, {});
      assert.deepEqual(Object.fromEntries(jobs.map(([job, { permissions }]) => [job, permissions])), permissions);
    });

    await t.step("actions are named by their commit, with the version beside it", () => {
      const used = jobs.flatMap(([, { steps }]) => steps.flatMap(({ uses }) => uses ?? []));
      for (const action of used) {
        assert.match(action, /^[\w-]+\/[\w-]+@[0-9a-f]{40}$/);
        assert.match(text, new RegExp(`${action} # v\\d+\\.\\d+\\.\\d+\\n`));
      }
      // The same action is the same everywhere.
      assert.equal(new Set(used.map((action) => action.split("@")[0])).size, new Set(used).size);
    });

    await t.step("a checkout leaves no credentials behind", () => {
      for (const [, { steps }] of jobs) {
        const [checkout] = steps;
        assert.match(checkout?.uses ?? "", /^actions\/checkout@/);
        assert.deepEqual(checkout?.with, { "persist-credentials": false });
      }
    });

    await t.step("scripts are a shell's, and nothing is put into them from outside", async () => {
      for (const script of scripts) {
        assert.doesNotMatch(script, /\$\{\{/);
        const { success, stderr } = await new Deno.Command("sh", { args: ["-n", "-c", script] }).output();
        assert(success, new TextDecoder().decode(stderr));
      }
    });

    await t.step("programs, tasks, tools and options are there", async () => {
      for (const command of commands) {
        assert(PROGRAMS.includes(command.split(" ")[0] ?? ""), command);
        const [, task] = /\bdeno task (\S+)/.exec(command) ?? [];
        if (task !== undefined) assert(task in tasks, `deno task ${task}`);
        const [, tool] = /\bdeno run -A (\S+)/.exec(command) ?? [];
        if (tool !== undefined) await Deno.stat(new URL(tool, ROOT));
        const [, op] = /\bdeno task op (.*)$/.exec(command) ?? [];
        if (op === undefined) continue;
        const words = op.split(" ").filter((word) => /^[a-z]+$/.test(word));
        const io = new RecordedIo();
        assert.equal(await cli([...words.slice(0, 2), "--help"], io), 0, op);
        for (const [flag] of op.matchAll(/--[a-z-]+/g)) assert(io.stdout.includes(` ${flag} `), `op ${op}: ${flag}`);
      }
    });
  });
}
