/**
 * The admission policy of an operator that issues its own webhook certificate, on a real API
 * server: an attacker who steals the operator's token can renew the certificate, but cannot change
 * webhooks, definitions or Secrets in any other way. An overlay deploys the operator to another
 * namespace.
 */
import assert from "node:assert/strict";
import { operatorFolder } from "../../cli/_operator_folder.ts";
import {
  ClusterRole,
  ClusterRoleBinding,
  CustomResourceDefinition,
  MutatingWebhookConfiguration,
  Secret,
  ServiceAccount,
  ValidatingWebhookConfiguration,
} from "../../src/kinds/mod.ts";
import { ApiError, isStatus } from "../../src/kube/api_error.ts";
import { Client } from "../../src/kube/client.ts";
import type { AnyKind } from "../../src/resource/kind.ts";
import { systemClock } from "../../src/base/clock.ts";
import { operatorLog } from "../../src/operator/log.ts";
import { CertificateKeeper } from "../../src/runtime/webhooks/certificate_keeper.ts";
import { certificatesIn } from "../../src/runtime/webhooks/certificate_secret.ts";
import { realCluster } from "../../src/testing/real_cluster.ts";
import { adminClient } from "../fixtures/watched.ts";
import { eventually } from "../eventually.ts";
import { connectAs, tokenOf } from "../fixtures/service_account.ts";

const MAIN = `
import { conversion, webhook } from "@op/sdk";
const names = { group: "demo.example.com", kind: "Note" };
const Note = resource({ ...names, version: "v1", spec: s.object({ text: s.string() }) });
const NoteV2 = resource({ ...names, version: "v2", spec: s.object({ lines: s.array(s.string()) }), versions: [Note] });
const noteRules = webhook(NoteV2, { mutate() {}, validate() {} });
const notes = conversion(Note, NoteV2, {
  up: ({ spec }) => ({ spec: { lines: [spec.text] } }),
  down: ({ spec }) => ({ spec: { text: spec.lines.join() } }),
});
export default operator({ name: "notes", parts: { noteRules, notes } });
`;

const NAMESPACE = "moved";
const DEFINITION = "notes.demo.example.com";
const BUNDLE = "LS0tLS0K";

type Patch = Record<string, unknown>;

