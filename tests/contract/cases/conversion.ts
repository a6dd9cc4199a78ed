/** Kinds with a conversion webhook. */
import { area } from "../contract.ts";
import { CRDS, type Recorder } from "../recorder.ts";
import { type Conversion, withConverter } from "../webhooks.ts";
import {
  collectionPath,
  COUNT,
  type Fields,
  fruit,
  MERGE,
  schema,
  TEXT,
  untilVersions,
  versionedDefinition,
} from "./_kinds_with_versions.ts";

// deno-lint-ignore no-explicit-any -- The type depends on the version.
type Json = any;

/** `size` of v1 is `tens` and `ones` of v2. */
function convertObject(object: Json, to: string): Json {
  const { size, tens = 0, ones = 0, ...spec } = object.spec ?? {};
  const isFirst = to.endsWith("/v1");
  if (object.apiVersion === to) return object;
  return {
    ...object,
    apiVersion: to,
    spec: isFirst
      ? { ...spec, size: tens * 10 + ones }
      : { ...spec, tens: Math.floor((size ?? 0) / 10), ones: (size ?? 0) % 10 },
  };
}

const convertAll = ({ objects, desiredAPIVersion: to }: Json): Json[] =>
  objects.map((each: Json) => convertObject(each, to));
const success: Conversion = (request) => ({ convertedObjects: convertAll(request), result: { status: "Success" } });

const VERSIONS = [
  { schema: schema({ size: COUNT, note: TEXT }) },
  { schema: schema({ tens: COUNT, ones: { ...COUNT, maximum: 9 }, note: TEXT }) },
] as const;

/** Returns a definition with a conversion. */
function definitionWithConversion(kind: string, plural: string, conversion: Fields, stored: 1 | 2 = 1) {
  const versions = VERSIONS.map((version, i) => ({ ...version, storage: i + 1 === stored }));
  const made = versionedDefinition(kind, plural, versions);
  return { ...made, spec: { ...made.spec, conversion } };
}

/**
 * Defines a kind with a conversion webhook. Deletes its objects at the end, because controllers
 * read all objects and these cannot be read without the webhook.
 */
async function withKind(
  api: Recorder,
  [kind, plural]: readonly [kind: string, plural: string],
  use: (stanza: Fields) => Promise<void>,
  convert: Conversion = success,
): Promise<void> {
  await withConverter(convert, async (stanza) => {
    await api.quietlyDefine(definitionWithConversion(kind, plural, stanza));
    try {
      await untilVersions(api, plural, { v1: 200, v2: 200 });
      await use(stanza);
    } finally {
      await api.quietly("DELETE", collectionPath(api, plural));
    }
  });
}

/** Invalid responses. */
const INVALID_RESPONSES: Readonly<Record<string, Conversion>> = {
  "no response": () => Response.json({ apiVersion: "apiextensions.k8s.io/v1", kind: "ConversionReview" }),
  "another uid": (request) => ({ uid: "1", convertedObjects: convertAll(request), result: { status: "Success" } }),
  "a failure": () => ({ convertedObjects: [], result: { status: "Failure", message: "no such size" } }),
  "a failure without a message": () => ({ convertedObjects: [], result: { status: "Failure" } }),
  "no result": (request) => ({ convertedObjects: convertAll(request) }),
  "no objects": () => ({ convertedObjects: [], result: { status: "Success" } }),
  "too many objects": (request) => ({
    convertedObjects: [...convertAll(request), ...convertAll(request)],
    result: { status: "Success" },
  }),
  "objects of another version": ({ objects }) => ({ convertedObjects: objects, result: { status: "Success" } }),
  "objects of another kind": (request) => ({
    convertedObjects: convertAll(request).map((each) => ({ ...each, kind: "Other" })),
    result: { status: "Success" },
  }),
  "objects of another name": (request) => ({
    convertedObjects: convertAll(request).map((each) => ({ ...each, metadata: { ...each.metadata, name: "other" } })),
    result: { status: "Success" },
  }),
  "objects without metadata": (request) => ({
    convertedObjects: convertAll(request).map(({ metadata: _, ...each }) => each),
    result: { status: "Success" },
  }),
  "another version of the review": ({ uid }) =>
    Response.json({ apiVersion: "apiextensions.k8s.io/v1beta1", kind: "ConversionReview", response: { uid } }),
  "status 500": () => new Response("boom", { status: 500 }),
  "status 404": () => new Response("", { status: 404 }),
  "status 400": () => new Response("bad", { status: 400 }),
};

