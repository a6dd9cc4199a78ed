import assert from "node:assert/strict";
import { maskSecret, maskSecretChange, maskSecretMessage, maskSecrets } from "./mask_secrets.ts";

const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

function secret(values: Record<string, unknown>): Record<string, unknown> {
  return { apiVersion: "v1", kind: "Secret", metadata: { name: "db" }, ...values };
}

const cases: { name: string; given: unknown; expected: unknown }[] = [
  {
    name: "data and stringData",
    given: secret({ data: { a: "c2VjcmV0" }, stringData: { b: "secret" } }),
    expected: secret({ data: { a: "***" }, stringData: { b: "***" } }),
  },
  { name: "data that is not an object", given: secret({ data: "secret" }), expected: secret({ data: "***" }) },
  {
    name: "null, which removes a key and is not masked",
    given: secret({ data: { a: null, b: 7 }, stringData: null }),
    expected: secret({ data: { a: null, b: "***" }, stringData: null }),
  },
  {
    name: "Secrets inside other values",
    given: { spec: { templates: [secret({ data: { a: "c2VjcmV0" } })] }, kept: 1 },
    expected: { spec: { templates: [secret({ data: { a: "***" } })] }, kept: 1 },
  },
  {
    name: "the items of a SecretList, which have no kind",
    given: { apiVersion: "v1", kind: "SecretList", items: [{ data: { a: "c2VjcmV0" } }] },
    expected: { apiVersion: "v1", kind: "SecretList", items: [secretItem({ a: "***" })] },
  },
  {
    name: "the last-applied-configuration annotation",
    given: secret({ metadata: { annotations: { [LAST_APPLIED]: JSON.stringify(secret({ data: { a: "x" } })) } } }),
    expected: secret({ metadata: { annotations: { [LAST_APPLIED]: JSON.stringify(secret({ data: { a: "***" } })) } } }),
  },
  {
    name: "a last-applied-configuration annotation that is not JSON",
    given: secret({ metadata: { annotations: { [LAST_APPLIED]: "password: secret", other: "text" } } }),
    expected: secret({ metadata: { annotations: { [LAST_APPLIED]: "***", other: "text" } } }),
  },
  {
    name: "an annotation of any other name that stores the object",
    given: secret({ metadata: { annotations: { "example.com/before": '{"stringData":{"a":"secret"}}' } } }),
    expected: secret({ metadata: { annotations: { "example.com/before": '{"stringData":{"a":"***"}}' } } }),
  },
  {
    name: "a Secret in an annotation of an object of another kind",
    given: metadataOnly(JSON.stringify(secret({ data: { a: "x" } }))),
    expected: metadataOnly(JSON.stringify(secret({ data: { a: "***" } }))),
  },
  {
    name: "the token of a TokenRequest",
    given: { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", status: { token: "eyJ", expires: 1 } },
    expected: { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", status: { token: "***", expires: 1 } },
  },
  {
    name: "the token of a TokenReview",
    given: { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token: "eyJ" } },
    expected: { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token: "***" } },
  },
];

/** Returns the response of an API server to a request for metadata only. */
function metadataOnly(lastApplied: string): unknown {
  const metadata = { name: "db", annotations: { [LAST_APPLIED]: lastApplied, note: "text" } };
  return { apiVersion: "meta.k8s.io/v1", kind: "PartialObjectMetadata", metadata };
}

function secretItem(data: Record<string, unknown>): unknown {
  return { apiVersion: "v1", kind: "Secret", data };
}

for (const { name, given, expected } of cases) {
  Deno.test(`maskSecrets masks ${name}`, () => {
    const before = structuredClone(given);
    assert.deepEqual(maskSecrets(given), expected);
    assert.deepEqual(given, before, "the argument was modified");
  });
}

for (
  const value of [
    { apiVersion: "v1", kind: "ConfigMap", data: { a: "text" } },
    { apiVersion: "demo.example.com/v1", kind: "Secret", data: { a: "text" } },
    { metadata: { annotations: { note: '{"kind":"Secret' } }, annotations: ["a"] },
    [1, "two", null],
    "text",
    undefined,
  ]
) {
  Deno.test(`maskSecrets returns ${JSON.stringify(value)} unchanged`, () => assert.equal(maskSecrets(value), value));
}

