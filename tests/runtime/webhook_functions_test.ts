/** The context, the deadlines and the errors of webhook functions, without a server. */
import assert from "node:assert/strict";
import { conversion, deny, webhook } from "@op/sdk";
import { VirtualClock } from "../../src/base/virtual_clock.ts";
import type { Logger } from "../../src/runtime/logger.ts";
import { Metrics } from "../../src/runtime/metrics.ts";
import { conversionReview, Note, NoteV2, PATH, review } from "../fixtures/reviews.ts";
import { advance, webhookHandler } from "./_webhooks.ts";

Deno.test("a webhook function receives the user, dryRun and the old object of the request", async () => {
  let received: unknown;
  const noteRules = webhook(Note, {
    validate({ spec }, { operation, old, user, dryRun, name, namespace, request }) {
      received = { text: spec.text, old: old?.spec.text, operation, user, dryRun, name, namespace, request };
    },
  });
  const { request } = review("new", "u-1");
  const user = { username: "eve", uid: "7", groups: ["crew", "system:authenticated"], extra: { "a.b/scopes": ["x"] } };
  const update = {
    ...request,
    operation: "UPDATE",
    name: "b",
    namespace: "shop",
    dryRun: true,
    userInfo: user,
    oldObject: { ...request.object, spec: { text: "old" } },
  };
  assert.deepEqual(await respond({ noteRules }, { ...review(), request: update }), { uid: "u-1", allowed: true });
  assert.deepEqual(received, {
    text: "new",
    old: "old",
    operation: "UPDATE",
    user,
    dryRun: true,
    name: "b",
    namespace: "shop",
    request: update,
  });
});

Deno.test("warnings and audit annotations are returned when a request is allowed, denied or mutated", async () => {
  const noteRules = webhook(Note, {
    mutate(note, { warn, audit }) {
      note.spec.text = "changed";
      warn("the text was changed");
      audit("changed", "yes");
    },
    validate({ spec }, { warn, audit }) {
      warn("one");
      warn("two");
      audit("seen-by", "one");
      audit("seen-by", "two");
      if (spec.text === "forbidden") throw deny("this text is forbidden");
    },
  });
  const reported = { warnings: ["one", "two"], auditAnnotations: { "seen-by": "two" } };
  assert.deepEqual(await respond({ noteRules }, review("fine", "u-1")), { uid: "u-1", allowed: true, ...reported });
  assert.deepEqual(await respond({ noteRules }, review("forbidden", "u-2")), {
    uid: "u-2",
    allowed: false,
    status: { status: "Failure", message: "this text is forbidden", reason: "Forbidden", code: 403 },
    ...reported,
  });
  const changed = await respond({ noteRules }, review("fine", "u-3"), "/mutate/note-rules");
  assert.deepEqual([changed.warnings, changed.auditAnnotations], [["the text was changed"], { changed: "yes" }]);
  assert.deepEqual(JSON.parse(atob(changed.patch)), [{ op: "replace", path: "/spec/text", value: "changed" }]);
});

Deno.test("an invalid audit key fails the webhook", async () => {
  for (const key of ["", "a b", "a/b", "-a", "a".repeat(64)]) {
    const noteRules = webhook(Note, { validate: (_note, { audit }) => audit(key, "x") });
    assert.equal((await webhookHandler({ noteRules }).fetch(post(review()))).status, 500, key);
  }
});

const DEADLINES = [
  { name: "the server's timeout of 10 s", query: "?timeout=10s", after: 9000 },
  { name: "the server's timeout of 1 s", query: "?timeout=1s", after: 900 },
  { name: "only the webhook's timeout of 3 s", query: "", after: 2700 },
  { name: "the server's timeout of 2 s after another parameter", query: "?a=b&timeout=2s", after: 1800 },
  { name: "a timeout of 600 s, more than the 30 s that a server may wait", query: "?timeout=600s", after: 27_000 },
];