Deno.test("an operator's token can renew its certificate, and change no other part of webhooks, definitions and Secrets", async (t) => {
  await using cluster = await realCluster();
  await using folder = await operatorFolder(MAIN);
  const admin = adminClient(cluster);
  await folder.write("kubeconfig", cluster.admin.kubeconfig);
  const op = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await folder.op(...args);
    assert.equal(code, 0, stderr);
    return stdout;
  };
  await op("generate", "manifests");
  await op("generate", "overlay", "prod");
  const overlay = `${folder.path}/config/overlays/prod/kustomization.yaml`;
  await Deno.writeTextFile(overlay, `${await Deno.readTextFile(overlay)}namespace: ${NAMESPACE}\n`);
  const deploy = () => op("deploy", "prod", "--no-wait", "--kubeconfig", "kubeconfig");
  await deploy();

  using connection = connectAs(cluster, await tokenOf(cluster, NAMESPACE, "notes"));
  const operator = new Client(connection);
  const inNamespace = (kind: AnyKind) => kind === Secret ? { namespace: NAMESPACE } : {};
  const patch = (client: Client, kind: AnyKind, name: string, patch: Patch, type: "merge" | "json" = "merge") =>
    client.patch(kind, name, type === "json" ? patch.operations : patch, { type, ...inNamespace(kind) } as never);
  const set = (path: string, value: unknown) => ({ operations: [{ op: "add", path, value }] });
  // The API server applies a new policy with a delay. Each attempt makes a different
  // change.
  let seconds = 10;
  await eventually(() => {
    const change = set("/webhooks/0/timeoutSeconds", seconds = 21 - seconds);
    return assert.rejects(patch(operator, ValidatingWebhookConfiguration, "notes", change, "json"), isDeniedByPolicy);
  }, { limit: 30_000 });

  const rules = [{ apiGroups: ["*"], apiVersions: ["*"], resources: ["*/*"], operations: ["*"] }];
  for (const kind of [MutatingWebhookConfiguration, ValidatingWebhookConfiguration]) {
    const { webhooks = [] } = await admin.get(kind, "notes") as { readonly webhooks?: readonly object[] };
    const denied: readonly (readonly [name: string, patch: Patch])[] = [
      ["the rules", set("/webhooks/0/rules", rules)],
      ["the URL", {
        operations: [
          { op: "add", path: "/webhooks/0/clientConfig/url", value: "https://attacker.example/x" },
          { op: "remove", path: "/webhooks/0/clientConfig/service" },
        ],
      }],
      ["the namespace of the Service", set("/webhooks/0/clientConfig/service/namespace", "default")],
      ["the timeout", set("/webhooks/0/timeoutSeconds", 1)],
      ["the failure policy", set("/webhooks/0/failurePolicy", "Ignore")],
      ["the match conditions", set("/webhooks/0/matchConditions", [{ name: "a", expression: "false" }])],
      ["the namespace selector", set("/webhooks/0/namespaceSelector", { matchLabels: { a: "b" } })],
      ["the number of webhooks, by adding one,", set("/webhooks/-", { ...webhooks[0], name: "other.example.com" })],
      ["the number of webhooks, by removing one,", { operations: [{ op: "remove", path: "/webhooks/0" }] }],
      ["the labels", set("/metadata/labels/a", "b")],
      ["the annotations", set("/metadata/annotations", { "cert-manager.io/inject-ca-from": "a/b" })],
      [
        "the owner references",
        set("/metadata/ownerReferences", [{ apiVersion: "v1", kind: "Node", name: "a", uid: "b" }]),
      ],
    ];
    await t.step(`the operator may change its CA bundle in the ${kind.kind}`, async () => {
      await patch(operator, kind, "notes", set("/webhooks/0/clientConfig/caBundle", BUNDLE), "json");
    });
    for (const [name, change] of denied) {
      await t.step(`the operator may not change ${name} in the ${kind.kind}`, async () => {
        await assert.rejects(patch(operator, kind, "notes", change, "json"), isDeniedByPolicy);
      });
    }
  }

  const webhookPath = "/spec/conversion/webhook";
  const definitions: readonly (readonly [name: string, patch: Patch])[] = [
    ["the Service", set(`${webhookPath}/clientConfig/service/name`, "other")],
    ["the URL", {
      operations: [
        { op: "add", path: `${webhookPath}/clientConfig/url`, value: "https://attacker.example/x" },
        { op: "remove", path: `${webhookPath}/clientConfig/service` },
      ],
    }],
    ["the conversion strategy", {
      operations: [{ op: "replace", path: "/spec/conversion", value: { strategy: "None" } }],
    }],
    ["the review versions", set(`${webhookPath}/conversionReviewVersions`, ["v1beta1", "v1"])],
    ["the schema", set("/spec/versions/0/schema/openAPIV3Schema/description", "changed")],
    ["the short names", set("/spec/names/shortNames", ["no"])],
    ["the labels", set("/metadata/labels", { a: "b" })],
  ];
  await t.step("the operator may change its CA bundle in the conversion of its definition", async () => {
    await patch(
      operator,
      CustomResourceDefinition,
      DEFINITION,
      set(`${webhookPath}/clientConfig/caBundle`, ""),
      "json",
    );
  });
  for (const [name, change] of definitions) {
    await t.step(`the operator may not change ${name} in its definition`, async () => {
      await assert.rejects(patch(operator, CustomResourceDefinition, DEFINITION, change, "json"), isDeniedByPolicy);
    });
  }

  const secrets: readonly (readonly [name: string, patch: Patch])[] = [
    ["another key", { data: { other: "eA==" } }],
    ["another key through stringData", { stringData: { other: "x" } }],
    ["the field immutable", { immutable: true }],
    ["a label", { metadata: { labels: { a: "b" } } }],
    ["an annotation", { metadata: { annotations: { "kubernetes.io/service-account.name": "default" } } }],
    ["a finalizer", { metadata: { finalizers: ["example.com/held"] } }],
  ];
  for (const [name, change] of secrets) {
    await t.step(`the operator may not write ${name} to its Secret`, async () => {
      await assert.rejects(patch(operator, Secret, "notes-webhook", change), isDeniedByPolicy);
    });
  }
  await t.step("the type of the Secret cannot be changed", async () => {
    const type = { type: "kubernetes.io/service-account-token" };
    await assert.rejects(patch(operator, Secret, "notes-webhook", type), (error) => error instanceof ApiError);
  });
  await t.step(
    "the operator may not create a Secret, such as one with the token of another account, even under its own name",
    async () => {
      await admin.create(ServiceAccount, { metadata: { name: "powerful" } } as never, { namespace: NAMESPACE });
      await admin.delete(Secret, "notes-webhook", { namespace: NAMESPACE });
      for (const name of ["notes-webhook", "other"]) {
        const annotations = { "kubernetes.io/service-account.name": "powerful" };
        const secret = { metadata: { name, annotations }, type: "kubernetes.io/service-account-token" };
        await assert.rejects(
          operator.create(Secret, secret as never, { namespace: NAMESPACE }),
          (error) => isStatus(error, 403),
        );
      }
      await deploy();
    },
  );

  await t.step("with these permissions the operator issues its certificate, publishes it, and renews it", async () => {
    const stop = new AbortController();
    const used: string[] = [];
    const keeper = new CertificateKeeper({
      client: operator,
      clock: systemClock,
      random: () => 0.5,
      log: operatorLog("notes"),
      identity: "a",
      // Short times, so that the steps of a renewal follow each other without a delay.
      times: { authority: 1e10, server: 1e9, publish: 150, drop: 300, checkInterval: 50 },
      use: ({ certificate }) => void used.push(certificate),
      secret: { name: "notes-webhook", namespace: NAMESPACE },
      names: ["notes-webhook.moved.svc"],
      targets: { mutating: "notes", validating: "notes", definitions: [DEFINITION] },
    });
    const running = keeper.run(stop.signal);
    const published = async (): Promise<string[]> => {
      const { webhooks = [] } = await admin.get(ValidatingWebhookConfiguration, "notes");
      return certificatesIn(atob(webhooks[0]!.clientConfig.caBundle ?? ""));
    };
    await eventually(async () => assert.equal((await published()).length, 1), { state: () => `${keeper.problem}` });
    const [before] = await published();
    await eventually(() => assert.equal(used.length, 1));
    const since = { metadata: { annotations: { "op/authority-since": "1970-01-01T00:00:00Z" } } };
    await patch(admin, Secret, "notes-webhook", since);
    await eventually(async () => assert.notEqual((await published())[0], before), { state: () => `${keeper.problem}` });
    stop.abort();
    await running;
    assert.equal(keeper.problem, undefined);
  });

  await t.step("a second deploy does not change the certificate", async () => {
    const { data } = await admin.get(Secret, "notes-webhook", { namespace: NAMESPACE });
    assert.deepEqual(Object.keys(data ?? {}).sort(), ["ca.crt", "ca.key", "tls.crt", "tls.key"]);
    const printed = await deploy();
    assert.match(printed, /unchanged +Secret moved\/notes-webhook/);
    assert.deepEqual((await admin.get(Secret, "notes-webhook", { namespace: NAMESPACE })).data, data);
  });

  await t.step(
    "the policy does not limit an administrator, or another account that may patch webhooks",
    async () => {
      await patch(admin, ValidatingWebhookConfiguration, "notes", set("/webhooks/0/timeoutSeconds", 7), "json");
      const metadata = { name: "injector" };
      const rule = { apiGroups: ["admissionregistration.k8s.io"], resources: ["*"], verbs: ["get", "patch"] };
      await admin.create(ServiceAccount, { metadata } as never, { namespace: "default" });
      await admin.create(ClusterRole, { metadata, rules: [rule] } as never);
      await admin.create(ClusterRoleBinding, {
        metadata,
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: metadata.name },
        subjects: [{ kind: "ServiceAccount", name: metadata.name, namespace: "default" }],
      } as never);
      using connection = connectAs(cluster, await tokenOf(cluster, "default", metadata.name));
      const injector = new Client(connection);
      await eventually(() =>
        patch(injector, ValidatingWebhookConfiguration, "notes", set("/webhooks/0/timeoutSeconds", 8), "json")
      );
    },
  );

  await t.step("a preview of op uninstall lists the policy, its binding and the Secret", async () => {
    const preview = await folder.op("uninstall", "--kubeconfig", "kubeconfig", "--into", NAMESPACE);
    for (const kind of ["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "Secret"]) {
      assert.match(preview.stdout, new RegExp(`would delete ${kind} `));
    }
  });
});

/** Returns whether the admission policy rejected the request. */
function isDeniedByPolicy(error: unknown): boolean {
  return error instanceof ApiError && error.status === 422 && /ValidatingAdmissionPolicy 'notes'/.test(error.message);
}
