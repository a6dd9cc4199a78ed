import assert from "node:assert/strict";
import { definitionOf } from "./operator_definition.ts";
import { ConfigMap } from "../kinds/mod.ts";
import { controller } from "../parts/controller.ts";
import type { Manifest } from "../manifests/manifest.ts";
import { resource } from "../resource/resource.ts";
import * as s from "../schema/builders.ts";
import { readConfigFile } from "./config_file.ts";
import { operator } from "./operator.ts";

const FILE = `
[operator]
namespaces = ["a", "b"]
log_level = "debug"
[operator.health]
port = 9090
[operator.leader_election]
id = "shop-lease"
[build.image]
registry = "registry.example.com/team"
tag_prefix = "v"
tag_suffix = "-slim"
[build.builder]
binary = "buildah"
args = ["build", "-t", "$IMG"]
[generate]
namespace = "ops"
[[generate.rbac.policies]]
api_groups = [""]
resources = ["pods/log"]
verbs = ["get"]
`;

Deno.test("readConfigFile reads all tables and returns the operator's table as a separate file", () => {
  const { image, builder, namespace, policies, operatorText } = readConfigFile(FILE, "f");
  assert.deepEqual(image, { registry: "registry.example.com/team", tagPrefix: "v", tagSuffix: "-slim" });
  assert.deepEqual(builder, { binary: "buildah", args: ["build", "-t", "$IMG"] });
  assert.equal(namespace, "ops");
  assert.deepEqual(policies, [{ apiGroups: [""], resources: ["pods/log"], verbs: ["get"] }]);
  assert.doesNotMatch(operatorText, /registry|buildah|pods/);
  assert.deepEqual(
    [...readConfigFile(operatorText, "g").settings].map(([key, { value }]) => [key, value]),
    [...readConfigFile(FILE, "f").settings].map(([key, { value }]) => [key, value]),
  );
});

Deno.test("operator.withSettings applies the file to manifests, RBAC and sandbox", () => {
  const maps = controller(ConfigMap, { reconcile() {} });
  const op = operator({ name: "shop", version: "1.2.0+7", parts: { maps } }).withSettings(FILE);
  const { manager, rbac, networkPolicy } = op.manifests();
  const text = JSON.stringify(manager);
  for (
    const expected of [
      '"image":"registry.example.com/team/shop:v1.2.0_7-slim"',
      '"args":["start","--namespace=a","--namespace=b"]',
      '"namespace":"ops"',
      '"containerPort":9090',
      '"name":"OP_CONFIG","value":"/etc/op/operator.toml"',
    ]
  ) assert(text.includes(expected), `${expected} is not in ${text}`);
  assert(JSON.stringify(networkPolicy).includes('"port":9090'));
  const roles = rbac.filter(({ kind }) => kind === "Role").map(({ metadata, rules }) =>
    `${metadata.namespace}/${metadata.name} ${JSON.stringify(rules)}`
  );
  assert.equal(roles.filter((role) => role.includes("pods/log")).length, 2);
  assert(roles.some((role) => role.startsWith("ops/") && role.includes("shop-lease")), roles.join("\n"));
  assert.equal(rbac.some(({ kind }) => kind === "ClusterRole"), false);
  assert(op.sandbox().some(({ permission, target }) => permission === "net" && target === "0.0.0.0:9090"));
  const [config] = manager.filter(({ kind }) => kind === "ConfigMap");
  assert.deepEqual(config?.data, { "operator.toml": definitionOf(op).config?.operatorText });
});

Deno.test("options of manifests() override the file", () => {
  const op = operator({ name: "shop", parts: {} }).withSettings(FILE);
  const { manager } = op.manifests({ namespace: "elsewhere", image: "mine:1", watchNamespaces: ["c"] });
  const text = JSON.stringify(manager);
  assert(text.includes('"image":"mine:1"') && text.includes("--namespace=c") && !text.includes('"ops"'), text);
});

Deno.test("the ID in operator.toml is a label of every installed object, but not of selectors", () => {
  const Note = resource({ group: "demo.example.com", version: "v1", kind: "Note", spec: s.object({}) });
  const Used = resource({ group: "demo.example.com", version: "v1", kind: "Used", spec: s.object({}) });
  const notes = controller(Note, { owns: [Used], reconcile() {} });
  const file = '[project]\nid = "a-1"\n';
  const plain = operator({ name: "shop", parts: { notes } });
  const op = plain.withSettings(file);
  const manifests = Object.values(op.manifests()).flat() as Manifest[];
  const unlabeled = manifests.filter(({ metadata }) => metadata.labels?.["op/operator-id"] !== "a-1");
  // The operator does not reconcile this kind, which other operators may use too.
  assert.deepEqual(unlabeled.map(({ metadata }) => metadata.name), ["useds.demo.example.com"]);
  for (const { metadata: _, ...rest } of manifests) assert(!JSON.stringify(rest).includes("a-1"));
  assert(!JSON.stringify(plain.manifests()).includes("operator-id"));
  assert.throws(
    () => plain.withSettings('[project]\nid = "no label"\n').manifests(),
    /its ID "no label" is not a valid label value/,
  );
});
