import assert from "node:assert/strict";
import { s } from "../schema/mod.ts";
import { type Infer, type Input, type Kind, type KubeObject, type ObjectMeta, resource } from "../resource/mod.ts";
import { resources } from "../openapi/kubernetes.gen.ts";
import * as kinds from "./mod.ts";
import {
  ConfigMap,
  type CustomResourceDefinition,
  Deployment,
  type DeploymentInput,
  Event,
  HorizontalPodAutoscaler,
  type Lease,
  Namespace,
  type PersistentVolumeClaim,
  Pod,
  type PodCondition,
  type ResourceRequirements,
  type ResourceRequirementsInput,
  Role,
  type Secret,
  type SelfSubjectAccessReview,
  type Service,
  type StatefulSet,
} from "./mod.ts";

Deno.test("Deployment has the properties of a kind, and no others", () => {
  assert.deepEqual(Deployment, {
    group: "apps",
    version: "v1",
    kind: "Deployment",
    apiVersion: "apps/v1",
    plural: "deployments",
    singular: "deployment",
    listKind: "DeploymentList",
    shortNames: ["deploy"],
    namespaced: true,
  });
});

Deno.test("the apiVersion of kinds in the core group is only the version", () => {
  assert.deepEqual(
    [Pod, ConfigMap, Namespace].map(({ apiVersion, group, namespaced }) => [apiVersion, group, namespaced]),
    [["v1", "", true], ["v1", "", true], ["v1", "", false]],
  );
});

Deno.test("kinds exports every kind that Kubernetes serves, with its names", () => {
  for (const { group, version, kind, plural, singular, namespaced, shortNames = [] } of resources) {
    const found = Object.entries(kinds).find(([name]) => name === kind)?.[1];
    assert(found !== undefined, kind);
    // These kinds are exported from a newer group or version.
    if (SUPERSEDED.includes(`${group}/${version}/${kind}`)) continue;
    const { group: _, version: __, kind: ___, apiVersion, listKind, ...names } = found;
    assert.deepEqual(names, { plural, singular, shortNames, namespaced }, kind);
    assert.deepEqual([apiVersion, listKind], [group === "" ? version : `${group}/${version}`, `${kind}List`]);
  }
});

const SUPERSEDED = ["/v1/Event", "autoscaling/v1/HorizontalPodAutoscaler"];

Deno.test("each export of kinds has the name of its kind, and is the latest version", () => {
  for (const [name, kind] of Object.entries(kinds)) assert.equal(kind.kind, name);
  assert.equal(Event.apiVersion, "events.k8s.io/v1");
  assert.equal(HorizontalPodAutoscaler.apiVersion, "autoscaling/v2");
});

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false;
function same<A, B>(_: Same<A, B>): void {}

Deno.test("kinds have types for objects as read and as written", () => {
  same<Infer<typeof Deployment>["spec"]["replicas"], number>(true);
  same<Input<typeof Deployment>["spec"]["replicas"], number | undefined>(true);
  same<Infer<typeof Deployment>["metadata"], ObjectMeta>(true);
  same<Infer<typeof Deployment>["kind"], "Deployment">(true);
  same<Infer<typeof Service>["spec"]["type"], "ClusterIP" | "ExternalName" | "LoadBalancer" | "NodePort">(true);
  same<NonNullable<Infer<typeof Secret>["data"]>[string], string>(true);
  same<Infer<typeof Lease>["spec"]["renewTime"], string | undefined>(true);
  same<PersistentVolumeClaim["spec"]["volumeMode"], "Block" | "Filesystem">(true);
  same<PodCondition["status"], string>(true);
  // Quantities may be written as numbers, and are always read as strings.
  same<NonNullable<ResourceRequirements["limits"]>[string], string>(true);
  same<NonNullable<ResourceRequirementsInput["limits"]>[string], number | string>(true);

  Deployment satisfies Kind<KubeObject>;
  ({ metadata: { name: "a" } }) satisfies Input<typeof Namespace>;
  ({ data: { a: "b" } }) satisfies Input<typeof ConfigMap>;
  ({ spec: { ports: [{ port: 80, targetPort: "http" }, { port: 81, targetPort: 81 }] } }) satisfies Input<
    typeof Service
  >;
  ({ spec: { resourceAttributes: { verb: "get", resource: "pods" } } }) satisfies Input<
    typeof SelfSubjectAccessReview
  >;
});

Deno.test("an object that was read can be written", () => {
  function copyOf(deployment: Deployment): DeploymentInput {
    return { ...deployment, metadata: { name: "copy", labels: deployment.metadata.labels } };
  }
  assert.equal(typeof copyOf, "function");
});

Deno.test("resource() returns a CustomResourceDefinition", () => {
  const { crd } = resource({ group: "demo.example.com", version: "v1", kind: "Note", spec: s.object({}) });
  crd satisfies Input<typeof CustomResourceDefinition>;
});

/** Never called. Each statement must be a compile-time error. */
export function typeErrors(deployment: Deployment): void {
  const selector = { matchLabels: { app: "web" } };
  const pods = { containers: [{ name: "web" }] };
  ({ spec: { selector, template: { spec: pods } } }) satisfies DeploymentInput;
  // @ts-expect-error a Deployment requires a spec
  ({}) satisfies DeploymentInput;
  // @ts-expect-error a template requires a spec
  ({ spec: { selector, template: {} } }) satisfies DeploymentInput;
  // @ts-expect-error replicas are a number
  ({ spec: { replicas: "3", selector, template: { spec: pods } } }) satisfies DeploymentInput;
  // @ts-expect-error the status is not part of the input
  ({ spec: { selector, template: { spec: pods } }, status: {} }) satisfies DeploymentInput;
  // @ts-expect-error a container has no property imag
  ({ spec: { selector, template: { spec: { containers: [{ name: "web", imag: "" }] } } } }) satisfies DeploymentInput;
  // @ts-expect-error a protocol is TCP, UDP or SCTP
  ({ spec: { ports: [{ port: 80, protocol: "http" }] } }) satisfies Input<typeof Service>;
  // @ts-expect-error the status may be missing
  deployment.status.readyReplicas;
  // @ts-expect-error objects are read-only
  deployment.spec.replicas = 3;
  // @ts-expect-error kinds are distinct types, even if their shapes are equal
  Role satisfies typeof StatefulSet;
}
