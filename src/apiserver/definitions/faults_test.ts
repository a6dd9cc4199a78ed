import assert from "node:assert/strict";
import type { StoredObject } from "../objects/objects.ts";
import { definitionFaults } from "./faults.ts";

type Fields = Readonly<Record<string, unknown>>;

const SET = {
  type: "object",
  properties: { a: { type: "array", "x-kubernetes-list-type": "set", items: { type: "object" } } },
};
const UNKNOWN_DEFAULT = { type: "object", properties: { a: { type: "object", default: { b: 1 } } } };
const KEYS = {
  type: "object",
  properties: {
    a: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["k"],
      items: { type: "object", properties: { k: { type: "string" } } },
    },
  },
};
const DEAR = {
  type: "object",
  properties: {
    a: {
      type: "array",
      items: { type: "string", maxLength: 100 },
      maxItems: 600,
      "x-kubernetes-validations": [{ rule: "self.all(x, self.all(y, x == y))" }],
    },
  },
};

function version(change: Fields = {}): Fields {
  return { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } }, ...change };
}

function definition(spec: Fields = {}, status: Fields = {}): StoredObject {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: {
      name: "nuts.fruit.example.com",
      uid: "1",
      resourceVersion: "1",
      creationTimestamp: "2026-01-01T00:00:00Z",
    },
    spec: {
      group: "fruit.example.com",
      names: { kind: "Nut", plural: "nuts", singular: "nut", listKind: "NutList" },
      scope: "Namespaced",
      versions: [version()],
      ...spec,
    },
    status: { conditions: null, acceptedNames: {}, storedVersions: ["v1"], ...status },
  };
}

function withSchema(openAPIV3Schema: Fields): StoredObject {
  return definition({ versions: [version({ schema: { openAPIV3Schema } })] });
}

function textsOf(next: StoredObject, old?: StoredObject): string[] {
  return definitionFaults(next, old).map(({ field, message }) => `${field}: ${message}`);
}

Deno.test("definitionFaults finds nothing in a definition that is right", () => {
  assert.deepEqual(textsOf(definition()), []);
  assert.deepEqual(textsOf(definition(), definition()), []);
});

const TOLERATED: readonly { name: string; schema: Fields }[] = [
  { name: "sets of objects", schema: SET },
  { name: "defaults with unknown fields", schema: UNKNOWN_DEFAULT },
  { name: "keys that may be missing", schema: KEYS },
  { name: "types that there are not", schema: { type: "object", not: { type: "strin" } } },
];
for (const { name, schema } of TOLERATED) {
  Deno.test(`definitionFaults refuses ${name}, but where they were there before`, () => {
    const old = withSchema(schema);
    const next = withSchema({ ...schema, description: "changed" });

    const before = textsOf(next);
    const after = textsOf(next, old);

    assert(before.length > after.length, before.join("\n"));
    assert(textsOf(next, definition()).length === before.length);
  });
}

Deno.test("definitionFaults lets a rule cost what it costs, where its schema stays as it is", () => {
  const [fault] = textsOf(withSchema(DEAR));

  assert.match(fault ?? "", /estimated rule cost exceeds budget by factor of \d/);
  assert.deepEqual(textsOf(withSchema(DEAR), withSchema(DEAR)), []);
  assert.equal(textsOf(withSchema({ ...DEAR, description: "changed" }), withSchema(DEAR)).length, 1);
});

Deno.test("definitionFaults lets more selectable fields be than may, where they stay as they are", () => {
  const labels = { type: "object", additionalProperties: { type: "string" } };
  const selectableFields = Array.from({ length: 9 }, (_, i) => ({ jsonPath: `.labels.a${i}` }));
  const many = definition({
    versions: [version({ schema: { openAPIV3Schema: { type: "object", properties: { labels } } }, selectableFields })],
  });

  assert.deepEqual(textsOf(many), ["spec.selectableFields: Too many: 9: must have at most 8 items"]);
  assert.deepEqual(textsOf(many, many), []);
});

Deno.test("definitionFaults lets scope and kind be changed until the kind is in use", () => {
  const cluster = definition({ scope: "Cluster" });
  const inUse = definition({}, { conditions: [{ type: "Established", status: "True" }] });

  assert.deepEqual(textsOf(cluster, definition()), []);
  assert.deepEqual(textsOf(cluster, inUse), ['spec.scope: Invalid value: "Cluster": field is immutable']);
});

Deno.test("definitionFaults quotes versions with what they do not share", () => {
  const versions = [
    version({ storage: false }),
    version({ name: "v2", storage: false, additionalPrinterColumns: [{ name: "A", type: "string", jsonPath: ".a" }] }),
  ];

  const [fault] = textsOf(definition({ versions }, { storedVersions: ["v1"] }));

  assert.equal(
    fault,
    'spec.versions: Invalid value: [{"Name":"v1","Served":true,"Storage":false,"Deprecated":false,"DeprecationWarning":null,' +
      '"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null},{"Name":"v2","Served":true,' +
      '"Storage":false,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,' +
      '"AdditionalPrinterColumns":[{"Name":"A","Type":"string","Format":"","Description":"","Priority":0,"JSONPath":".a"}],' +
      '"SelectableFields":null}]: must have exactly one version marked as storage version',
  );
});
