/**
 * Random walks: sequences of requests for a custom kind and built-in kinds, generated from a seed.
 * Responses, the events of two watches and the final state are compared between both servers.
 */
import fc from "fast-check";
import type { Case } from "./contract.ts";
import { APPLY, JSON_PATCH, MERGE, type Recorder } from "./recorder.ts";
import { configMap, widget } from "./widget.ts";

const STRATEGIC = "application/strategic-merge-patch+json";

/** Number of random requests of a walk. */
export const STEPS = 20;

type Body = Record<string, unknown>;

/** A collection of objects that walks use. */
interface Collection {
  readonly name: string;
  path(api: Recorder): string;
  /** Returns a complete object with some content. */
  readonly object: (name: string, content: Body, metadata: Body) => Body;
  /** Random content. */
  readonly content: fc.Arbitrary<Body>;
  readonly status?: fc.Arbitrary<Body>;
  readonly hasStrategic: boolean;
}

const few = fc.constantFrom("a", "b", "c");
const map = fc.dictionary(few, fc.constantFrom("1", "2"), { maxKeys: 4 });
const maybe = <T>(value: fc.Arbitrary<T>, weight = 2) =>
  fc.option(value, { nil: undefined, freq: weight }) as fc.Arbitrary<T | undefined>;

/** Returns objects without undefined properties. */
function record(parts: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Body> {
  return fc.record(parts).map((object) =>
    Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined))
  );
}

const port = record({
  port: fc.constantFrom(1, 2, 3),
  protocol: maybe(fc.constantFrom("TCP", "UDP"), 1),
  name: maybe(fc.constantFrom("x", "y")),
});

const WIDGETS: Collection = {
  name: "widgets",
  path: (api) => api.widgets(),
  object: (name, content, metadata) => ({ ...widget(name, content, metadata) }),
  content: record({
    size: maybe(fc.constantFrom(1, 2, 3, 10, 11)),
    color: maybe(fc.constantFrom("red", "green", "blue", "pink")),
    title: maybe(fc.constantFrom("ab", "abc"), 1),
    settings: maybe(map, 1),
    words: maybe(fc.array(few, { minLength: 1, maxLength: 3 }), 1),
    tags: maybe(fc.uniqueArray(few, { maxLength: 3 }), 1),
    ports: maybe(fc.uniqueArray(port, { maxLength: 3, selector: (it) => `${it.port}/${it.protocol ?? "TCP"}` }), 2),
    nested: maybe(record({ depth: maybe(fc.nat(3)) }), 1),
    either: maybe(fc.constantFrom<unknown>(1, "1", "50%"), 1),
    pair: maybe(map, 1),
    free: maybe(fc.constantFrom<unknown>({}, { a: { b: 1 } }, { a: [1, { c: 2 }] }), 1),
  }),
  status: record({ phase: maybe(fc.constantFrom("Up", "Down")), ready: maybe(fc.constantFrom(0, 1, 2, -1)) }),
  hasStrategic: false,
};

const CONFIG_MAPS: Collection = {
  name: "configmaps",
  path: (api) => api.core("configmaps"),
  object: (name, content, metadata) => {
    const { data, ...rest } = content;
    return { ...configMap(name, data as Record<string, string>, metadata), ...rest };
  },
  content: record({ data: map, immutable: maybe(fc.constant(true), 1) }),
  hasStrategic: true,
};

const container = record({
  name: fc.constantFrom("main", "side"),
  image: fc.constantFrom("x:1", "x:2", "y"),
  env: maybe(
    fc.uniqueArray(record({ name: fc.constantFrom("A", "B"), value: few }), {
      maxLength: 2,
      selector: (it) => it.name,
    }),
    1,
  ),
  args: maybe(fc.array(few, { maxLength: 2 }), 1),
});

const DEPLOYMENTS: Collection = {
  name: "deployments",
  path: (api) => `/apis/apps/v1/namespaces/${api.namespace}/deployments`,
  object: (name, { replicas, containers, label }, metadata) => ({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, ...metadata },
    spec: {
      ...replicas !== undefined && { replicas },
      selector: { matchLabels: { app: "d" } },
      template: { metadata: { labels: { app: label } }, spec: { containers } },
    },
  }),
  content: record({
    replicas: maybe(fc.constantFrom(0, 1, 2, -1)),
    label: fc.constantFrom("d", "d", "d", "d", "d", "d", "d", "e"),
    containers: fc.uniqueArray(container, { minLength: 1, maxLength: 2, selector: (it) => it.name }),
  }),
  hasStrategic: true,
};