for (const { name, query, after } of DEADLINES) {
  Deno.test(`with ${name}, a webhook function times out after ${after} ms, and its signal is aborted`, async () => {
    const clock = new VirtualClock();
    const begun = Promise.withResolvers<AbortSignal>();
    const noteRules = webhook(Note, {
      timeout: "3s",
      validate: (_note, { signal }) => {
        begun.resolve(signal);
        return new Promise<never>(() => {});
      },
    });
    const pending = webhookHandler({ noteRules }, { clock }).fetch(post(review(), `${PATH}${query}`));
    const signal = await begun.promise;
    advance(clock, after - 1);
    assert.equal(signal.aborted, false);
    advance(clock, 1);
    assert.equal(signal.aborted, true);
    assert.equal((await pending).status, 504);
  });
}

const { request: VALID_REQUEST } = review("forbidden");
const resource = { group: Note.group, version: Note.version, resource: Note.plural };

/** Requests that the webhook does not cover, or that are incomplete. */
const REJECTED = [
  {
    name: "another operation",
    request: { ...VALID_REQUEST, operation: "DELETE", oldObject: VALID_REQUEST.object, object: null },
  },
  { name: "an invalid operation", request: { ...VALID_REQUEST, operation: "create" } },
  { name: "another group", request: { ...VALID_REQUEST, resource: { ...resource, group: "" } } },
  { name: "another version", request: { ...VALID_REQUEST, resource: { ...resource, version: "v2" } } },
  { name: "another resource", request: { ...VALID_REQUEST, resource: { ...resource, resource: "pods" } } },
  { name: "a subresource", request: { ...VALID_REQUEST, subResource: "status" } },
  { name: "no object", request: { ...VALID_REQUEST, object: null } },
  { name: "an update without the old object", request: { ...VALID_REQUEST, operation: "UPDATE" } },
  { name: "no user", request: { ...VALID_REQUEST, userInfo: null } },
  { name: "a user whose name is not a string", request: { ...VALID_REQUEST, userInfo: { username: ["eve"] } } },
  { name: "no uid", request: { ...VALID_REQUEST, uid: "" } },
];

Deno.test("a review that the webhook does not cover is rejected with 400, and the function is not called", async (t) => {
  let calls = 0;
  const noteRules = webhook(Note, { validate: () => (calls++, deny("never")) });
  const { fetch } = webhookHandler({ noteRules });
  for (const { name, request } of REJECTED) {
    await t.step(name, async () => {
      const response = await fetch(post({ ...review(), request }));
      assert.equal(response.status, 400);
      assert.equal(calls, 0);
    });
  }
  assert.equal((await fetch(post({ ...review(), request: VALID_REQUEST }))).status, 200);
  assert.equal(calls, 1);
});

Deno.test("a conversion can only change labels and annotations of the metadata", async () => {
  const [labels, annotations] = [{ a: "b" }, { c: "d" }];
  const body = conversionReview("x", "u-1");
  const [object] = body.request.objects;
  Object.assign(object!.metadata, { uid: "7", labels: { old: "yes" }, annotations: { old: "yes" } });
  const convertedBy = async (metadata: unknown) => {
    const notes = conversion(Note, NoteV2, {
      up: () => ({ spec: { lines: [] }, ...(metadata === undefined ? {} : { metadata: metadata as never }) }),
      down: () => ({ spec: { text: "" } }),
    });
    const { convertedObjects } = await respond({ notes }, body, "/convert");
    assert.deepEqual([convertedObjects[0].apiVersion, convertedObjects[0].kind], [NoteV2.apiVersion, "Note"]);
    return convertedObjects[0].metadata;
  };
  const unchanged = { name: "a", namespace: "default", uid: "7" };
  assert.deepEqual(await convertedBy(undefined), { ...unchanged, labels: { old: "yes" }, annotations: { old: "yes" } });
  assert.deepEqual(await convertedBy({ name: "b", uid: "8", labels }), {
    ...unchanged,
    labels,
    annotations: { old: "yes" },
  });
  assert.deepEqual(await convertedBy({ annotations }), { ...unchanged, labels: { old: "yes" }, annotations });
});

Deno.test("a conversion that returns no object, or a promise, fails", async () => {
  for (const result of [undefined, null, "x", [], Promise.resolve({ spec: { lines: [] } })]) {
    const notes = conversion(Note, NoteV2, { up: () => result as never, down: () => result as never });
    const response = await respond({ notes }, conversionReview("x", "u-1"), "/convert");
    assert.deepEqual([response.uid, response.convertedObjects, response.result.status], ["u-1", [], "Failure"]);
    assert.match(
      response.result.message,
      /^Cannot convert Note "default\/a" of .*: the function did not return an object$/,
    );
  }
});