Deno.test("maskSecrets terminates on a value that contains itself", () => {
  const value: Record<string, unknown> = { secret: secret({ data: { a: "c2VjcmV0" } }) };
  value.self = value;
  assert.doesNotMatch(Deno.inspect(maskSecrets(value), { depth: 10 }), /c2VjcmV0/);
});

Deno.test("maskSecret is a replacer for JSON.stringify that reaches class instances too", () => {
  class Holder {
    secret = secret({ data: { a: "c2VjcmV0" } });
  }
  assert.doesNotMatch(JSON.stringify({ holder: new Holder() }, (_, value) => maskSecret(value)), /c2VjcmV0/);
});

Deno.test("maskSecretChange marks the values that the change replaces, and no others", () => {
  const [before, after] = maskSecretChange(
    secret({ data: { same: "YQ==", changed: "b2xk", removed: "YQ==" } }),
    secret({ data: { same: "YQ==", changed: "bmV3", added: "YQ==" } }),
  );
  assert.deepEqual(before.data, { same: "***", changed: "*** (before)", removed: "***" });
  assert.deepEqual(after.data, { same: "***", changed: "*** (after)", added: "***" });
});

Deno.test("maskSecretChange marks changes in the last-applied-configuration annotation", () => {
  const applied = (value: string) =>
    secret({ metadata: { annotations: { [LAST_APPLIED]: JSON.stringify(secret({ data: { a: value } })) } } });
  const [before, after] = maskSecretChange(applied("b2xk"), applied("bmV3"));
  assert.match(JSON.stringify(before), /\*\*\* \(before\)/);
  assert.match(JSON.stringify(after), /\*\*\* \(after\)/);
});

Deno.test("maskSecretChange masks an object that is created or deleted", () => {
  const created = maskSecretChange(undefined, secret({ data: { a: "c2VjcmV0" } }));
  assert.deepEqual(created, [undefined, secret({ data: { a: "***" } })]);
  const deleted = maskSecretChange(secret({ data: { a: "c2VjcmV0" } }), undefined);
  assert.deepEqual(deleted, [secret({ data: { a: "***" } }), undefined]);
});

// Messages of kube-apiserver 1.36.3.
const messages: { name: string; message: string; sent: unknown; expected: string }[] = [
  {
    name: "a merge patch that cannot be decoded",
    message: String.raw` "" is invalid: patch: Invalid value: "{\"data\":{\"a\":\"not base64\"}}": illegal base64 data`,
    sent: { data: { a: "not base64" } },
    expected: ' "" is invalid: patch: Invalid value: "***": illegal base64 data',
  },
  {
    name: "a strategic merge patch that cannot be decoded",
    message: '"" is invalid: patch: Invalid value: "map[data:TOPSECRET]": cannot restore map from string',
    sent: { data: "TOPSECRET" },
    expected: '"" is invalid: patch: Invalid value: "***": cannot restore map from string',
  },
  {
    name: "an apply of a wrong type",
    message: "failed to create typed patch object: .data: expected map, got &{TOPSECRET}",
    sent: { data: "TOPSECRET" },
    expected: "failed to create typed patch object: .data: expected map, got &{***}",
  },
  {
    name: "a JSON patch",
    message: "cannot add TOPSECRET",
    sent: [{ op: "add", path: "/data/a", value: "TOPSECRET" }],
    expected: "cannot add ***",
  },
  {
    name: "a message that is truncated inside a value",
    message: 'patch: Invalid value: "{\\"data\\":{\\"a\\":\\"TOPSE',
    sent: undefined,
    expected: 'patch: Invalid value: "***"',
  },
  {
    name: "a webhook that decodes a value",
    message: "denied: topsecret is too weak",
    sent: { data: { a: btoa("topsecret") } },
    expected: "denied: *** is too weak",
  },
  {
    name: "a webhook that encodes a value",
    message: `denied: ${btoa("topsecret")} is too weak`,
    sent: { stringData: { a: "topsecret" } },
    expected: "denied: *** is too weak",
  },
  {
    name: "a message without values",
    message: 'Secret "a" is invalid: data: Forbidden: field is immutable',
    sent: { data: { a: "is" } },
    expected: 'Secret "a" is invalid: data: Forbidden: field is immutable',
  },
];

for (const { name, message, sent, expected } of messages) {
  Deno.test(`maskSecretMessage masks the values in the response to ${name}`, () => {
    assert.equal(maskSecretMessage(message, sent), expected);
  });
}