const SECRETS: Collection = {
  name: "secrets",
  path: (api) => api.core("secrets"),
  object: (name, content, metadata) => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name, ...metadata },
    ...content,
  }),
  content: record({
    data: maybe(fc.dictionary(few, fc.constantFrom("MQ==", "Mg=="), { maxKeys: 3 })),
    stringData: maybe(map, 1),
    type: maybe(fc.constantFrom("Opaque", "example.com/t"), 1),
  }),
  hasStrategic: true,
};

const COLLECTIONS = [WIDGETS, WIDGETS, CONFIG_MAPS, CONFIG_MAPS, DEPLOYMENTS, SECRETS];

/** A request of a walk, with its title in reports. */
interface Step {
  readonly title: string;
  run(api: Recorder): Promise<unknown>;
}

const metadataOf = record({
  labels: maybe(map, 1),
  annotations: maybe(map, 1),
  finalizers: maybe(fc.constantFrom(["example.com/hold"], []), 1),
});

function stepsOf(collection: Collection): fc.Arbitrary<Step> {
  const { name: plural, content, object, status, hasStrategic } = collection;
  const at = (api: Recorder, name: string, rest = "") => `${collection.path(api)}/${name}${rest}`;
  const step = (description: unknown, run: Step["run"]): Step => ({
    title: `${plural}: ${JSON.stringify(description)}`,
    run,
  });
  const whole = fc.record({ name: few, content, metadata: metadataOf });
  const manager = fc.constantFrom("one", "two");
  const query = fc.constantFrom("", "", "", "&dryRun=All");

  const create = fc.record({ whole, query }).map(({ whole: { name, content, metadata }, query }) =>
    step(
      { create: name, content, metadata, query },
      (api) => api.post(`${collection.path(api)}?fieldManager=maker${query}`, object(name, content, metadata)),
    )
  );
  const apply = fc.record({ whole, manager, force: fc.boolean(), query }).map(
    ({ whole: { name, content, metadata }, manager, force, query }) =>
      step(
        { apply: name, content, metadata, manager, force, query },
        (api) =>
          api.apply(at(api, name, `?fieldManager=${manager}&force=${force}${query}`), object(name, content, metadata)),
      ),
  );
  const merge = fc.record({ whole, query }).map(({ whole: { name, content, metadata }, query }) =>
    step({ merge: name, content, metadata, query }, (api) => {
      const { apiVersion: _version, kind: _kind, metadata: given, ...rest } = object(name, content, metadata);
      const { name: _name, ...changes } = given as Body;
      return api.call("PATCH", at(api, name, `?fieldManager=merger${query}`), { ...rest, metadata: changes }, {
        contentType: hasStrategic && content.type === undefined ? STRATEGIC : MERGE,
      });
    })
  );
  const replace = fc.record({ whole, isStale: fc.boolean() }).map(
    ({ whole: { name, content, metadata }, isStale }) =>
      step({ replace: name, content, metadata, isStale }, async (api) => {
        const { body, status } = await api.get(at(api, name));
        if (status !== 200) return;
        const { resourceVersion, uid } = body.metadata;
        const version = isStale ? String(Number(resourceVersion) - 1) : resourceVersion;
        const changed = object(name, content, { ...metadata, uid, resourceVersion: version });
        // The resourceVersions differ between the servers, so the walk only decides whether the
        // version is stale.
        await api.put(at(api, name, "?fieldManager=replacer"), changed);
      }),
  );
  const jsonPatch = fc.record({
    name: few,
    operations: fc.array(
      fc.oneof(
        fc.record({
          op: fc.constant("add"),
          path: fc.constantFrom("/metadata/labels", "/metadata/annotations"),
          value: map,
        }),
        fc.record({
          op: fc.constantFrom("remove", "test"),
          path: fc.constantFrom("/metadata/labels", "/spec", "/data"),
        }),
        fc.record({ op: fc.constant("replace"), path: fc.constant("/metadata/labels/a"), value: few }),
      ),
      { minLength: 1, maxLength: 2 },
    ),
  }).map(({ name, operations }) =>
    step(
      { jsonPatch: name, operations },
      (api) => api.call("PATCH", at(api, name), operations, { contentType: JSON_PATCH }),
    )
  );
  const release = few.map((name) =>
    step({ release: name }, (api) => api.merge(at(api, name), { metadata: { finalizers: null } }))
  );
  const remove = fc.record({
    name: few,
    options: fc.constantFrom<Body | undefined>(undefined, undefined, { propagationPolicy: "Backcollection" }, {
      preconditions: { uid: "11111111-1111-1111-1111-111111111111" },
    }, { dryRun: ["All"] }),
  }).map(({ name, options }) =>
    step({ delete: name, options }, (api) =>
      api.delete(
        at(api, name),
        options && {
          apiVersion: "v1",
          kind: "DeleteOptions",
          ...options,
        },
      ))
  );
  const get = few.map((name) => step({ get: name }, (api) => api.get(at(api, name))));
  const list = fc.constantFrom(
    "",
    "?limit=1",
    "?labelSelector=a",
    "?labelSelector=a%3D1,!b",
    "?fieldSelector=metadata.name%3Da",
  )
    .map((rest) => step({ list: rest }, (api) => api.get(`${collection.path(api)}${rest}`)));
  const clear = fc.constant(
    step({ deleteCollection: "a=1" }, (api) => api.delete(`${collection.path(api)}?labelSelector=a%3D1`)),
  );
  const writeStatus = status === undefined ? [] : [
    fc.record({ name: few, status, isApply: fc.boolean(), manager }).map(({ name, status, isApply, manager }) =>
      step(
        { status: name, value: status, isApply, manager },
        (api) =>
          isApply
            ? api.call("PATCH", at(api, name, `/status?fieldManager=${manager}&force=true`), {
              ...object(name, {}, {}),
              spec: undefined,
              status,
            }, { contentType: APPLY })
            : api.call("PATCH", at(api, name, "/status"), { status }, { contentType: MERGE }),
      )
    ),
  ];
  const scale = plural !== "deployments" ? [] : [
    fc.record({ name: few, replicas: fc.constantFrom(0, 3, 4) }).map(({ name, replicas }) =>
      step({ scale: name, replicas }, (api) => api.merge(at(api, name, "/scale"), { spec: { replicas } }))
    ),
  ];
  return fc.oneof(
    { weight: 6, arbitrary: create },
    { weight: 8, arbitrary: apply },
    { weight: 5, arbitrary: merge },
    { weight: 3, arbitrary: replace },
    { weight: 2, arbitrary: jsonPatch },
    { weight: 1, arbitrary: release },
    { weight: 2, arbitrary: remove },
    { weight: 2, arbitrary: get },
    { weight: 2, arbitrary: list },
    { weight: 1, arbitrary: clear },
    ...[...writeStatus, ...scale].map((arbitrary) => ({ weight: 3, arbitrary })),
  );
}