Deno.test("requests wait until the services are created", async () => {
  const services = { current: "not created" };
  const created = Promise.withResolvers<void>();
  let received: unknown;
  const noteRules = webhook.with<string>()(Note, {
    validate: (_note, { services }) => void (received = services),
  });
  const handler = webhookHandler({ noteRules }, { ready: created.promise, services: () => services.current });
  const pending = handler.fetch(post(review()));
  // A handler that did not wait would have called the function by then.
  await new Promise((resolve) => setTimeout(resolve));
  services.current = "created";
  created.resolve();
  assert.equal((await pending).status, 200);
  assert.equal(received, "created");
});

Deno.test("an error of a webhook function is counted and logged with the request's uid, and not sent to the client", async () => {
  const lines: unknown[] = [];
  const metrics = new Metrics();
  const noteRules = webhook(Note, {
    validate() {
      throw new TypeError("the password is swordfish");
    },
  });
  const response = await webhookHandler({ noteRules }, { metrics, log: recordingLog(lines) }).fetch(
    post(review("a", "u-7")),
  );
  assert.equal(response.status, 500);
  assert.equal(await response.text(), "the webhook failed. The operator's log has the error under uid u-7");
  const [[message, { stack, ...fields }]] = lines as [[string, Record<string, string>]];
  assert.deepEqual([message, fields], ["Webhook failed", {
    webhook: "noteRules",
    uid: "u-7",
    operation: "CREATE",
    kind: "Note",
    namespace: "default",
    name: "a",
    error: "the password is swordfish",
  }]);
  assert.match(stack!, /^TypeError: the password is swordfish\n +at /);
  const text = await metrics.text();
  assert.match(text, /^controller_runtime_webhook_panics_total\{webhook="\/validate\/note-rules"\} 1$/m);
  assert.match(text, /^controller_runtime_webhook_requests_total\{webhook="\/validate\/note-rules",code="500"\} 1$/m);
});

Deno.test("a webhook function that times out is logged, and a body that does not arrive is not", async () => {
  const clock = new VirtualClock();
  const lines: unknown[] = [];
  const begun = Promise.withResolvers<void>();
  const noteRules = webhook(Note, {
    validate() {
      begun.resolve();
      return new Promise<void>(() => {});
    },
  });
  const { fetch } = webhookHandler({ noteRules }, { clock, log: recordingLog(lines) });
  const slow = fetch(post(review(), `${PATH}?timeout=2s`));
  await begun.promise;
  advance(clock, 1800);
  assert.equal((await slow).status, 504);
  const fields = { path: PATH, status: 504, error: "no response within 1800 ms" };
  assert.deepEqual(lines, [["Webhook timed out", fields]]);

  const headers = { "content-type": "application/json" };
  const silent = fetch(
    new Request(`https://notes${PATH}?timeout=2s`, { method: "POST", headers, body: new ReadableStream() }),
  );
  advance(clock, 1800);
  assert.equal((await silent).status, 504);
  assert.equal(lines.length, 1);
});

// deno-lint-ignore no-explicit-any -- a review of any shape
async function respond(parts: Parameters<typeof webhookHandler>[0], body: unknown, path = PATH): Promise<any> {
  const response = await webhookHandler(parts).fetch(post(body, path));
  assert.equal(response.status, 200);
  return (await response.json()).response;
}

function post(body: unknown, path = PATH): Request {
  const text = JSON.stringify(body);
  const headers = { "content-type": "application/json", "content-length": String(text.length) };
  return new Request(`https://notes${path}`, { method: "POST", headers, body: text });
}

/** A log that records errors and warnings. */
function recordingLog(lines: unknown[]): Logger {
  const log: Logger = {
    debug() {},
    info() {},
    warn: (...line) => void lines.push(line),
    error: (...line) => void lines.push(line),
    with: () => log,
    isDebug: false,
  };
  return log;
}
