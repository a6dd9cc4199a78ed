/**
 * Runs the website operator on an API server in this process and shows step by step what it does.
 * Each printed value is read back from the server. On a terminal, the demo runs until Ctrl-C so
 * that you can use kubectl; elsewhere it exits after the last step.
 */
import { type AnyKind, ApiError, type Infer } from "@op/sdk";
import { Client, connect } from "@op/sdk/client";
import { ConfigMap, CustomResourceDefinition, Namespace } from "@op/sdk/kinds";
import { createApiserver, kubeconfigFor, localCertificate, serveApiserver } from "@op/sdk/testing";
import { parseAllDocuments } from "yaml";
import { DIRECTORY } from "./controller.ts";
import op from "./main.ts";
import { Website } from "./website.ts";

/** How long a step waits for the operator, in milliseconds. It usually needs a few. */
const STEP_TIMEOUT = 20_000;

if (import.meta.main) Deno.exit(await demo());

/** A step: its title, and a function that runs it and returns what the server stored. */
export type Step = readonly [title: string, run: () => Promise<readonly string[]>];

/** Runs the demo and returns the exit code. */
async function demo(): Promise<number> {
  await using server = createApiserver();
  // kubectl sends its token over HTTPS only.
  await using served = serveApiserver(server, { certificate: await localCertificate() });
  const folder = await Deno.makeTempDir({ prefix: "website-demo-" });
  const kubeconfig = `${folder}/kubeconfig`;
  await Deno.writeTextFile(kubeconfig, kubeconfigFor(served));
  const connection = await connect({ kubeconfig });
  const client = new Client(connection, { userAgent: "demo" });
  const stop = new AbortController();
  let running = Promise.resolve();

  const isDone = await showSteps([
    ["A Kubernetes API server starts in this process", () => serverStarts(client)],
    ["The operator's kind is installed, and the operator starts", async () => {
      const lines = await kindIsInstalled(client);
      running = op.run({ connection, signal: stop.signal });
      return lines;
    }],
    ["Two websites are created (samples.yaml)", () => samplesAreApplied(client)],
    ["The operator reconciles them", () => operatorReconciles(client)],
    ["An invalid website is rejected", () => invalidIsRejected(client)],
    ["A page is changed by hand, and the operator restores it", () => driftIsRepaired(client)],
    ["A website is deleted, and the operator cleans up", () => cleanupRuns(client)],
  ]);
  if (isDone) {
    // Listen before printing: the reader may press Ctrl-C at once.
    const interrupted = Deno.stdout.isTerminal() ? interruption() : undefined;
    if (interrupted) {
      console.log(`\nThe demo runs until Ctrl-C. Look around:\n\n   export KUBECONFIG=${kubeconfig}`);
    } else {
      console.log("\nOn a terminal, the demo runs until Ctrl-C and prints a kubeconfig. Look around:\n");
    }
    console.log(`   kubectl get websites --watch\n   kubectl edit website shop\n`);
    await interrupted;
  }
  stop.abort();
  await running;
  connection.close();
  await Deno.remove(folder, { recursive: true });
  return isDone ? 0 : 1;
}

/**
 * Runs steps in order and stops at the first that fails.
 *
 * @returns Whether all steps succeeded.
 */
export async function showSteps(steps: readonly Step[]): Promise<boolean> {
  for (const [number, [title, run]] of steps.entries()) {
    console.log(`\n${number + 1}. ${title}`);
    try {
      for (const line of await run()) console.log(`   ${line}`);
    } catch (error) {
      console.error(`   This step failed: ${error instanceof Error ? error.message : error}`);
      return false;
    }
  }
  return true;
}

async function serverStarts(client: Client): Promise<string[]> {
  const { gitVersion } = await client.raw<{ gitVersion: string }>("/version");
  const namespaces = await client.list(Namespace);
  return [
    `It listens at ${client.connection.url} as Kubernetes ${gitVersion}`,
    `Namespaces: ${namespaces.map(({ metadata }) => metadata.name).join(", ")}`,
  ];
}

async function kindIsInstalled(client: Client): Promise<string[]> {
  const lines: string[] = [];
  for (const crd of op.crds()) {
    await client.apply(CustomResourceDefinition, crd as never, { manager: "demo" });
    const established = await until(
      client,
      CustomResourceDefinition,
      crd.metadata.name,
      (crd) => crd.status?.conditions?.some(({ type, status }) => type === "Established" && status === "True") ?? false,
    );
    lines.push(`The server serves "${established.spec.names.kind}" (${established.metadata.name})`);
  }
  const directory = await client.apply(Namespace, { metadata: { name: DIRECTORY } }, { manager: "demo" });
  return [...lines, `The namespace "${directory.metadata.name}" exists: the operator stores DNS records there`];
}

