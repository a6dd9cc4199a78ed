/**
 * The load that `apiserver.ts` puts on API servers. It is the same for each, through a function
 * that sends a request.
 */
import { configMap, GROUP, widget, widgetDefinition } from "../tests/contract/widget.ts";

/** Sends a request to a path. */
export type Send = (path: string, init?: RequestInit) => Promise<Response>;

const [version] = widgetDefinition.spec.versions;
const { spec, status } = version.schema.openAPIV3Schema.properties;
const specWithRule = { ...spec, "x-kubernetes-validations": [{ rule: "self.size < 10 || !has(self.note)" }] };

/** The CRD of the contract suite, with a validation rule added. */
export const DEFINITION = {
  ...widgetDefinition,
  spec: {
    ...widgetDefinition.spec,
    versions: [{
      ...version,
      schema: { openAPIV3Schema: { type: "object", properties: { spec: specWithRule, status } } },
    }],
  },
};

export { GROUP };

const DATA = { text: "x".repeat(200) };
const LABELS = { labels: { app: "bench" } };
const SPEC = { size: 3, words: ["a", "b"] };

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const WIDGETS = `/apis/${GROUP}/v1/namespaces/default/widgets`;

// Enough to keep two cores busy with the server and its client.
const CONCURRENCY = 16;

/** Creates the CRD, and waits until its objects can be created. */
export async function define(send: Send): Promise<void> {
  await expectOk(send("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", post(DEFINITION)));
  for (let name = 0;; name++) {
    const response = await send(WIDGETS, post(widget(`first-${name}`, SPEC)));
    await response.body?.cancel();
    if (response.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Returns the number of ConfigMaps created per second. */
export function createConfigMaps(send: Send, count: number, prefix: string): Promise<number> {
  return perSecond(count, (i) => expectOk(send(CONFIG_MAPS, post(configMap(`${prefix}-${i}`, DATA, LABELS)))));
}

/** Returns the number of Widgets created per second. */
export function createWidgets(send: Send, count: number, prefix: string): Promise<number> {
  return perSecond(count, (i) => expectOk(send(WIDGETS, post(widget(`${prefix}-${i}`, SPEC)))));
}

/** Returns the number of server-side applies per second, each of a change to an existing Widget. */
export function applyWidgets(send: Send, count: number, prefix: string): Promise<number> {
  return perSecond(count, (i) => {
    const name = `${prefix}-${i}`;
    const object = widget(name, { size: 4, words: ["a"] });
    return expectOk(
      send(`${WIDGETS}/${name}?fieldManager=bench&force=true`, {
        method: "PATCH",
        headers: { "content-type": "application/apply-patch+yaml" },
        body: JSON.stringify(object),
      }),
    );
  });
}

/** Returns the number of gets per second. */
export function get(send: Send, count: number, prefix: string): Promise<number> {
  return perSecond(count, (i) => expectOk(send(`${CONFIG_MAPS}/${prefix}-${i}`)));
}

/** Returns the number of lists of the first 500 ConfigMaps per second. */
export function list(send: Send, count: number): Promise<number> {
  return perSecond(count, () => expectOk(send(`${CONFIG_MAPS}?limit=500`)));
}

/** Returns the number of lists of all ConfigMaps per second. */
export function listAll(send: Send, count: number): Promise<number> {
  return perSecond(count, () => expectOk(send(CONFIG_MAPS)));
}

/**
 * Returns the number of events per second that reach watchers while objects are created at full
 * speed.
 */
export async function fanOut(send: Send, watchers: number, count: number): Promise<number> {
  const { metadata } = await (await send(`${CONFIG_MAPS}?limit=1`)).json();
  const abort = new AbortController();
  const streams = await Promise.all(
    Array.from(
      { length: watchers },
      () => send(`${CONFIG_MAPS}?watch=1&resourceVersion=${metadata.resourceVersion}`, { signal: abort.signal }),
    ),
  );
  const start = performance.now();
  const seen = streams.map((stream) => readLines(stream, count));
  const created = createConfigMaps(send, count, "fan");
  await Promise.all([...seen, created]);
  const seconds = (performance.now() - start) / 1000;
  abort.abort();
  return watchers * count / seconds;
}

/** Reads a stream until it has delivered `count` lines. */
async function readLines(stream: Response, count: number): Promise<void> {
  const reader = stream.body!.getReader();
  let found = 0;
  while (found < count) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`Benchmark of watches: the stream ended after ${found} of ${count} events`);
    for (const byte of value) if (byte === 10) found++;
  }
  await reader.cancel().catch(() => {});
}

function post(object: object): RequestInit {
  return { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(object) };
}

async function expectOk(pending: Promise<Response>): Promise<void> {
  const response = await pending;
  const body = new Uint8Array(await response.arrayBuffer());
  if (!response.ok) throw new Error(`Benchmark request failed: ${response.status} ${new TextDecoder().decode(body)}`);
}

async function perSecond(count: number, request: (i: number) => Promise<void>): Promise<number> {
  let next = 0;
  const start = performance.now();
  await Promise.all(Array.from({ length: CONCURRENCY }, async () => {
    while (next < count) await request(next++);
  }));
  return count / ((performance.now() - start) / 1000);
}
