import { area } from "../contract.ts";
import { definition, FRUIT_VERSION } from "../definition.ts";
import { CRDS, JSON_PATCH } from "../recorder.ts";
import {
  collectionPath,
  COUNT,
  fruit,
  GROUP,
  MERGE,
  schema,
  TEXT,
  untilVersions,
  versionedDefinition,
} from "./_kinds_with_versions.ts";

/** Kinds with several versions. */
const versions = area("versions", {
  "fields stay owned in a version that is no longer served": async (api) => {
    await api.quietlyDefine(versionedDefinition("Tamarillo", "tamarillos", [{}, {}, {}]));
    await untilVersions(api, "tamarillos", { v1: 200, v2: 200, v3: 200 });
    const apply = (version: string, manager: string, spec: object) =>
      api.apply(
        `${collectionPath(api, "tamarillos", version)}/a?fieldManager=${manager}`,
        fruit("Tamarillo", "a", spec, version),
      );
    await apply("v1", "one", { size: 1 });
    await api.merge(`${collectionPath(api, "tamarillos", "v2")}/a?fieldManager=two`, {
      metadata: { labels: { a: "b" } },
    });
    const path = `${CRDS}/tamarillos.${GROUP}`;
    await api.quietly("PATCH", path, [{ op: "replace", path: "/spec/versions/1/served", value: false }], {
      contentType: JSON_PATCH,
    });
    await untilVersions(api, "tamarillos", { v2: 404 });
    await api.merge(`${collectionPath(api, "tamarillos", "v3")}/a?fieldManager=three`, {
      metadata: { labels: { c: "d" } },
    });
    await apply("v3", "one", { size: 2 });
  },
  "an object is the same in all versions": async (api) => {
    const given = versionedDefinition("Melon", "melons", [{ name: "v1" }, { name: "v2" }, { name: "v1beta1" }]);
    await api.post(CRDS, given);
    await untilVersions(api, "melons", { v1: 200, v2: 200, v1beta1: 200 });
    await api.post(collectionPath(api, "melons", "v2"), fruit("Melon", "a", { size: 1 }, "v2"));
    await api.post(collectionPath(api, "melons", "v1"), fruit("Melon", "b", { size: 2 }));
    for (const version of ["v1", "v2", "v1beta1"]) await api.get(`${collectionPath(api, "melons", version)}/a`);
    await api.get(collectionPath(api, "melons", "v1beta1"));
    await api.merge(`${collectionPath(api, "melons", "v2")}/b`, { spec: { size: 3 } });
    await api.get(`${collectionPath(api, "melons", "v1")}/b`);
    await api.post(collectionPath(api, "melons", "v2"), fruit("Melon", "c", { size: 1 }, "v1"));
    await api.delete(`${collectionPath(api, "melons", "v2")}/a`);
    await api.get(`${collectionPath(api, "melons", "v1")}/a`);
  },
  "a watch shows objects in its own version": async (api) => {
    await api.quietlyDefine(versionedDefinition("Lychee", "lychees", [{}, {}]));
    await untilVersions(api, "lychees", { v1: 200, v2: 200 });
    await api.quietly("POST", collectionPath(api, "lychees"), fruit("Lychee", "a", { size: 1 }));
    await api.watch(`${collectionPath(api, "lychees", "v2")}?watch=1`, async (watch) => {
      await watch.take(1);
      await api.quietly("PATCH", `${collectionPath(api, "lychees")}/a`, { spec: { size: 2 } }, MERGE);
      await watch.take(1);
    });
  },
  "fields that a version does not have are pruned": async (api) => {
    const given = versionedDefinition("Papaya", "papayas", [
      { schema: schema({ size: COUNT, old: { type: "string", default: "old" } }) },
      { schema: schema({ size: COUNT, old: TEXT, fresh: TEXT, late: { type: "string", default: "late" } }) },
    ]);
    await api.quietlyDefine(given);
    await untilVersions(api, "papayas", { v1: 200, v2: 200 });
    const { body } = await api.quietly(
      "POST",
      collectionPath(api, "papayas", "v2"),
      fruit("Papaya", "a", { size: 1, fresh: "b" }, "v2"),
    );
    await api.post(`${collectionPath(api, "papayas", "v2")}?dryRun=All`, fruit("Papaya", "b", body.spec, "v1"));
    for (const version of ["v1", "v2"]) {
      const { body: { spec } } = await api.quietly("GET", `${collectionPath(api, "papayas", version)}/a`);
      await api.post(
        `${collectionPath(api, "papayas")}?dryRun=All&fieldValidation=Ignore`,
        fruit("Papaya", version, spec),
      );
    }
  },
  "a version that is not served is not found": async (api) => {
    const given = versionedDefinition("Quince", "quinces", [{ served: false }, {}]);
    await api.post(CRDS, given);
    await untilVersions(api, "quinces", { v2: 200 });
    await api.get(collectionPath(api, "quinces", "v1"));
    await api.post(collectionPath(api, "quinces", "v2"), fruit("Quince", "a", { size: 1 }, "v2"));
    await api.get(`${collectionPath(api, "quinces", "v2")}/a`);
    await api.get(`/apis/${GROUP}/v1/quinces`);
  },
  "a version in status.storedVersions cannot be removed": async (api) => {
    const given = versionedDefinition("Medlar", "medlars", [{}, {}]);
    const path = `${CRDS}/medlars.${GROUP}`;
    await api.quietlyDefine(given);
    await untilVersions(api, "medlars", { v1: 200, v2: 200 });
    await api.quietly("POST", collectionPath(api, "medlars"), fruit("Medlar", "a", { size: 1 }));
    const [v1, v2] = given.spec.versions;
    await api.merge(path, { spec: { versions: [{ ...v1, storage: false }, { ...v2, storage: true }] } });
    await api.merge(path, { spec: { versions: [{ ...v2, storage: true }] } });
    // An update stores the object in the new version. Then the old one can be removed.
    await api.untilAnswer(path, ({ body }) => body.status.storedVersions.length === 2);
    await api.merge(`${collectionPath(api, "medlars", "v2")}/a`, { spec: { size: 2 } });
    await api.quietly("PATCH", `${path}/status`, { status: { storedVersions: ["v2"] } }, MERGE);
    await api.merge(path, { spec: { versions: [{ ...v2, storage: true }] } });
    await untilVersions(api, "medlars", { v1: 404, v2: 200 });
    await api.get(collectionPath(api, "medlars", "v2"));
    await api.get(collectionPath(api, "medlars", "v1"));
  },
  "fields are owned in the version in which they were written": async (api) => {
    await api.quietlyDefine(versionedDefinition("Loquat", "loquats", [{}, {}]));
    await untilVersions(api, "loquats", { v1: 200, v2: 200 });
    const path = (version: string, manager: string) =>
      `${collectionPath(api, "loquats", version)}/a?fieldManager=${manager}&force=false`;
    await api.apply(path("v1", "one"), fruit("Loquat", "a", { size: 1 }));
    await api.apply(path("v2", "one"), fruit("Loquat", "a", { size: 2 }, "v2"));
    await api.apply(path("v2", "two"), fruit("Loquat", "a", { size: 3 }, "v2"));
  },
});