const walk: fc.Arbitrary<Step[]> = fc.array(fc.oneof(...COLLECTIONS.map(stepsOf)), {
  minLength: STEPS,
  maxLength: STEPS,
});

/**
 * Returns the walk of a seed.
 *
 * @param seed Any integer.
 */
export function walkOf(seed: number): Case {
  const [steps = []] = fc.sample(walk, { seed, numRuns: 1 });
  return {
    area: "walks",
    name: String(seed),
    async run(api) {
      for (const collection of [WIDGETS, CONFIG_MAPS, DEPLOYMENTS, SECRETS]) {
        const content = collection === DEPLOYMENTS ? { label: "d", containers: [{ name: "main", image: "x:1" }] } : {};
        for (const name of ["a", "b"]) {
          await api.quietly("POST", collection.path(api), collection.object(name, content, {}));
        }
      }
      const from = async (collection: Collection) => {
        const { body } = await api.quietly("GET", collection.path(api));
        return `${collection.path(api)}?watch=1&resourceVersion=${body.metadata.resourceVersion}`;
      };
      const [widgets, configMaps] = [await from(WIDGETS), await from(CONFIG_MAPS)];
      await api.watch(widgets, (first) =>
        api.watch(configMaps, async (second) => {
          for (const step of steps) await step.run(api);
          await api.quietly("POST", WIDGETS.path(api), widget("z-end"));
          await api.quietly("POST", CONFIG_MAPS.path(api), configMap("z-end"));
          await first.until(({ object }) => object.metadata.name === "z-end");
          await second.until(({ object }) => object.metadata.name === "z-end");
        }));
      for (const collection of [WIDGETS, CONFIG_MAPS, DEPLOYMENTS, SECRETS]) await api.get(collection.path(api));
    },
  };
}

/** Returns the steps of the walk of a seed, for reports. */
export function walkText(seed: number): string {
  const [steps = []] = fc.sample(walk, { seed, numRuns: 1 });
  return steps.map(({ title }, i) => `${i + 1}. ${title}`).join("\n");
}
