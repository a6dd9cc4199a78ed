/**
 * The operator of the benchmark with the informer of @kubernetes/client-node on Node: a queue of
 * names, and ten concurrent reconciles. Users write such a program if they have a client and no
 * framework.
 *
 * Environment: WORKLOAD is "status" or "configmap".
 */
import {
  CoreV1Api,
  CustomObjectsApi,
  KubeConfig,
  makeInformer,
  PatchStrategy,
  setHeaderOptions,
} from "@kubernetes/client-node";

const OF = { group: "bench.example.com", version: "v1", plural: "items" };
const CONCURRENCY = 10;
const withConfigMap = process.env.WORKLOAD === "configmap";

const config = new KubeConfig();
config.loadFromCluster();
const custom = config.makeApiClient(CustomObjectsApi);
const core = config.makeApiClient(CoreV1Api);
const merge = setHeaderOptions("Content-Type", PatchStrategy.MergePatch);
const apply = setHeaderOptions("Content-Type", PatchStrategy.ServerSideApply);

const items = makeInformer(
  config,
  "/apis/bench.example.com/v1/items",
  () => custom.listCustomObjectForAllNamespaces({ ...OF, resourcePlural: OF.plural }),
);
const queue = new Set();
let running = 0;

for (const event of ["add", "update"]) items.on(event, enqueue);
items.on("error", () => setTimeout(() => items.start(), 1000));
await items.start();
if (withConfigMap) {
  const owned = makeInformer(config, "/api/v1/configmaps", () => core.listConfigMapForAllNamespaces());
  for (const event of ["update", "delete"]) owned.on(event, enqueueOwner);
  owned.on("error", () => setTimeout(() => owned.start(), 1000));
  await owned.start();
}
process.on("SIGTERM", () => process.exit(0));

function enqueue({ metadata: { namespace, name } }) {
  queue.add(`${namespace}/${name}`);
  processQueue();
}

function enqueueOwner({ metadata: { namespace, ownerReferences = [] } }) {
  const owner = ownerReferences.find(({ kind, controller }) => controller && kind === "Item");
  if (owner !== undefined) enqueue({ metadata: { namespace, name: owner.name } });
}

function processQueue() {
  for (const key of queue) {
    if (running >= CONCURRENCY) return;
    queue.delete(key);
    running++;
    reconcile(key).catch((error) => {
      console.error(JSON.stringify({ level: "error", msg: String(error) }));
      setTimeout(() => queue.add(key) && processQueue(), 1000);
    }).finally(() => {
      running--;
      processQueue();
    });
  }
}

async function reconcile(key) {
  const [namespace, name] = key.split("/");
  const item = items.get(name, namespace);
  if (item === undefined) return;
  const { generation, uid } = item.metadata;
  if (withConfigMap) {
    const owner = {
      apiVersion: "bench.example.com/v1",
      kind: "Item",
      name,
      uid,
      controller: true,
      blockOwnerDeletion: true,
    };
    await core.patchNamespacedConfigMap({
      name,
      namespace,
      fieldManager: "item-operator",
      force: true,
      body: {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name, ownerReferences: [owner] },
        data: { size: String(item.spec.size) },
      },
    }, apply);
  }
  if (item.status?.observedGeneration === generation) return;
  const condition = {
    type: "Ready",
    status: "True",
    reason: "Reconciled",
    message: "",
    lastTransitionTime: new Date().toISOString().replace(/\.\d+Z$/, "Z"),
    observedGeneration: generation,
  };
  await custom.patchNamespacedCustomObjectStatus({
    ...OF,
    namespace,
    name,
    body: { status: { double: item.spec.size * 2, observedGeneration: generation, conditions: [condition] } },
  }, merge);
}
