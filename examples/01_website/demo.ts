/**
 * The demo: an API server in this process, the website operator on it, and what it does, step by step. Whatever is told was read back from
 * the server. On a terminal it stays until Ctrl-C, so that one can look with kubectl; elsewhere it ends by itself.
 */
import { type AnyKind, ApiError, Client, connect, type Infer } from "@op/sdk";
import { ConfigMap, CustomResourceDefinition, Namespace } from "@op/sdk/kinds";
import { createApiserver, kubeconfigFor, localCertificate, serveApiserver } from "@op/sdk/testing";
import { parseAllDocuments } from "yaml";
import { DIRECTORY } from "./controller.ts";
import op from "./main.ts";
import { Website } from "./website.ts";

/** How long a step may take, in milliseconds. It takes a few; what takes longer does not come. */
const PATIENCE = 20_000;

if (import.meta.main) Deno.exit(await demo());

/** A step: what it shows, in a newcomer's words, and what the server answered when it was done. */
export type Step = readonly [title: string, run: () => Promise<readonly string[]>];

/** Shows the demo; answers the exit code. */
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
    ["The operator's own kind is installed, and the operator starts", async () => {
      const told = await kindIsInstalled(client);
      running = op.run({ connection, signal: stop.signal });
      return told;
    }],
    ["Two websites are asked for (samples.yaml)", () => samplesAreApplied(client)],
    ["The operator reconciles: it makes what they ask for", () => operatorReconciles(client)],
    ["A website that makes no sense is refused", () => nonsenseIsRefused(client)],
    ["Somebody spoils a page, and the operator repairs it", () => driftIsRepaired(client)],
    ["A website is deleted, and the operator cleans up behind it", () => cleanupRuns(client)],
  ]);
  if (isDone) {
    // Heard before it is offered: whoever reads the offer may take it at once.
    const interrupted = Deno.stdout.isTerminal() ? interruption() : undefined;
    if (interrupted) {
      console.log(`\nIt goes on until Ctrl-C, so that you can look:\n\n   export KUBECONFIG=${kubeconfig}`);
    } else {console.log(
        `\nOn a terminal it goes on until Ctrl-C, with a kubeconfig such as ${kubeconfig}, so that you can look:\n`,
      );}
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
 * Shows steps, each after the other; one that fails is the last.
 *
 * @returns Whether all were done.
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
    `It answers at ${client.connection.url} as Kubernetes ${gitVersion}`,
    `It has the namespaces ${namespaces.map(({ metadata }) => metadata.name).join(", ")}`,
  ];
}

async function kindIsInstalled(client: Client): Promise<string[]> {
  const lines: string[] = [];
  for (const crd of op.crds()) {
    await client.apply(CustomResourceDefinition, crd as never, { manager: "demo" });
    const made = await until(
      client,
      CustomResourceDefinition,
      crd.metadata.name,
      (crd) => crd.status?.conditions?.some(({ type, status }) => type === "Established" && status === "True") ?? false,
    );
    lines.push(`The server now knows "${made.spec.names.kind}" (${made.metadata.name})`);
  }
  const directory = await client.apply(Namespace, { metadata: { name: DIRECTORY } }, { manager: "demo" });
  return [...lines, `The namespace "${directory.metadata.name}" is there, for the directory of names`];
}

async function samplesAreApplied(client: Client): Promise<string[]> {
  const text = await Deno.readTextFile(new URL("samples.yaml", import.meta.url));
  const lines: string[] = [];
  for (const document of parseAllDocuments(text)) {
    const sample = document.toJS();
    const { metadata, spec } = await client.apply(Website, sample, { manager: "demo" });
    const filled = Object.entries(spec).filter(([name]) => !(name in sample.spec)).map(([name, value]) =>
      `${name} ${value}`
    );
    lines.push(
      `${metadata.name}: host ${spec.host}; from the schema's defaults the server filled in ${filled.join(", ")}`,
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

async function nonsenseIsRefused(client: Client): Promise<string[]> {
  const nonsense = {
    metadata: { name: "nonsense", namespace: "default" },
    spec: { host: "not a host", theme: "pink" },
  };
  try {
    await client.apply(Website, nonsense as never, { manager: "demo" });
  } catch (error) {
    if (error instanceof ApiError && error.status === 422) {
      return error.causes.map(({ field, message }) => `${field}: ${message}`);
    }
    throw error;
  }
  throw new Error("the server took a website that it should have refused");
}

async function driftIsRepaired(client: Client): Promise<string[]> {
  const spoiled = await client.patch(ConfigMap, "blog-page", { data: { "index.html": "spoiled" } }, {
    namespace: "default",
  });
  const repaired = await until(client, ConfigMap, "blog-page", ({ data }) => data?.["index.html"] !== "spoiled");
  return [
    `It was made to read: ${spoiled.data?.["index.html"]}`,
    `It reads again:      ${repaired.data?.["index.html"]?.trim()}`,
  ];
}

async function cleanupRuns(client: Client): Promise<string[]> {
  const site = await client.get(Website, "blog", { namespace: "default" });
  await client.delete(Website, "blog", { namespace: "default" });
  await untilGone(client, Website, "blog", "default");
  await untilGone(client, ConfigMap, "default.blog", DIRECTORY);
  await untilGone(client, ConfigMap, "blog-page", "default");
  const left = await client.list(Website);
  return [
    `It was held by the finalizer ${site.metadata.finalizers?.join(", ")} until the operator had removed its record`,
    `Its page went with it: the server collects what it owned`,
    `Websites that are left: ${left.map(({ metadata }) => metadata.name).join(", ")}`,
  ];
}

function isReady(site: Website): boolean {
  return site.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
}

/** The object once it passes, by a watch. */
async function until<K extends AnyKind>(
  client: Client,
  kind: K,
  name: string,
  passes: (object: Infer<K>) => boolean,
): Promise<Infer<K>> {
  const fieldSelector = `metadata.name=${name}`;
  for await (
    const events of client.watch(kind, { initial: true, fieldSelector, signal: AbortSignal.timeout(PATIENCE) })
  ) {
    const found = events.find(({ type, object }) =>
      (type === "ADDED" || type === "MODIFIED") && passes(object as Infer<K>)
    );
    if (found) return found.object as Infer<K>;
  }
  throw new Error(`${kind.kind} "${name}" did not come to be as expected within ${PATIENCE / 1000} s`);
}

/** Waits until an object is gone, by a watch, and sees by a read that it is. */
async function untilGone(client: Client, kind: AnyKind, name: string, namespace: string): Promise<void> {
  const isGone = async () => {
    try {
      await client.get(kind, name, { namespace });
      return false;
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return true;
      throw error;
    }
  };
  const options = {
    initial: true,
    namespace,
    fieldSelector: `metadata.name=${name}`,
    signal: AbortSignal.timeout(PATIENCE),
  };
  for await (const _events of client.watch(kind, options)) if (await isGone()) return;
  throw new Error(`${kind.kind} "${namespace}/${name}" did not go within ${PATIENCE / 1000} s`);
}

/** Ctrl-C, heard from now on. */
function interruption(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(signal, () => resolve());
  });
}
