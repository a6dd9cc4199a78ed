import assert from "node:assert/strict";
import { createApiserver, kubeconfigFor, serveApiserver } from "@op/sdk/testing";
import { RecordedIo } from "../_recorded_io.ts";
import { cli } from "../cli.ts";

Deno.test("op deploy reports the rejection of an object once, with its name", async () => {
  await using apiserver = createApiserver();
  await using served = serveApiserver(apiserver);
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/kubeconfig`, kubeconfigFor(served));
    const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x" }, data: { text: 1 } };
    await Deno.writeTextFile(`${folder}/map.json`, JSON.stringify(map));
    const io = new RecordedIo(folder);
    assert.equal(await cli(["deploy", "map.json", "--kubeconfig", "kubeconfig"], io), 1);
    assert.match(io.stderr, /^Cannot apply ConfigMap "default\/x": the apiserver answered /m);
    assert.equal(io.stderr.match(/Cannot apply/g)?.length, 1);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("op deploy omits the admission policy on an API server without admission policies, and warns", async () => {
  await using apiserver = createApiserver();
  await using inner = serveApiserver(apiserver);
  // Hides admission policies, which API servers before 1.30 do not have.
  await using older = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const { pathname, search } = new URL(request.url);
    const { method, headers, body } = request;
    const response = await fetch(`${inner.url}${pathname}${search}`, { method, headers, body });
    if (pathname !== "/apis") return response;
    const isServed = ({ resource }: { readonly resource: string }) => !resource.startsWith("validatingadmissionpolic");
    const list = await response.json();
    for (const { versions } of list.items) {
      for (const version of versions) version.resources = version.resources.filter(isServed);
    }
    return Response.json(list, { headers: { "content-type": response.headers.get("content-type")! } });
  });
  const folder = await Deno.makeTempDir();
  try {
    const kubeconfig = kubeconfigFor(inner).replaceAll(inner.url, `http://127.0.0.1:${older.addr.port}`);
    await Deno.writeTextFile(`${folder}/kubeconfig`, kubeconfig);
    const metadata = { name: "notes", labels: { "app.kubernetes.io/name": "notes" } };
    const policy = {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingAdmissionPolicyBinding",
      metadata,
      spec: { policyName: "notes", validationActions: ["Deny"] },
    };
    const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { ...metadata, namespace: "default" } };
    const apply = async (items: readonly object[]): Promise<RecordedIo & { readonly code: number }> => {
      await Deno.writeTextFile(`${folder}/all.json`, JSON.stringify({ apiVersion: "v1", kind: "List", items }));
      const io = new RecordedIo(folder);
      return Object.assign(io, {
        code: await cli(["deploy", "all.json", "--no-wait", "--kubeconfig", "kubeconfig"], io),
      });
    };
    const { code, stdout, stderr } = await apply([policy, map]);
    assert.equal(code, 0, stderr);
    assert.match(stderr, /^Warning: not applied: ValidatingAdmissionPolicyBinding "?notes"?\./m);
    assert.match(stdout, /created +ConfigMap/);
    // The policies of other owners are applied, which fails here.
    assert.equal((await apply([{ ...policy, metadata: { name: "other" } }])).code, 1);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
