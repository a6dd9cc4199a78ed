import assert from "node:assert/strict";
import { registryModule, type Strategy, strategyOf } from "./registry_data.ts";

const JOB = `
func (jobStrategy) DefaultGarbageCollectionPolicy(ctx context.Context) rest.GarbageCollectionPolicy {
	switch groupVersion {
	case batchv1.SchemeGroupVersion:
		// for back compatibility
		return rest.OrphanDependents
	default:
		return rest.DeleteDependents
	}
}

func (jobStrategy) PrepareForCreate(ctx context.Context, obj runtime.Object) {
	job.Generation = 1
}

func (jobStrategy) PrepareForUpdate(ctx context.Context, obj, old runtime.Object) {
	if !apiequality.Semantic.DeepEqual(newJob.Spec, oldJob.Spec) {
		newJob.Generation = oldJob.Generation + 1
	}
}

func (jobStrategy) AllowUnconditionalUpdate() bool {
	return true
}

func (jobStrategy) AllowCreateOnUpdate() bool {
	return false
}

func (jobStatusStrategy) AllowCreateOnUpdate() bool {
	return true
}
`;

const LEASE = `
// No template.Generation = 1
func (leaseStrategy) AllowCreateOnUpdate(ctx context.Context) bool {
	return true
}

func (leaseStrategy) AllowUnconditionalUpdate(ctx context.Context) bool {
	return false
}

	daemonSet.Spec.TemplateGeneration = 1
	newJob.Status.ObservedGeneration = oldJob.Status.ObservedGeneration + 1
	case batchv1beta1.SchemeGroupVersion:
		return rest.OrphanDependents
`;

const job: Strategy = {
  isCreatedByPut: false,
  requiresResourceVersion: false,
  hasGeneration: true,
  countsUpdates: true,
  orphansDependents: true,
};

const lease: Strategy = {
  isCreatedByPut: true,
  requiresResourceVersion: true,
  hasGeneration: false,
  countsUpdates: false,
  orphansDependents: false,
};

Deno.test("strategyOf reads the first strategy of a file", () => assert.deepEqual(strategyOf(JOB), job));

Deno.test("strategyOf ignores other fields, versions and comments", () => assert.deepEqual(strategyOf(LEASE), lease));

Deno.test("strategyOf returns undefined without a strategy", () => assert.equal(strategyOf("package job"), undefined));

Deno.test("registryModule lists the kinds of each rule", () => {
  const module = registryModule("1.36.3", new Map([["batch/jobs", job], ["coordination.k8s.io/leases", lease]]));
  const lists = [...module.matchAll(/const (\w+): .* new Set\(\[\n {2}"(.*)",\n\]\)/g)].map(([, ...list]) => list);
  assert.deepEqual(lists, [
    ["createdByPut", "coordination.k8s.io/leases"],
    ["versionRequired", "coordination.k8s.io/leases"],
    ["withGeneration", "batch/jobs"],
    ["countingUpdates", "batch/jobs"],
    ["orphaning", "batch/jobs"],
  ]);
});
