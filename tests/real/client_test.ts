/**
 * The client's calls on a real API server. Unit tests check what the client sends; these check that
 * the server accepts it.
 */
import assert from "node:assert/strict";
import {
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  CustomResourceDefinition,
  Deployment,
  Namespace,
  ResourceQuota,
} from "../../src/kinds/mod.ts";
import { ApiError } from "../../src/kube/api_error.ts";
import type { WatchEvent } from "../../src/kube/calls.ts";
import { findKind } from "../../src/kube/discovery.ts";
import { realCluster } from "../../src/testing/real_cluster.ts";
import { Website } from "../../examples/01_website/website.ts";
import { eventReader } from "../fixtures/event_reader.ts";
import { untilServed } from "../fixtures/install.ts";
import { eventually } from "../eventually.ts";
import { clientBy, temporaryFolder } from "../fixtures/kubeconfig_clients.ts";

const IN_DEFAULT = { namespace: "default" };

Deno.test("each call of Client works on a real API server", async (t) => {
  await using cluster = await realCluster({ audit: "everything" });
  await using folder = await temporaryFolder();
  const guest = await cluster.user("guest");
  await folder.write({ admin: cluster.admin.kubeconfig, guest: guest.kubeconfig });
  using admin = await clientBy(`${folder.path}/admin`);
  const { client } = admin;
  await client.create(CustomResourceDefinition, Website.crd as never);
  await untilServed(client);

  await t.step("create returns the stored object, and get returns the same", async () => {
    const created = await client.create(ConfigMap, { metadata: { name: "created", ...IN_DEFAULT }, data: { a: "1" } }, {
      manager: "creator",
    });
    assert.match(created.metadata.uid, /^[0-9a-f-]{36}$/);
    assert.equal(created.metadata.managedFields?.[0]?.manager, "creator");
    assert.deepEqual(await client.get(ConfigMap, "created", IN_DEFAULT), created);
  });

  await t.step("create with dry run returns the resulting object, and does not store it", async () => {
    const tried = await client.create(ConfigMap, { metadata: { name: "tried", ...IN_DEFAULT } }, { dryRun: true });
    assert.equal(tried.metadata.name, "tried");
    await assert.rejects(client.get(ConfigMap, "tried", IN_DEFAULT), { name: "ApiError", status: 404 });
  });

  await t.step("apply stores every character unchanged, including control characters and line separators", async () => {
    const codes = [
      ...Array(0xa0).keys(),
      0x2028,
      0x2029,
      0xd7ff,
      0xe000,
      0xfeff,
      0xfffd,
      0xfffe,
      0xffff,
      0x1fffe,
      0x1f600,
    ];
    const text = codes.map((code) => `<${String.fromCodePoint(code)}>`).join("");
    const metadata = { name: "characters", ...IN_DEFAULT, annotations: { "example.com/text": text } };
    const applied = await client.apply(ConfigMap, { metadata, data: { text } }, { manager: "test" });
    assert.equal(applied.data?.text, text);
    const { data, metadata: { annotations } } = await client.get(ConfigMap, "characters", IN_DEFAULT);
    assert.deepEqual([data?.text, annotations?.["example.com/text"]], [text, text]);
  });

  await t.step("list collects 1,100 objects from three pages", async () => {
    await client.create(Namespace, { metadata: { name: "many" } });
    const names = Array.from({ length: 1100 }, (_, i) => `map-${String(i).padStart(4, "0")}`);
    await Promise.all(
      names.map((name, i) =>
        client.create(ConfigMap, {
          metadata: { name, namespace: "many", labels: { half: i % 2 === 0 ? "even" : "odd" } },
        })
      ),
    );
    const items = await client.list(ConfigMap, { namespace: "many" });
    assert.deepEqual(items.map(({ metadata }) => metadata.name), names);
    assert(items.every(({ apiVersion, kind }) => apiVersion === "v1" && kind === "ConfigMap"));

    const requests = (await cluster.auditLog()).filter(({ verb, objectRef }) =>
      verb === "list" && objectRef?.resource === "configmaps" && objectRef.namespace === "many"
    );
    assert.equal(requests.length, 3);
    assert(requests.every(({ requestURI, userAgent }) => requestURI.includes("limit=500") && userAgent === "test"));
  });

  await t.step("list accepts label and field selectors", async () => {
    const even = await client.list(ConfigMap, { namespace: "many", labelSelector: "half in (even),half!=odd" });
    assert.equal(even.length, 550);
    const one = await client.list(ConfigMap, { fieldSelector: "metadata.name=map-0007" });
    assert.deepEqual(one.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`), ["many/map-0007"]);
  });

  await t.step("page continues from the state of its first page, regardless of later writes", async () => {
    const first = await client.page(ConfigMap, undefined, { namespace: "many" });
    assert.equal(first.items.length, 500);
    await client.delete(ConfigMap, "map-0700", { namespace: "many" });
    const second = await client.page(ConfigMap, first.continue, { namespace: "many" });
    assert.equal(second.resourceVersion, first.resourceVersion);
    assert(second.items.some(({ metadata }) => metadata.name === "map-0700"));
  });

  await t.step("watch starts with the existing objects, marks their end, then reports each change", async () => {
    const stop = new AbortController();
    const selection = { namespace: "many", labelSelector: "half=odd" };
    await using events = eventReader(
      client.watch(ConfigMap, { ...selection, sendInitialEvents: true, signal: stop.signal }),
      stop,
    );
    const initial: WatchEvent[] = [];
    let event = await events.next();
    for (; event.type === "ADDED"; event = await events.next()) initial.push(event);
    assert.equal(initial.length, 550);
    assert.equal(event.type, "BOOKMARK");
    assert.equal(event.object.metadata.annotations?.["k8s.io/initial-events-end"], "true");

    await client.patch(ConfigMap, "map-0001", { data: { a: "1" } }, { namespace: "many" });
    await client.patch(ConfigMap, "map-0002", { data: { a: "1" } }, { namespace: "many" });
    await client.patch(ConfigMap, "map-0003", { metadata: { labels: { half: "even" } } }, { namespace: "many" });
    await client.delete(ConfigMap, "map-0005", { namespace: "many" });
    const changes: WatchEvent[] = [];
    while (changes.length < 3) changes.push(...[await events.next()].filter(isChange));
    assert.deepEqual(changes.map(({ type, object }) => [type, object.metadata.name]), [
      ["MODIFIED", "map-0001"],
      ["DELETED", "map-0003"], // it left the selection
      ["DELETED", "map-0005"],
    ]);
  });

  await t.step("watch resumes from a version, and ends when its signal is aborted", async () => {
    const stop = new AbortController();
    const { metadata } = await client.get(ConfigMap, "map-0001", { namespace: "many" });
    const seen: string[] = [];
    const { resourceVersion } = metadata;
    for await (const batch of client.watch(ConfigMap, { namespace: "many", resourceVersion, signal: stop.signal })) {
      seen.push(...batch.filter(isChange).map(({ type, object }) => `${type} ${object.metadata.name}`));
      if (seen.length >= 3) stop.abort();
    }
    assert.deepEqual(seen, ["MODIFIED map-0002", "MODIFIED map-0003", "DELETED map-0005"]);
  });

  await t.step("watch ends at the server's timeout", async () => {
    let batches = 0;
    for await (const _ of client.watch(ResourceQuota, { timeoutSeconds: 1, sendInitialEvents: true })) batches++;
    assert(batches >= 1);
  });

  await t.step("a merge patch removes fields that are null, and replaces lists", async () => {
    await client.create(Website, site("merged"));
    const { spec } = await client.patch(Website, "merged", { spec: { theme: "dark", text: null } }, IN_DEFAULT);
    assert.deepEqual(spec, { host: "merged.example.com", theme: "dark", text: "Hello" });
  });

  await t.step("patch applies a JSON patch, including its test operation", async () => {
    const patch = [{ op: "test", path: "/spec/theme", value: "dark" }, {
      op: "replace",
      path: "/spec/theme",
      value: "light",
    }];
    const patched = await client.patch(Website, "merged", patch, { ...IN_DEFAULT, type: "json" });
    assert.equal(patched.spec.theme, "light");
    await assert.rejects(client.patch(Website, "merged", patch, { ...IN_DEFAULT, type: "json" }), {
      name: "ApiError",
      status: 422,
      message: /^Cannot patch Website "default\/merged": the apiserver answered 422 Invalid/,
    });
  });

  await t.step("patch merges lists by key if the type is strategic", async () => {
    const container = (name: string) => ({ name, image: "nginx" });
    await client.create(Deployment, {
      metadata: { name: "web", ...IN_DEFAULT },
      spec: {
        selector: { matchLabels: { app: "web" } },
        template: { metadata: { labels: { app: "web" } }, spec: { containers: [container("a"), container("b")] } },
      },
    });
    const patch = { spec: { template: { spec: { containers: [{ name: "b", image: "caddy" }] } } } };
    const patched = await client.patch(Deployment, "web", patch, { ...IN_DEFAULT, type: "strategic" });
    const { containers } = patched.spec!.template.spec!;
    assert.deepEqual(containers.map(({ name, image }) => [name, image]).sort(), [["a", "nginx"], ["b", "caddy"]]);
  });

  await t.step("apply creates, updates and removes fields, and fails on conflicts unless forced", async () => {
    const applied = (data: Record<string, string>) => ({ metadata: { name: "applied", ...IN_DEFAULT }, data });
    await client.apply(ConfigMap, applied({ a: "1", b: "1" }), { manager: "one" });
    const changed = await client.apply(ConfigMap, applied({ a: "2" }), { manager: "one" });
    assert.deepEqual(changed.data, { a: "2" });
    await assert.rejects(client.apply(ConfigMap, applied({ a: "3" }), { manager: "two" }), (error) => {
      assert(error instanceof ApiError);
      assert.deepEqual([error.status, error.reason], [409, "Conflict"]);
      assert.match(error.message, /^Cannot apply ConfigMap "default\/applied": the apiserver answered 409 Conflict: /);
      assert.equal(error.causes[0]?.field, ".data.a");
      return true;
    });
    const forced = await client.apply(ConfigMap, applied({ a: "3" }), { manager: "two", force: true });
    assert.deepEqual(forced.data, { a: "3" });
    assert.deepEqual(forced.metadata.managedFields?.map(({ manager, operation }) => [manager, operation]), [
      ["two", "Apply"],
    ]);
  });

  await t.step("status is written only through its subresource", async () => {
    await client.create(Website, site("reported"));
    const status = { url: "https://reported.example.com", bytes: 1 };
    const ignored = await client.patch(Website, "reported", { status }, IN_DEFAULT);
    assert.equal(ignored.status, undefined);
    const patch = { spec: { theme: "dark" }, status };
    const written = await client.patch(Website, "reported", patch, { ...IN_DEFAULT, subresource: "status" });
    assert.deepEqual(written.status, status);
    assert.deepEqual([written.spec.theme, written.metadata.generation], ["light", 1]);
    const applied = await client.apply(
      Website,
      { ...site("reported"), status: { bytes: 2 } } as Parameters<typeof client.apply<typeof Website>>[1],
      { manager: "reporter", force: true, subresource: "status" },
    );
    assert.equal(applied.status?.bytes, 2);
  });

  await t.step("delete with a uid deletes only the object with that uid", async () => {
    const { metadata } = await client.create(ConfigMap, { metadata: { name: "doomed", ...IN_DEFAULT } });
    await assert.rejects(
      client.delete(ConfigMap, "doomed", { ...IN_DEFAULT, preconditions: { uid: crypto.randomUUID() } }),
      {
        name: "ApiError",
        status: 409,
        message: /^Cannot delete ConfigMap "default\/doomed": the apiserver answered 409 Conflict: .*UID/,
      },
    );
    await client.delete(ConfigMap, "doomed", { ...IN_DEFAULT, preconditions: { uid: metadata.uid } });
    await assert.rejects(client.delete(ConfigMap, "doomed", IN_DEFAULT), { name: "ApiError", status: 404 });
  });

  await t.step("errors describe the request, with status, reason and causes", async () => {
    using guestClient = await clientBy(`${folder.path}/guest`);
    const stale = { metadata: { resourceVersion: "1" }, data: {} };
    const cases = [
      {
        call: () => client.get(ConfigMap, "missing", IN_DEFAULT),
        expected: [404, "NotFound", []],
        message:
          'Cannot get ConfigMap "default/missing": the apiserver answered 404 NotFound: configmaps "missing" not found',
      },
      {
        call: () => client.create(ConfigMap, { metadata: { name: "created", ...IN_DEFAULT } }),
        expected: [409, "AlreadyExists", []],
        message:
          'Cannot create ConfigMap "default/created": the apiserver answered 409 AlreadyExists: configmaps "created" already exists',
      },
      {
        call: () => client.patch(ConfigMap, "created", stale, IN_DEFAULT),
        expected: [409, "Conflict", []],
        message: /^Cannot patch ConfigMap "default\/created": the apiserver answered 409 Conflict: .*has been modified/,
      },
      {
        call: () => client.create(Website, { ...site("pink"), spec: { host: "no host", theme: "pink" as "light" } }),
        expected: [422, "Invalid", ["spec.host", "spec.theme"]],
        message:
          /^Cannot create Website "default\/pink": the apiserver answered 422 Invalid: .*spec\.theme: Unsupported value: "pink"/,
      },
      {
        call: () => guestClient.client.list(ConfigMap),
        expected: [403, "Forbidden", []],
        message:
          'Cannot list ConfigMap: the apiserver answered 403 Forbidden: configmaps is forbidden: User "guest" cannot list resource "configmaps" in API group "" at the cluster scope',
      },
      {
        call: () => guestClient.client.watch(ConfigMap, IN_DEFAULT).next(),
        expected: [403, "Forbidden", []],
        message: /^Cannot watch ConfigMap "default": .*User "guest" cannot watch resource "configmaps"/,
      },
      {
        call: () => client.raw("/nowhere"),
        expected: [404, "", []],
        message: 'Cannot read "/nowhere": the apiserver answered 404: 404 page not found',
      },
    ];
    for (const { call, expected, message } of cases) {
      await assert.rejects(call(), (error) => {
        assert(error instanceof ApiError, String(error));
        const fields = [...new Set(error.causes.map(({ field }) => field))].sort();
        assert.deepEqual([error.status, error.reason, fields], expected);
        if (typeof message === "string") assert.equal(error.message, message);
        else assert.match(error.message, message);
        return true;
      });
    }
  });

  await t.step("a new RBAC permission takes effect without a new connection", async () => {
    using guestClient = await clientBy(`${folder.path}/guest`);
    await assert.rejects(guestClient.client.list(ConfigMap, IN_DEFAULT), { name: "ApiError", status: 403 });
    const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["list"] }];
    await client.create(ClusterRole, { metadata: { name: "guest" }, rules });
    await client.create(ClusterRoleBinding, {
      metadata: { name: "guest" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "guest" },
      subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "guest" }],
    });
    const maps = await eventually(() => guestClient.client.list(ConfigMap, IN_DEFAULT));
    assert(maps.some(({ metadata }) => metadata.name === "created"));
  });

  await t.step("findKind finds a kind by each of its names", async () => {
    const names: Record<string, string> = {
      ConfigMap: "v1/configmaps",
      configmaps: "v1/configmaps",
      configmap: "v1/configmaps",
      cm: "v1/configmaps",
      deploy: "apps/v1/deployments",
      "deployments.apps": "apps/v1/deployments",
      "deployments.v1.apps": "apps/v1/deployments",
      "Deployment.v1.apps": "apps/v1/deployments",
      events: "v1/events", // As with kubectl, the core group has precedence.
      "events.events.k8s.io": "events.k8s.io/v1/events",
      web: "demo.example.com/v1/websites",
      "website.demo.example.com": "demo.example.com/v1/websites",
      ns: "v1/namespaces",
    };
    for (const [name, expected] of Object.entries(names)) {
      const kind = await findKind(client, name);
      assert.equal(`${kind.apiVersion}/${kind.plural}`, expected, name);
    }
    assert.equal((await findKind(client, "ns")).namespaced, false);
    const sites = await client.list(await findKind(client, "web"), IN_DEFAULT);
    assert.deepEqual(sites.map(({ metadata }) => metadata.name), ["merged", "reported"]);
  });

  await t.step("findKind rejects an unknown or ambiguous name", async () => {
    await assert.rejects(findKind(client, "gadgets"), {
      message:
        'Cannot find kind "gadgets": the cluster does not serve it. Check that its CustomResourceDefinition is installed',
    });
    await assert.rejects(findKind(client, "websites.v2.demo.example.com"), { code: "KindNotServed" });
    const other = JSON.parse(JSON.stringify(Website.crd).replaceAll("demo.example.com", "other.example.com"));
    await client.create(CustomResourceDefinition, other);
    await untilServed(client);
    await eventually(() =>
      assert.rejects(findKind(client, "websites"), {
        message:
          'Cannot find kind "websites": several groups have it. Use one of websites.demo.example.com, websites.other.example.com',
      })
    );
    assert.equal((await findKind(client, "websites.other.example.com")).group, "other.example.com");
  });
});

function site(name: string) {
  return { metadata: { name, ...IN_DEFAULT }, spec: { host: `${name}.example.com` } };
}

/** Returns whether an event is a change. The server also sends bookmarks, about once a minute. */
function isChange({ type }: WatchEvent): boolean {
  return type !== "BOOKMARK";
}