/** Deprecated versions. */
const deprecation = area("deprecated versions", {
  "each response has a warning": async (api) => {
    const given = versionedDefinition("Sloe", "sloes", [
      { name: "v1", storage: true },
      { name: "v1alpha1", deprecated: true },
      { name: "v1beta1", deprecated: true, deprecationWarning: 'take "v1"' },
      { name: "v2", deprecated: true },
    ]);
    await api.quietlyDefine(given);
    await untilVersions(api, "sloes", { v1: 200, v1alpha1: 200, v1beta1: 200, v2: 200 });
    for (const version of ["v1", "v1alpha1", "v1beta1", "v2"]) {
      await api.post(collectionPath(api, "sloes", version), fruit("Sloe", version, { size: 1 }, version));
      await api.get(`${collectionPath(api, "sloes", version)}/${version}`);
      await api.get(`${collectionPath(api, "sloes", version)}/missing`);
      await api.get(collectionPath(api, "sloes", version));
      await api.merge(`${collectionPath(api, "sloes", version)}/${version}`, { spec: { size: 2 } });
      await api.delete(`${collectionPath(api, "sloes", version)}/${version}`);
    }
  },
  "the warning names the newest version that is not deprecated": async (api) => {
    const given = versionedDefinition("Bullace", "bullaces", [
      { name: "v1alpha1", deprecated: true },
      { name: "v1alpha2", storage: false },
      { name: "v1beta1", served: false, storage: false },
      { name: "v1beta2", storage: false },
      { name: "v1beta3", deprecated: true, storage: false },
    ]);
    await api.quietlyDefine(given);
    await untilVersions(api, "bullaces", { v1alpha1: 200, v1alpha2: 200, v1beta2: 200, v1beta3: 200 });
    for (const version of ["v1alpha1", "v1alpha2", "v1beta3"]) await api.get(collectionPath(api, "bullaces", version));
  },
});

