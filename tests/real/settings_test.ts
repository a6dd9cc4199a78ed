/**
 * An operator's settings at start and at run time, and its metrics and Events, on a real API
 * server.
 */
import assert from "node:assert/strict";
import { ConfigMap, Event, Namespace } from "../../src/kinds/mod.ts";
import { realCluster } from "../../src/testing/real_cluster.ts";
import { freePort } from "../fixtures/build_operator.ts";
import { adminClient, watched } from "../fixtures/watched.ts";
import { eventually } from "../eventually.ts";
import op, { Note } from "../fixtures/operators/elected.ts";
import { install } from "../fixtures/install.ts";
import { startOperator } from "../fixtures/operator_process.ts";
import { temporaryFolder } from "../fixtures/kubeconfig_clients.ts";

Deno.test("settings select namespaces and objects, and change the log level and pause an operator at run time", async () => {
  await using cluster = await realCluster();
  await using home = await temporaryFolder();
  const client = adminClient(cluster);
  await install(client, op);
  const port = freePort();
  await home.write({
    config: cluster.admin.kubeconfig,
    "main.ts": `
      import { controller, operator } from "@op/sdk";
      import { ConfigMap } from "@op/sdk/kinds";
      import { Note } from ${JSON.stringify(new URL("../fixtures/operators/elected.ts", import.meta.url).href)};
      const notes = controller(Note, {
        owns: [ConfigMap],
        async reconcile(note, { apply, events, log }) {
          log.debug("Note seen");
          await apply(ConfigMap, { metadata: { name: note.metadata.name }, data: { text: note.spec.text } });
          events.normal("Copied", "The text is " + note.spec.text, { action: "Copy" });
        },
      });
      await operator({ name: "note-operator", parts: { notes }, health: { hostname: "127.0.0.1" } }).main();
    `,
    "operator.toml": '[operator]\nnamespaces = ["one", "two"]\nselector = "watch=yes"\nlog_level = "info"\n',
  });
  await using operator = await startOperator({
    home: home.path,
    main: `${home.path}/main.ts`,
    args: ["--kubeconfig", "config", "--config", "operator.toml"],
    env: { OP_HEALTH_PORT: String(port) },
  });
  await operator.logged(({ msg }) => msg === "Controller started");
  for (const name of ["one", "two", "three"]) {
    await client.create(Namespace, { metadata: { name } });
    const labels = { watch: "yes" };
    await client.create(Note, { metadata: { name: "a", labels }, spec: { text: name } }, { namespace: name });
    await client.create(Note, { metadata: { name: "b" }, spec: { text: name } }, { namespace: name });
  }
  await using maps = await watched(client, ConfigMap);
  await using events = await watched(client, Event);
  const copies = () =>
    maps.values().filter(({ data }) => data?.text !== undefined).map(({ metadata }) =>
      `${metadata.namespace}/${metadata.name}`
    ).sort();
  await maps.until(() => copies().length === 2);
  assert.deepEqual(copies(), ["one/a", "two/a"]);
  await events.until((all) => all.filter(({ reason }) => reason === "Copied").length === 2);
  const event = events.values().find(({ regarding }) => regarding?.namespace === "one");
  assert.deepEqual([event?.note, event?.action, event?.reportingController, event?.type], [
    "The text is one",
    "Copy",
    "note-operator.notes",
    "Normal",
  ]);

  const read = async (path: string) => await (await fetch(`http://127.0.0.1:${port}${path}`)).text();
  // A write is counted when its response arrives, and a reconcile when it ends.
  const matches = (path: string, pattern: RegExp) => eventually(async () => assert.match(await read(path), pattern));
  await matches("/metrics", /^controller_runtime_reconcile_total\{controller="notes",result="success"\} 2$/m);
  await matches(
    "/metrics",
    /^op_cache_objects\{group="elected\.example\.com",version="v1",kind="Note",namespace="one"\} 1$/m,
  );
  await matches("/metrics", /^rest_client_requests_total\{code="201",method="PATCH",host="127\.0\.0\.1:\d+"\} 2$/m);
  await matches("/metrics", /^op_events_total\{result="written"\} 2$/m);
  await matches("/livez", /^\[\+\]event loop: on time$/m);

  await home.write({
    "operator.toml":
      '[operator]\nnamespaces = ["one", "two"]\nselector = "watch=yes"\npaused = true\nlog_level = "debug"\n',
  });
  await operator.logged(({ msg, paused }) => msg === "Settings reloaded" && paused === true);
  await client.patch(Note, "a", { spec: { text: "changed" } }, { namespace: "one" });
  await matches("/readyz", /^\[-\]controller notes: is paused$/m);
  await matches("/metrics", /^workqueue_depth\{name="notes",controller="notes",priority="\w+"\} 1$/m);
  assert.equal((await client.get(ConfigMap, "a", { namespace: "one" })).data?.text, "one");
  assert.doesNotMatch(operator.text, /Note seen/);
  await home.write({
    "operator.toml": '[operator]\nnamespaces = ["one", "two"]\nselector = "watch=yes"\nlog_level = "debug"\n',
  });
  await operator.logged(({ msg, level }) => msg === "Note seen" && level === "debug");
  await maps.until((all) => all.some(({ data }) => data?.text === "changed"));
  assert.equal(await operator.stop(), 0);
});
