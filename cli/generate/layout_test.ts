import assert from "node:assert/strict";
import type { RbacRule } from "@op/sdk/operator";
import { text } from "./layout.ts";

const SECRETS = { group: "", resource: "secrets", scope: "watched" as const, part: "sites" };
const PERMISSIONS: RbacRule[] = [
  { ...SECRETS, verb: "list", resourceNames: [], reason: "owns Secret: watches it" },
  { ...SECRETS, verb: "patch", resourceNames: ["tls"], reason: "stores the certificate" },
];

Deno.test("the comment of a rule has only the reasons of permissions with its verbs and resource names", () => {
  const role = {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "Role",
    metadata: { name: "sites" },
    rules: [
      { apiGroups: [""], resources: ["secrets"], verbs: ["list", "watch"] },
      { apiGroups: [""], resources: ["secrets"], resourceNames: ["tls"], verbs: ["patch"] },
      { apiGroups: [""], resources: ["pods"], verbs: ["list"] },
    ],
  };

  const comments = text(role, PERMISSIONS).split("\n").filter((line) => line.includes("#")).map((line) => line.trim());

  assert.deepEqual(comments, ["# sites: owns Secret: watches it", "# sites: stores the certificate"]);
});