async function samplesAreApplied(client: Client): Promise<string[]> {
  const text = await Deno.readTextFile(new URL("samples.yaml", import.meta.url));
  const lines: string[] = [];
  for (const document of parseAllDocuments(text)) {
    const sample = document.toJS();
    const { metadata, spec } = await client.apply(Website, sample, { manager: "demo" });
    const defaults = Object.entries(spec).filter(([name]) => !(name in sample.spec)).map(([name, value]) =>
      `${name} ${value}`
    );
    lines.push(
      `${metadata.name}: host ${spec.host}; the server added the defaults ${defaults.join(", ")}`,
    );
  }
  return lines;
}

async function operatorReconciles(client: Client): Promise<string[]> {
  const lines: string[] = [];
  for (const { metadata } of await client.list(Website)) {
    const site = await until(client, Website, metadata.name, isReady);
    const page = await client.get(ConfigMap, `${metadata.name}-page`, { namespace: "default" });
    const record = await client.get(ConfigMap, `default.${metadata.name}`, { namespace: DIRECTORY });
    lines.push(
      `${site.metadata.name}: page ${page.metadata.name} (${site.status?.bytes} bytes, owned by ${
        page.metadata.ownerReferences?.[0]?.kind
      } ${page.metadata.ownerReferences?.[0]?.name}), ` +
        `record ${record.metadata.name} -> ${record.data?.host}, status url ${site.status?.url}`,
    );
  }
  return lines;
}

async function invalidIsRejected(client: Client): Promise<string[]> {
  const invalid = {
    metadata: { name: "invalid", namespace: "default" },
    spec: { host: "not a host", theme: "pink" },
  };
  try {
    await client.apply(Website, invalid as never, { manager: "demo" });
  } catch (error) {
    if (error instanceof ApiError && error.status === 422) {
      return error.causes.map(({ field, message }) => `${field}: ${message}`);
    }
    throw error;
  }
  throw new Error("the server accepted an invalid website");
}

async function driftIsRepaired(client: Client): Promise<string[]> {
  const spoiled = await client.patch(ConfigMap, "blog-page", { data: { "index.html": "spoiled" } }, {
    namespace: "default",
  });
  const repaired = await until(client, ConfigMap, "blog-page", ({ data }) => data?.["index.html"] !== "spoiled");
  return [
    `Changed to:  ${spoiled.data?.["index.html"]}`,
    `Restored to: ${repaired.data?.["index.html"]?.trim()}`,
  ];
}

async function cleanupRuns(client: Client): Promise<string[]> {
  const site = await client.get(Website, "blog", { namespace: "default" });
  await client.delete(Website, "blog", { namespace: "default" });
  await untilDeleted(client, Website, "blog", "default");
  await untilDeleted(client, ConfigMap, "default.blog", DIRECTORY);
  await untilDeleted(client, ConfigMap, "blog-page", "default");
  const left = await client.list(Website);
  return [
    `The finalizer ${
      site.metadata.finalizers?.join(", ")
    } delayed the deletion until the operator had deleted its DNS record`,
    `The garbage collector deleted its page`,
    `Remaining websites: ${left.map(({ metadata }) => metadata.name).join(", ")}`,
  ];
}

function isReady(site: Website): boolean {
  return site.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
}

/** Watches an object until it passes, and returns it. */
async function until<K extends AnyKind>(
  client: Client,
  kind: K,
  name: string,
  passes: (object: Infer<K>) => boolean,
): Promise<Infer<K>> {
  const fieldSelector = `metadata.name=${name}`;
  for await (
    const events of client.watch(kind, {
      sendInitialEvents: true,
      fieldSelector,
      signal: AbortSignal.timeout(STEP_TIMEOUT),
    })
  ) {
    const found = events.find(({ type, object }) =>
      (type === "ADDED" || type === "MODIFIED") && passes(object as Infer<K>)
    );
    if (found) return found.object as Infer<K>;
  }
  throw new Error(`${kind.kind} "${name}" did not reach the expected state within ${STEP_TIMEOUT / 1000} s`);
}

/** Watches until an object is deleted. */
async function untilDeleted(client: Client, kind: AnyKind, name: string, namespace: string): Promise<void> {
  const isDeleted = async () => {
    try {
      await client.get(kind, name, { namespace });
      return false;
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return true;
      throw error;
    }
  };
  const options = {
    sendInitialEvents: true,
    namespace,
    fieldSelector: `metadata.name=${name}`,
    signal: AbortSignal.timeout(STEP_TIMEOUT),
  };
  for await (const _events of client.watch(kind, options)) if (await isDeleted()) return;
  throw new Error(`${kind.kind} "${namespace}/${name}" was not deleted within ${STEP_TIMEOUT / 1000} s`);
}

/** Resolves at the next Ctrl-C or SIGTERM. */
function interruption(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(signal, () => resolve());
  });
}
