/** Kubernetes' own types inside a CustomResourceDefinition, on a real API server. */
import assert from "node:assert/strict";
import * as full from "../../src/kinds/schemas/full/mod.ts";
import * as plain from "../../src/kinds/schemas/mod.ts";
import * as short from "../../src/kinds/schemas/short/mod.ts";
import type { JsonSchema } from "../../src/schema/mod.ts";
import { type RealCluster, realCluster } from "../../src/testing/real_cluster.ts";
import { eventually } from "../eventually.ts";

const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
// A request may have 3 MiB, but etcd accepts 1.5 MiB, and the server's time grows with the number
// of nodes.
const LARGEST = 800_000;

type Properties = { readonly [name: string]: JsonSchema };

function definition(kind: string, properties: Properties) {
  const [singular, plural] = [kind.toLowerCase(), `${kind.toLowerCase()}s`];
  const spec: JsonSchema = { type: "object", properties };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.schemas.example.com` },
    spec: {
      group: "schemas.example.com",
      names: { kind, plural, singular, listKind: `${kind}List` },
      scope: "Namespaced",
      versions: [{
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", properties: { spec } } },
      }],
    },
  };
}

/** Groups the schemas so that each group fits into one definition. */
function groupBySize(schemas: Properties): Properties[] {
  const groups: { [name: string]: JsonSchema }[] = [];
  let size = Infinity;
  for (const [name, schema] of Object.entries(schemas)) {
    const more = JSON.stringify(schema).length;
    if (size + more > LARGEST) groups.push({}), size = 0;
    groups.at(-1)![name] = schema;
    size += more;
  }
  return groups;
}

async function post(cluster: RealCluster, path: string, body: unknown) {
  const response = await cluster.fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, warning: response.headers.get("warning"), body: await response.json() };
}

Deno.test("a real API server accepts every builtin schema with strict field validation, and returns it unchanged", async (t) => {
  await using cluster = await realCluster();
  const { PodTemplateSpec, PersistentVolumeClaim, Service, Ingress, Probe } = short;
  const groups = [
    ...groupBySize(plain),
    { PodTemplateSpec, PersistentVolumeClaim, Service, Ingress, Probe },
    { PodTemplateSpec: full.PodTemplateSpec, NetworkPolicySpec: full.NetworkPolicySpec },
  ];
  for (const [i, properties] of groups.entries()) {
    const sent = definition(`Group${i}`, properties);
    await t.step(`${Object.keys(properties).length} schemas in definition ${i}`, async () => {
      const created = await post(cluster, `${DEFINITIONS}?fieldValidation=Strict&dryRun=All`, sent);
      assert.equal(created.status, 201, created.body.message);
      assert.equal(created.warning, null);
      assert.deepEqual(created.body.spec.versions[0].schema, JSON.parse(JSON.stringify(sent.spec.versions[0]!.schema)));
    });
  }
});

const container = { name: "web", image: "nginx:1.29" };
const probe = { httpGet: { port: "http", path: "/" }, periodSeconds: 5 };

/**
 * PodSpecs with the schema's errors. `isValidPod` marks those that only the schema rejects, and
 * that the server accepts in a Pod.
 */
const PODS: { name: string; given: unknown; errors: readonly string[]; isValidPod?: true }[] = [
  {
    name: "a PodSpec with many fields",
    given: {
      containers: [{
        ...container,
        env: [{ name: "A", value: "b" }, { name: "C", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }],
        ports: [{ containerPort: 80, name: "http" }, { containerPort: 80, protocol: "UDP" }],
        resources: { requests: { cpu: 1, memory: "1Gi" }, limits: { cpu: "1500m", memory: "2Gi" } },
        readinessProbe: probe,
        livenessProbe: { tcpSocket: { port: 80 } },
        volumeMounts: [{ name: "data", mountPath: "/data" }],
      }],
      volumes: [
        { name: "data", emptyDir: { sizeLimit: "1Gi" } },
        {
          name: "claimed",
          ephemeral: {
            volumeClaimTemplate: {
              metadata: { labels: { app: "web" } },
              spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
            },
          },
        },
      ],
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchExpressions: [{ key: "zone", operator: "In", values: ["a"] }] }],
          },
        },
      },
      tolerations: [{ key: "gpu", operator: "Exists", effect: "NoSchedule" }],
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule", labelSelector: {} },
      ],
      terminationGracePeriodSeconds: 30,
    },
    errors: [],
  },
  { name: "a PodSpec without containers", given: {}, errors: ["FieldValueRequired spec.pod.containers"] },
  {
    name: "a container without a name",
    given: { containers: [{ image: "nginx" }] },
    errors: ["FieldValueRequired spec.pod.containers[0].name"],
  },
  {
    name: "a port that is a string",
    given: { containers: [{ ...container, ports: [{ containerPort: "80" }] }] },
    errors: ["FieldValueTypeInvalid spec.pod.containers[0].ports[0].containerPort"],
  },
  {
    name: "a duplicate port, whose protocol is once set by default",
    given: { containers: [{ ...container, ports: [{ containerPort: 80 }, { containerPort: 80, protocol: "TCP" }] }] },
    errors: ["FieldValueDuplicate spec.pod.containers[0].ports[1]"],
    // For built-in kinds only server-side apply checks a list of type map; for custom resources
    // every write does.
    isValidPod: true,
  },
  {
    name: "two containers with the same name",
    given: { containers: [container, container] },
    errors: ["FieldValueDuplicate spec.pod.containers[1]"],
  },
  {
    name: "an unknown protocol",
    given: { containers: [{ ...container, ports: [{ containerPort: 80, protocol: "HTTP" }] }] },
    errors: ["FieldValueNotSupported spec.pod.containers[0].ports[0].protocol"],
  },
  {
    name: "an invalid quantity",
    given: { containers: [{ ...container, resources: { limits: { memory: "2 Gi" } } }] },
    errors: ["FieldValueInvalid spec.pod.containers[0].resources.limits.memory"],
  },
  {
    name: "a probe's port that is a list",
    given: { containers: [{ ...container, readinessProbe: { httpGet: { port: [80] } } }] },
    errors: ["FieldValueTypeInvalid spec.pod.containers[0].readinessProbe.httpGet.port"],
  },
  {
    name: "an unknown restart policy",
    given: { containers: [container], restartPolicy: "Sometimes" },
    errors: ["FieldValueNotSupported spec.pod.restartPolicy"],
  },
  {
    name: "a volume without a name",
    given: { containers: [container], volumes: [{ emptyDir: {} }] },
    errors: ["FieldValueRequired spec.pod.volumes[0].name"],
  },
  {
    name: "a deadline that is not an integer",
    given: { containers: [container], activeDeadlineSeconds: 1.5 },
    errors: ["FieldValueTypeInvalid spec.pod.activeDeadlineSeconds"],
  },
  {
    name: "an unknown field of a container",
    given: { containers: [{ ...container, imag: "nginx" }] },
    errors: ['strict decoding error: unknown field "spec.pod.containers[0].imag"'],
  },
];

Deno.test("a real API server validates a PodSpec in a custom resource by our schema as it validates a Pod", async (t) => {
  await using cluster = await realCluster();
  const kind = definition("Runner", { pod: plain.PodSpec });
  assert.equal((await post(cluster, DEFINITIONS, kind)).status, 201);
  await eventually(async () => {
    assert.equal((await cluster.fetch("/apis/schemas.example.com/v1/namespaces/default/runners")).status, 200);
  });
  for (const { name, given, errors, isValidPod = false } of PODS) {
    await t.step(name, async () => {
      const query = "?dryRun=All&fieldValidation=Strict";
      const custom = await post(cluster, `/apis/schemas.example.com/v1/namespaces/default/runners${query}`, {
        apiVersion: "schemas.example.com/v1",
        kind: "Runner",
        metadata: { name: "a" },
        spec: { pod: given },
      });
      const causes: { reason: string; field: string; message: string }[] = custom.body.details?.causes ?? [];
      const unknown = causes.length === 0 && custom.status === 400
        ? [custom.body.message.replace(/^.*?: (?=strict)/, "")]
        : [];
      const reported = causes.filter(({ field }) => field !== "<nil>").map(({ reason, field }) => `${reason} ${field}`);
      assert.deepEqual([...new Set(reported), ...unknown], errors, custom.body.message);

      const pod = await post(cluster, `/api/v1/namespaces/default/pods${query}`, {
        metadata: { name: "a" },
        spec: given,
      });
      assert.equal(
        pod.status === 201,
        errors.length === 0 || isValidPod,
        `as a Pod: ${pod.body.message}`,
      );
    });
  }
});
