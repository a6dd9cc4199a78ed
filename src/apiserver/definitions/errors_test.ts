import assert from "node:assert/strict";
import type { StoredObject } from "../objects/objects.ts";
import { definitionErrors } from "./errors.ts";

type Fields = Readonly<Record<string, unknown>>;

const SET_OF_OBJECTS = {
  type: "object",
  properties: { a: { type: "array", "x-kubernetes-list-type": "set", items: { type: "object" } } },
};

const UNKNOWN_DEFAULT = { type: "object", properties: { a: { type: "object", default: { b: 1 } } } };
const OPTIONAL_KEYS = {
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

const EXPENSIVE = {
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

function messagesOf(next: StoredObject, old?: StoredObject): string[] {
  return definitionErrors(next, old).map(({ field, message }) => `${field}: ${message}`);
}

Deno.test("definitionErrors returns no errors for a valid definition", () => {
  assert.deepEqual(messagesOf(definition()), []);
  assert.deepEqual(messagesOf(definition(), definition()), []);
});

const TOLERATED: readonly { name: string; schema: Fields }[] = [
  { name: "sets of objects", schema: SET_OF_OBJECTS },
  { name: "defaults with unknown fields", schema: UNKNOWN_DEFAULT },
  { name: "optional list map keys", schema: OPTIONAL_KEYS },
  { name: "unknown types", schema: { type: "object", not: { type: "strin" } } },
];

for (const { name, schema } of TOLERATED) {
  Deno.test(`definitionErrors rejects ${name}, except in the old definition`, () => {
    const old = withSchema(schema);
    const next = withSchema({ ...schema, description: "changed" });

    const before = messagesOf(next);
    const after = messagesOf(next, old);
    assert(before.length > after.length, before.join("\n"));
    assert(messagesOf(next, definition()).length === before.length);
  });
}

Deno.test("definitionErrors accepts an expensive rule if its schema does not change", () => {
  const [error] = messagesOf(withSchema(EXPENSIVE));
  assert.match(error ?? "", /estimated rule cost exceeds budget by factor of \d/);
  assert.deepEqual(messagesOf(withSchema(EXPENSIVE), withSchema(EXPENSIVE)), []);
  assert.equal(messagesOf(withSchema({ ...EXPENSIVE, description: "changed" }), withSchema(EXPENSIVE)).length, 1);
});

Deno.test("definitionErrors accepts too many selectable fields if they do not change", () => {
  const labels = { type: "object", additionalProperties: { type: "string" } };
  const selectableFields = Array.from({ length: 9 }, (_, i) => ({ jsonPath: `.labels.a${i}` }));
  const many = definition({
    versions: [version({ schema: { openAPIV3Schema: { type: "object", properties: { labels } } }, selectableFields })],
  });

  assert.deepEqual(messagesOf(many), ["spec.selectableFields: Too many: 9: must have at most 8 items"]);
  assert.deepEqual(messagesOf(many, many), []);
});

Deno.test("definitionErrors allows changes of scope and kind until the definition is established", () => {
  const cluster = definition({ scope: "Cluster" });
  const inUse = definition({}, { conditions: [{ type: "Established", status: "True" }] });

  assert.deepEqual(messagesOf(cluster, definition()), []);
  assert.deepEqual(messagesOf(cluster, inUse), ['spec.scope: Invalid value: "Cluster": field is immutable']);
});

Deno.test("definitionErrors quotes versions without their shared parts", () => {
  const versions = [
    version({ storage: false }),
    version({ name: "v2", storage: false, additionalPrinterColumns: [{ name: "A", type: "string", jsonPath: ".a" }] }),
  ];

  const [error] = messagesOf(definition({ versions }, { storedVersions: ["v1"] }));

  assert.equal(
    error,
    'spec.versions: Invalid value: [{"Name":"v1","Served":true,"Storage":false,"Deprecated":false,"DeprecationWarning":null,' +
      '"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null},{"Name":"v2","Served":true,' +
      '"Storage":false,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,' +
      '"AdditionalPrinterColumns":[{"Name":"A","Type":"string","Format":"","Description":"","Priority":0,"JSONPath":".a"}],' +
      '"SelectableFields":null}]: must have exactly one version marked as storage version',
  );
});