/** Kinds with several versions. */
export const customVersions = [...versions, ...deprecation];

/** Updates of a definition. */
export const changedDefinitions = area("changed definitions", {
  "names under which objects are stored are immutable": async (api) => {
    const given = definition("Rowan", "rowans");
    const path = `${CRDS}/rowans.${GROUP}`;
    await api.quietlyDefine(given);
    await api.merge(path, { spec: { names: { kind: "Ash" } } });
    await api.merge(path, { spec: { names: { plural: "ashes" } } });
    await api.merge(path, { spec: { group: "other.example.com" } });
    await api.merge(path, { spec: { scope: "Cluster" } });
    await api.merge(path, { spec: { names: { shortNames: ["rw"], categories: ["trees"], singular: "rowantree" } } });
    await api.untilAnswer(path, ({ body }) => body.status.acceptedNames.shortNames?.length === 1);
    await api.get(path);
    await api.untilAnswer(
      `/apis/${GROUP}/v1`,
      ({ body }) => body.resources.some((each: { singularName: string }) => each.singularName === "rowantree"),
    );
  },
  "an update with an invalid schema is rejected": async (api) => {
    const given = definition("Alder", "alders");
    const path = `${CRDS}/alders.${GROUP}`;
    await api.quietlyDefine(given);
    const at = "/spec/versions/0/schema/openAPIV3Schema/properties/spec";
    // An attempt that began too early also adds a warning.
    await api.withFreshCache(async () => {
      await api.jsonPatch(path, [{ op: "add", path: `${at}/properties/a`, value: {} }]);
      await api.jsonPatch(path, [{ op: "add", path: `${at}/properties/a`, value: { ...TEXT, format: "x" } }]);
      await api.jsonPatch(path, [{ op: "add", path: `${at}/properties/b`, value: { ...TEXT, format: "x" } }]);
      await api.jsonPatch(path, [{ op: "add", path: `${at}/properties/c`, value: { ...TEXT, format: "y" } }]);
      await api.jsonPatch(path, [{ op: "add", path: `${at}/description`, value: "" }]);
      await api.jsonPatch(path, [{ op: "remove", path: "/spec/versions/0/schema" }]);
    });
  },
  "empty fields are omitted": async (api) => {
    const given = definition("Elder", "elders", {
      schema: {
        type: "object",
        description: "",
        nullable: false,
        required: [],
        properties: {
          spec: {
            type: "object",
            properties: {},
            title: "",
            enum: [],
            allOf: [],
            default: null,
            "x-kubernetes-int-or-string": false,
            "x-kubernetes-validations": [],
          },
          list: { type: "array", items: { type: "string", pattern: "", other: 1 } },
          map: { type: "object", additionalProperties: { type: "string", example: null, nullable: false } },
        },
      },
    });
    const [version] = given.spec.versions;
    await api.post(`${CRDS}?dryRun=All`, {
      ...given,
      spec: {
        ...given.spec,
        preserveUnknownFields: false,
        names: { ...given.spec.names, shortNames: [], categories: [] },
        versions: [{
          ...version,
          deprecated: false,
          additionalPrinterColumns: [{ name: "A", type: "string", jsonPath: ".a", priority: 0, description: "" }],
          selectableFields: [],
          subresources: {},
        }],
      },
    });
  },
  "the status of a definition is written separately": async (api) => {
    const given = definition("Hornbeam", "hornbeams");
    const path = `${CRDS}/hornbeams.${GROUP}`;
    await api.quietlyDefine(given);
    await api.merge(`${path}/status`, { status: { acceptedNames: { kind: "h_h" } } });
    await api.merge(path, { status: { storedVersions: ["v7"] } });
  },
  "objects reflect changes of their definition": async (api) => {
    const given = definition("Holly", "hollies");
    await api.quietlyDefine(given);
    const path = collectionPath(api, "hollies");
    await api.quietly("POST", path, {
      apiVersion: FRUIT_VERSION,
      kind: "Holly",
      metadata: { name: "a" },
      spec: { size: 1 },
    });
    await api.quietly("PATCH", `${CRDS}/hollies.${GROUP}`, [{
      op: "add",
      path: "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/color",
      value: { type: "string", default: "red" },
    }], { contentType: "application/json-patch+json" });
    await api.untilAnswer(`${path}/a`, ({ body }) => body.spec.color === "red");
    const { body } = await api.get(`${path}/a`);
    // The stored object lacks the default, so an update with the same object is a change.
    const { body: after } = await api.put(`${path}/a`, body);
    await api.put(`${path}/a`, after);
  },
});
