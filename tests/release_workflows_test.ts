/**
 * The release workflows of this repository and of new projects: pinned actions, minimal
 * permissions, and commands that exist.
 */
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
  readonly env?: Readonly<Record<string, string>>;
  readonly steps: readonly Step[];
}

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Record<string, unknown>;
  readonly env?: Readonly<Record<string, string>>;
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
      build: { contents: "read" },
      op: { attestations: "write", contents: "write", "id-token": "write", packages: "write" },
    },
    needs: { test: undefined, packages: "test", build: "test", op: "build" },
  },
  {
    name: "of a new project",
    file: new URL("templates/operator/.github/workflows/release.yml", ROOT),
    config: projectConfig("website-operator"),
    permissions: {
      test: { contents: "read" },
      build: { contents: "read" },
      image: { attestations: "write", contents: "write", "id-token": "write", packages: "write" },
    },
    needs: { test: undefined, build: "test", image: "build" },
  },
];

/** Programs that a runner has, or that an action of the same job installs. */
const PROGRAMS = ["deno", "docker", "echo", "gh", "git", "sudo", "tar", "cosign", "digest=$(docker"];

for (const { name, file, config, permissions, needs } of WORKFLOWS) {
  Deno.test(`the release workflow ${name} pins its actions, has minimal permissions, and runs existing commands`, async (t) => {
    const text = await Deno.readTextFile(file);
    const workflow = parse(text) as Workflow;
    const { tasks } = JSON.parse(config) as { tasks: Record<string, unknown> };
    const jobs = Object.entries(workflow.jobs);
    const scripts = jobs.flatMap(([, { steps }]) => steps.flatMap(({ run }) => run ?? []));
    const commands = scripts.flatMap((script) => script.trim().split("\n"));

    await t.step("it runs for tags, and each job needs the tests or the build", () => {
      assert.deepEqual(workflow.on, { push: { tags: ["v*"] } });
      assert.deepEqual(Object.fromEntries(jobs.map(([job, { needs }]) => [job, needs])), needs);
      for (const [job, { "timeout-minutes": minutes }] of jobs) {
        assert(minutes !== undefined && minutes <= 60, `${job} has a timeout of at most 60 minutes`);
      }
    });

    await t.step("each job has only the permissions that it needs", () => {
      assert.deepEqual(workflow.permissions, {});
      assert.deepEqual(Object.fromEntries(jobs.map(([job, { permissions }]) => [job, permissions])), permissions);
    });

    await t.step("dependencies run only in jobs without write permissions, and only those of the lock file", () => {
      for (const [job, { permissions, steps }] of jobs) {
        const lines = steps.flatMap(({ run }) => run?.trim().split("\n") ?? []);
        const programs = lines.filter((line) => /\bdeno\b/.test(line));
        if (Object.values(permissions).includes("write")) {
          // `deno publish` uploads the sources, and runs none of them.
          assert(programs.every((line) => line === "deno publish"), `${job}: ${programs}`);
        } else assert.equal(programs[0], "deno ci", `${job} begins with "deno ci"`);
        if (lines.some((line) => /op_binary|task compile/.test(line))) {
          assert(lines.includes("git diff --exit-code deno.lock"), `${job} checks that the lock file is complete`);
        }
      }
    });

    await t.step("only the steps that need the token receive it", () => {
      assert.doesNotMatch(JSON.stringify(workflow.permissions), /write/);
      for (const [, { env = {}, steps }] of jobs) {
        assert.doesNotMatch(JSON.stringify(env), /github\.token|secrets\./);
        for (const { env = {}, run = "" } of steps) {
          const isNeeded = /\$GH_TOKEN|^gh /m.test(run);
          assert.deepEqual(env, isNeeded ? { GH_TOKEN: "${{ github.token }}" } : {});
        }
      }
    });

    await t.step("the job that publishes downloads the artifact of the build", () => {
      const [built, published] = ["upload", "download"].map((direction) =>
        jobs.flatMap(([, { steps }]) => steps.filter(({ uses }) => uses?.startsWith(`actions/${direction}-artifact@`)))
      );
      assert.equal(built?.length, 1);
      assert.deepEqual(published?.map((step) => step.with), [{ name: built[0]?.with?.name, path: "dist" }]);
    });

    await t.step("actions are pinned by commit, with the version in a comment", () => {
      const used = jobs.flatMap(([, { steps }]) => steps.flatMap(({ uses }) => uses ?? []));
      for (const action of used) {
        assert.match(action, /^[\w-]+\/[\w-]+@[0-9a-f]{40}$/);
        assert.match(text, new RegExp(`${action} # v\\d+\\.\\d+\\.\\d+\\n`));
      }
      // Each action has the same commit everywhere.
      assert.equal(new Set(used.map((action) => action.split("@")[0])).size, new Set(used).size);
    });

    await t.step("the checkout does not persist credentials", () => {
      for (const [, { steps }] of jobs) {
        const [checkout] = steps;
        assert.match(checkout?.uses ?? "", /^actions\/checkout@/);
        assert.deepEqual(checkout?.with, { "persist-credentials": false });
      }
    });

    await t.step("scripts are valid shell scripts without expressions of GitHub", async () => {
      for (const script of scripts) {
        assert.doesNotMatch(script, /\$\{\{/);
        const { success, stderr } = await new Deno.Command("sh", { args: ["-n", "-c", script] }).output();
        assert(success, new TextDecoder().decode(stderr));
      }
    });

    await t.step("programs, tasks, tools and options of the scripts exist", async () => {
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