/** Kinds with a conversion webhook. */
export const conversion = area("conversion", {
  "an object is written and read in each version": (api) =>
    withKind(api, ["Cupuacu", "cupuacus"], async () => {
      const [first, second] = [collectionPath(api, "cupuacus"), collectionPath(api, "cupuacus", "v2")];
      await api.post(first, fruit("Cupuacu", "a", { size: 42, note: "ripe" }));
      await api.post(second, fruit("Cupuacu", "b", { tens: 1, ones: 3 }, "v2"));
      for (const place of [first, second]) {
        await api.get(place);
        for (const name of ["a", "b"]) await api.get(`${place}/${name}`);
      }
      await api.merge(`${second}/a`, { spec: { ones: 7 }, metadata: { labels: { seen: "yes" } } });
      await api.get(`${first}/a`);
      await api.merge(`${second}/a`, { spec: { ones: 17 } });
      await api.merge(`${first}/b`, { spec: { size: 99 } });
      await api.get(`${second}/b`);
      await api.delete(`${second}/b`);
    }),
  "an apply takes over fields that are owned in another version": (api) =>
    withKind(api, ["Bignay", "bignays"], async () => {
      const [first, second] = [collectionPath(api, "bignays"), collectionPath(api, "bignays", "v2")];
      const one = (spec: object) => fruit("Bignay", "a", spec);
      const two = (spec: object) => fruit("Bignay", "a", spec, "v2");
      await api.apply(`${first}/a?fieldManager=one`, one({ size: 42, note: "ripe" }));
      await api.apply(`${second}/a?fieldManager=two`, two({ ones: 7 }));
      await api.apply(`${second}/a?fieldManager=two`, two({ tens: 4, ones: 2 }));
      await api.apply(`${second}/a?fieldManager=two&force=true`, two({ tens: 5, ones: 2 }));
      await api.get(`${first}/a`);
      await api.merge(`${second}/a`, { spec: { note: "eaten" } });
      await api.merge(`${first}/a`, { spec: { size: 63 } });
      await api.get(`${second}/a`);
    }),
  "an apply removes fields that are not owned in another version": (api) =>
    withKind(api, ["Alibertia", "alibertias"], async () => {
      const [first, second] = [collectionPath(api, "alibertias"), collectionPath(api, "alibertias", "v2")];
      const one = (name: string, spec: object) => fruit("Alibertia", name, spec);
      const two = (name: string, spec: object) => fruit("Alibertia", name, spec, "v2");
      // The fields that "one" no longer applies are owned in v2 by "two" for a, by no other manager
      // for b, and by an update for c.
      await api.apply(`${first}/a?fieldManager=one`, one("a", { size: 42, note: "ripe" }));
      await api.apply(`${second}/a?fieldManager=two`, two("a", { tens: 4, ones: 2 }));
      await api.apply(`${first}/a?fieldManager=one`, one("a", { note: "ripe" }));
      await api.apply(`${second}/a?fieldManager=two`, two("a", { tens: 4 }));
      await api.apply(`${second}/a?fieldManager=two`, two("a", {}));
      await api.apply(`${first}/b?fieldManager=one`, one("b", { size: 42, note: "ripe" }));
      await api.apply(`${second}/b?fieldManager=one`, two("b", { note: "ripe" }));
      await api.apply(`${first}/b?fieldManager=one`, one("b", { size: 31 }));
      await api.apply(`${second}/c?fieldManager=one`, two("c", { tens: 3, ones: 3, note: "ripe" }));
      await api.merge(`${first}/c`, { spec: { size: 35 } });
      await api.apply(`${second}/c?fieldManager=one`, two("c", { note: "ripe" }));
      for (const name of ["a", "b", "c"]) {
        await api.get(`${first}/${name}`);
        await api.get(`${second}/${name}`);
      }
    }),
  "a failing converter affects reads of objects, not cached lists": async (
    api,
  ) => {
    let isWrong = false;
    await withKind(
      api,
      ["Jatoba", "jatobas"],
      async () => {
        const [first, second] = [collectionPath(api, "jatobas"), collectionPath(api, "jatobas", "v2")];
        await api.quietly("POST", first, fruit("Jatoba", "a", { size: 42 }));
        await api.untilAnswer(`${second}/a?resourceVersion=0`, ({ status }) => status === 200);
        isWrong = true;
        await api.get(`${second}/a`);
        await api.get(`${first}/a`);
        await api.get(`${second}/a?resourceVersion=0`);
        await api.get(second);
        await api.get(`${second}?resourceVersion=0`);
        await api.get(`${second}?limit=1`);
        await api.merge(`${second}/a`, { spec: { note: "ripe" } });
        await api.get(`${first}/a`);
        isWrong = false;
        await api.get(`${second}/a`);
      },
      (request) =>
        isWrong ? { convertedObjects: [], result: { status: "Failure", message: "worn out" } } : success(request),
    );
  },
  "a watch shows objects in its own version": (api) =>
    withKind(api, ["Durian", "durians"], async () => {
      await api.quietly("POST", collectionPath(api, "durians"), fruit("Durian", "a", { size: 12 }));
      await api.watch(`${collectionPath(api, "durians", "v2")}?watch=1`, async (watch) => {
        await watch.take(1);
        await api.quietly("PATCH", `${collectionPath(api, "durians")}/a`, { spec: { size: 34 } }, MERGE);
        await watch.take(1);
        await api.quietly("DELETE", `${collectionPath(api, "durians")}/a`);
        await watch.take(1);
      });
    }),
  "objects do not change when another version is stored": (api) =>
    withKind(api, ["Calamondin", "calamondins"], async (stanza) => {
      await api.post(collectionPath(api, "calamondins"), fruit("Calamondin", "a", { size: 42 }));
      const { spec: { versions } } = definitionWithConversion("Calamondin", "calamondins", stanza, 2);
      await api.quietly("PATCH", `${CRDS}/calamondins.fruit.example.com`, { spec: { versions } }, MERGE);
      await api.get(`${collectionPath(api, "calamondins", "v2")}/a`);
      await api.get(`${collectionPath(api, "calamondins")}/a`);
      await api.merge(`${collectionPath(api, "calamondins")}/a`, { spec: { size: 56 } });
      await api.get(`${collectionPath(api, "calamondins", "v2")}/a`);
      const { body } = await api.quietly("GET", `${CRDS}/calamondins.fruit.example.com`);
      api.note("stored versions", body.status.storedVersions);
    }),
  ...Object.fromEntries(
    Object.entries(INVALID_RESPONSES).map((
      [name, answer],
      i,
    ) => [`a conversion webhook returns ${name}`, async (api: Recorder) => {
      const [kind, plural] = [`Wrong${i}`, `wrong${i}s`];
      let isWrong = false;
      await withKind(api, [kind, plural], async () => {
        isWrong = true;
        await api.quietly("POST", collectionPath(api, plural), fruit(kind, "a", { size: 42 }));
        await api.get(`${collectionPath(api, plural, "v2")}/a`);
        await api.post(collectionPath(api, plural, "v2"), fruit(kind, "b", { tens: 1 }, "v2"));
        await api.get(`${collectionPath(api, plural)}/a`);
        isWrong = false;
      }, (request) => (isWrong ? answer : success)(request));
    }]),
  ),
});
