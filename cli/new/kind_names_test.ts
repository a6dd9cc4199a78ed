import assert from "node:assert/strict";
import { kindNames } from "./kind_names.ts";

const GROUP = "demo.example.com";

const VALID = [
  { kind: "Cache", folder: "cache", part: "caches", camel: "cache" },
  { kind: "CronTab", folder: "cron_tab", part: "cronTabs", camel: "cronTab" },
  { kind: "NetworkPolicy", folder: "network_policy", part: "networkPolicies", camel: "networkPolicy" },
  { kind: "HTTPRoute", folder: "http_route", part: "httpRoutes", camel: "httpRoute" },
  { kind: "DNS", folder: "dns", part: "dnses", camel: "dns" },
  { kind: "S3Bucket", folder: "s3_bucket", part: "s3Buckets", camel: "s3Bucket" },
];

for (const { kind, ...names } of VALID) {
  Deno.test(`kindNames returns the names of ${kind}`, () => {
    const { folder, part, camel, isBuiltin } = kindNames({ kind, apiVersion: "v1", group: GROUP });
    assert.deepEqual({ folder, part, camel }, names);
    assert.equal(isBuiltin, false);
  });
}

Deno.test("kindNames recognizes built-in kinds by group and version", () => {
  for (
    const [kind, apiVersion, group] of [["Node", "v1", ""], ["Deployment", "v1", "apps"], [
      "Lease",
      "v1",
      "coordination.k8s.io",
    ]] as const
  ) {
    assert.equal(kindNames({ kind, apiVersion, group }).isBuiltin, true, kind);
  }
  assert.equal(kindNames({ kind: "Service", apiVersion: "v1", group: "serving.example.com" }).isBuiltin, false);
});

const CASES = [
  { kind: "cron_tab", message: /"kind" must be in CamelCase.*\. Use "CronTab"\.$/ },
  { kind: "", message: /"kind" must be in CamelCase/ },
  { kind: "A".repeat(64), message: /at most 63/ },
  { kind: "ConfigMap", message: /already use that name\. Use another kind\.$/ },
  { kind: "Cache", group: "demo", message: /"group" must be a domain name in lower case with a dot/ },
  { kind: "Cache", group: "Demo.Example.com", message: /"group" must be a domain name in lower case/ },
  { kind: "Cache", group: "x-k8s.io", message: undefined },
  {
    kind: "Cache",
    group: "cache.k8s.io",
    message: /group "cache\.k8s\.io" belongs to Kubernetes.*Use a domain that you own/,
  },
  { kind: "Cache", group: "kubernetes.io", message: /belongs to Kubernetes/ },
  { kind: "Deploymnet", group: "apps", message: /group "apps" belongs to Kubernetes.*Did you mean "Deployment"\?$/ },
  { kind: "Pods", group: "", message: /the core group belongs to Kubernetes.*Did you mean "Pod"\?$/ },
  {
    kind: "Deployment",
    group: "apps",
    apiVersion: "v1beta1",
    message: /in Kubernetes it has version apps\/v1\. Use --api-version v1\.$/,
  },
  { kind: "Cache", apiVersion: "V1", message: /"version" must have at most 63 lower case letters/ },
  { kind: "Cache", apiVersion: "shop.example.com/v1", message: /Use --group shop\.example\.com --api-version v1\.$/ },
];

for (const { kind, group = GROUP, apiVersion = "v1", message } of CASES) {
  Deno.test(`kindNames ${message ? "rejects" : "accepts"} "${kind}" ${apiVersion} in "${group}"`, () => {
    if (message === undefined) return void kindNames({ kind, apiVersion, group });
    assert.throws(() => kindNames({ kind, apiVersion, group }), (error: Error) => {
      assert.equal(error.name, "UsageError");
      assert.match(error.message, message);
      return true;
    });
  });
}
