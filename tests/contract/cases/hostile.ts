/** Malformed, large, deep and misleading input. */
import { area } from "../contract.ts";
import { APPLY, JSON_PATCH, MERGE, type Recorder } from "../recorder.ts";
import { configMap, GROUP, widget } from "../widget.ts";

const YAML = "application/yaml";
const STRATEGIC = "application/strategic-merge-patch+json";

/** Names of Object.prototype. */
const INHERITED = ["__proto__", "constructor", "toString", "hasOwnProperty", "prototype"];

/** Returns a ConfigMap as a string, with data as a string. */
function configMapText(name: string, data: string): string {
  return `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"${name}"},"data":${data}}`;
}

function widgetText(name: string, spec: string): string {
  return `{"apiVersion":"${GROUP}/v1","kind":"Widget","metadata":{"name":"${name}"},"spec":${spec}}`;
}

/** Returns a string as bytes, with an invalid UTF-8 byte in place of each `?`. */
function withBrokenBytes(text: string): Uint8Array {
  return new TextEncoder().encode(text).map((byte) => byte === "?".charCodeAt(0) ? 0xff : byte);
}

function nestedObject(depth: number): string {
  return `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
}

/** Sends bodies to a built-in and a custom kind. */
async function postBoth(api: Recorder, texts: readonly string[]): Promise<void> {
  for (const [i, text] of texts.entries()) {
    await api.post(api.core("configmaps"), configMapText(`c${i}`, text));
    await api.post(api.widgets(), widgetText(`w${i}`, text));
  }
}

/** Returns only the fields of a large response that are worth comparing. */
// deno-lint-ignore no-explicit-any -- The body is not checked before.
const brief = (body: any): unknown => ({
  kind: body?.kind,
  code: body?.code,
  reason: body?.reason,
  message: String(body?.message ?? "").slice(0, 100),
});

export const hostile = area("hostile input", {
  "malformed JSON": (api) =>
    postBoth(api, [
      '{"a":"b"',
      '{"a":"b",}',
      "{'a':'b'}",
      '{"a":NaN}',
      '{"a":01}',
      '{"a":"b"} // why',
      '{"a":"\\x"}',
      '{"a":"\\u12"}',
      '{"a":"b\tc"}',
      '{"a":"b"}}',
      "{a:1}",
      '{"a":tru}',
      '{"a":1e}',
      '{"a":-}',
      '{"a" "b"}',
      '{"a":"b" "c":"d"}',
      '{"a":"b',
    ]),
  "unusual JSON": (api) =>
    postBoth(api, [
      '{"a":"\\ud800"}',
      '{"a":"\\u0000"}',
      '{"":"b"}',
      '{"a":"b","a":"c"}',
      '{"A":"b","a":"c"}',
      ' \n\t{"a":"b"}\r\n ',
    ]),
  "numbers that are too large": async (api) => {
    for (const number of ["1e999", "-1e999", "99999999999999999999", "1.0", "-0", "1E2", "9007199254740993"]) {
      await api.post(api.widgets("?dryRun=All"), widgetText("w", `{"free":{"n":${number}},"size":2}`));
      await api.post(api.widgets("?dryRun=All"), widgetText("w", `{"size":${number}}`));
    }
  },
  "field names in another case": async (api) => {
    await api.post(api.core("configmaps"), '{"APIVERSION":"v1","Kind":"ConfigMap","metadata":{"name":"a"}}');
    await api.post(api.core("configmaps"), '{"apiVersion":"v1","kind":"ConfigMap","Metadata":{"name":"b"}}');
    await api.post(api.widgets(), `{"apiVersion":"${GROUP}/v1","kind":"Widget","metadata":{"Name":"c"}}`);
    await api.post(api.widgets(), `{"apiVersion":"${GROUP}/v1","kind":"Widget","metadata":{"name":"d"},"Spec":{}}`);
  },
  "malformed and unusual YAML": async (api) => {
    const head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n";
    for (
      const [i, rest] of [
        "data: {a: [",
        "data:\n\ta: b",
        "data: {a: b}\n---\nkind: Other",
        "data: &x {a: b}\nbinaryData: *x",
        "data: *x",
        "data: {a: b, a: c}",
        "data: {a: 1}",
        "data: {a: !!binary aGk=}",
        "data: {a: yes}",
        "data: {1: b}",
        "data: {? [a] : b}",
        "data: {a: 'b'",
        "data: !custom {a: b}",
        "data: |\n  text",
        "data: {<<: {a: b}}",
      ].entries()
    ) await api.post(api.core("configmaps"), head.replace("x", `c${i}`) + rest, { contentType: YAML });
  },
  "malformed and unusual YAML of an apply": async (api) => {
    const head = `apiVersion: ${GROUP}/v1\nkind: Widget\nmetadata: {name: w}\n`;
    for (
      const rest of [
        "spec: {size: [",
        "spec: {size: 2, size: 3}",
        "spec: *x",
        "spec:\n\tsize: 2",
        "spec: {free: {1: 2}}",
      ]
    ) await api.call("PATCH", api.widgets("/w?fieldManager=one"), head + rest, { contentType: APPLY });
    for (const text of ["", "null", "[]", "text", "3", "---", "a: b"]) {
      await api.call("PATCH", api.widgets("/w?fieldManager=one"), text, { contentType: APPLY });
    }
  },
  "YAML aliases that expand exponentially": async (api) => {
    const lines = ["a: &a [x,x,x,x,x,x,x,x,x]"];
    for (const [from, to] of ["ab", "bc", "cd", "de", "ef", "fg", "gh", "hi"]) {
      lines.push(`${to}: &${to} [${Array(9).fill(`*${from}`).join(",")}]`);
    }
    const text = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n${lines.join("\n")}\n`;
    await api.post(api.core("configmaps"), text, { contentType: YAML, pick: brief });
    await api.call("PATCH", api.core("configmaps/x?fieldManager=one"), text, { contentType: APPLY, pick: brief });
  },
  "bodies that are too large": async (api) => {
    const large = (bytes: number) => configMapText("large", `{"a":"${"x".repeat(bytes)}"}`);
    await api.post(api.core("configmaps"), large(3 * 1024 * 1024), { pick: brief });
    await api.post(api.widgets(), widgetText("w", `{"free":{"a":"${"x".repeat(3 * 1024 * 1024)}"}}`), { pick: brief });
    await api.call("PATCH", api.core("configmaps/a"), `{"data":{"a":"${"x".repeat(3 * 1024 * 1024)}"}}`, {
      contentType: MERGE,
      pick: brief,
    });
    await api.post(api.core("configmaps"), large(1024 * 1024 + 1), { pick: brief });
    await api.post(api.core("configmaps"), large(1024 * 1024), { pick: brief });
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "s" } };
    await api.post(api.core("secrets"), { ...secret, stringData: { a: "x".repeat(1024 * 1024 + 1) } }, { pick: brief });
    await api.post(api.core("configmaps"), configMap("notes", {}, { annotations: { a: "x".repeat(262_145) } }), {
      pick: brief,
    });
  },
  "bodies that are nested too deeply": async (api) => {
    for (const depth of [500, 1000, 10_001, 100_000]) {
      const options = { pick: brief };
      await api.post(api.widgets(), widgetText(`w${depth}`, `{"free":${nestedObject(depth)}}`), options);
      await api.post(api.core("configmaps"), configMapText(`c${depth}`, nestedObject(depth)), options);
    }
    await api.get(api.core("configmaps/none"));
  },
  "patches that are too deep or too long": async (api) => {
    await api.quietly("POST", api.widgets(), widget("w"));
    await api.quietly("POST", api.core("configmaps"), configMap("c"));
    const deep = `{"spec":{"free":${nestedObject(10_001)}}}`;
    await api.call("PATCH", api.widgets("/w"), deep, { contentType: MERGE, pick: brief });
    await api.call("PATCH", api.core("configmaps/c"), deep, { contentType: STRATEGIC, pick: brief });
    const many = Array.from({ length: 10_001 }, () => ({ op: "test", path: "/kind", value: "Widget" }));
    await api.call("PATCH", api.widgets("/w"), many, { contentType: JSON_PATCH, pick: brief });
    await api.call("PATCH", api.widgets("/w"), many.slice(1), { contentType: JSON_PATCH, pick: brief });
  },
  "bytes that are not UTF-8": async (api) => {
    await api.post(api.core("configmaps"), withBrokenBytes(configMapText("a", '{"k":"a?b"}')));
    await api.post(api.core("configmaps"), withBrokenBytes(configMapText("b", '{"k?":"b"}')));
    await api.post(api.core("configmaps"), withBrokenBytes(configMapText("c?", '{"k":"b"}')));
    await api.post(api.widgets(), withBrokenBytes(widgetText("a", '{"free":{"k":"a?b"}}')));
    await api.quietly("POST", api.widgets(), widget("w"));
    await api.call("PATCH", api.widgets("/w"), withBrokenBytes('{"spec":{"note":"a?b"}}'), { contentType: MERGE });
    await api.post(api.core("configmaps"), new Uint8Array([0xef, 0xbb, 0xbf, ...new TextEncoder().encode("{}")]));
  },
  "keys and types of ConfigMaps and Secrets": async (api) => {
    for (const key of ["a b", "ä", "..", ".", "..a", ".a", "a/b", "x".repeat(254), "A_b-c.d"]) {
      await api.post(api.core("configmaps?dryRun=All"), configMap("c", { [key]: "v" }));
      await api.post(api.core("secrets?dryRun=All"), {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "s" },
        stringData: { [key]: "v" },
      });
    }
    await api.post(api.core("configmaps?dryRun=All"), { ...configMap("c", { a: "v" }), binaryData: { a: "aGk=" } });
    for (
      const [type, data] of [
        ["kubernetes.io/tls", {}],
        ["kubernetes.io/tls", { "tls.crt": "", "tls.key": "" }],
        ["kubernetes.io/basic-auth", {}],
        ["kubernetes.io/basic-auth", { username: "" }],
        ["kubernetes.io/ssh-auth", { "ssh-privatekey": "" }],
        ["kubernetes.io/ssh-auth", { "ssh-privatekey": "x" }],
        ["kubernetes.io/dockerconfigjson", {}],
        ["kubernetes.io/dockerconfigjson", { ".dockerconfigjson": "{" }],
        ["kubernetes.io/dockerconfigjson", { ".dockerconfigjson": "[]" }],
        ["kubernetes.io/dockercfg", { ".dockercfg": "{}" }],
        ["kubernetes.io/service-account-token", {}],
        ["example.com/other", {}],
      ] as const
    ) {
      await api.post(api.core("secrets?dryRun=All"), {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "s" },
        type,
        stringData: data,
      });
    }
  },
  "names of Object.prototype as keys": async (api) => {
    for (const [i, key] of INHERITED.entries()) {
      await api.post(api.core("configmaps"), configMapText(`c${i}`, `{"${key}":"v"}`));
      await api.call("PATCH", api.core(`configmaps/c${i}`), `{"data":{"${key}":"w"}}`, { contentType: MERGE });
      await api.call("PATCH", api.core(`configmaps/c${i}`), `{"data":{"${key}":null}}`, { contentType: STRATEGIC });
      await api.call("PATCH", api.core(`configmaps/c${i}?fieldManager=one`), configMapText(`c${i}`, `{"${key}":"x"}`), {
        contentType: APPLY,
      });
      await api.get(api.core(`configmaps/c${i}`));
    }
  },
  "names of Object.prototype as fields": async (api) => {
    for (const [i, key] of INHERITED.entries()) {
      await api.post(api.widgets(), widgetText(`w${i}`, `{"${key}":{"size":9},"free":{"${key}":{"size":9}}}`));
      await api.call("PATCH", api.widgets(`/w${i}`), `{"spec":{"settings":{"${key}":"a"},"free":{"${key}":1}}}`, {
        contentType: MERGE,
      });
      await api.call("PATCH", api.widgets(`/w${i}?fieldManager=one`), widgetText(`w${i}`, `{"pair":{"${key}":"b"}}`), {
        contentType: APPLY,
      });
      await api.jsonPatch(api.widgets(`/w${i}`), [{ op: "add", path: `/spec/free/${key}`, value: { x: 1 } }]);
      await api.jsonPatch(api.widgets(`/w${i}`), [{ op: "add", path: `/${key}/polluted`, value: true }]);
    }
    await api.get(api.widgets("/w0"));
  },
  "misleading labels and names": async (api) => {
    for (const name of ["..", ".", "a/b", "a%2Fb", "__proto__", "A", "a b", "a".repeat(254), "ä"]) {
      await api.post(api.core("configmaps"), configMap(name));
    }
    for (const key of INHERITED) {
      await api.post(
        api.core("configmaps"),
        configMap(`l-${key.toLowerCase().replaceAll("_", "")}`, {}, {
          labels: { [`x${key}x`]: "y" },
          annotations: { [`x${key}x`]: "y" },
        }),
      );
      await api.get(api.core(`configmaps?labelSelector=x${key}x`), { pick: (body) => body.items?.length ?? body });
    }
  },
  "misleading paths": async (api) => {
    for (
      const path of [
        api.core("configmaps/%2e%2e"),
        api.core("configmaps/a%2Fb"),
        api.core("configmaps/a%00b"),
        api.core("configmaps/a%20b"),
        "/api/v1/namespaces/A B/configmaps",
        `/api//v1/namespaces/${api.namespace}/configmaps/none`,
        api.core("__proto__"),
        api.core("constructor/x"),
        "/apis/__proto__/v1/x",
        "/apis/constructor",
        "/api/v1/__proto__",
        "/apis/apps/constructor/x",
        api.core("configmaps/none/__proto__"),
        api.core("pods/none/constructor"),
      ]
    ) await api.get(path);
  },
  "unknown patch types": async (api) => {
    await api.quietly("POST", api.widgets(), widget("w"));
    await api.quietly("POST", api.core("configmaps"), configMap("c"));
    for (
      const contentType of [
        "application/json",
        "application/yaml",
        "text/plain",
        "application/xml",
        STRATEGIC,
        "application/apply-patch+json",
        "application/merge-patch+json; charset=utf-8",
        "nonsense",
      ]
    ) {
      await api.call("PATCH", api.widgets("/w"), "{}", { contentType });
      await api.call("PATCH", api.core("configmaps/c"), "{}", { contentType });
    }
  },
  "unknown content types of bodies": async (api) => {
    for (const contentType of ["text/html", "application/xml", "nonsense", "application/json;", "APPLICATION/JSON"]) {
      await api.post(api.widgets("?dryRun=All"), widget("w"), { contentType });
      await api.post(api.core("configmaps?dryRun=All"), configMap("c"), { contentType });
      await api.put(api.core("configmaps/c"), configMap("c"), { contentType });
      await api.delete(api.core("configmaps/c"), {}, { contentType });
    }
  },
  "an object of a similar kind": async (api) => {
    await api.post(api.core("configmaps"), { apiVersion: "v1", kind: "Secret", metadata: { name: "s" } });
    await api.post(api.core("secrets"), configMap("c"));
    await api.post(api.core("configmaps"), { apiVersion: "v2", kind: "ConfigMap", metadata: { name: "s" } });
    await api.post(api.core("configmaps"), { apiVersion: "v1", kind: "configmap", metadata: { name: "s" } });
    await api.post(api.core("configmaps"), { apiVersion: 1, kind: "ConfigMap", metadata: { name: "s" } });
    await api.post(api.core("configmaps"), { apiVersion: "v1", kind: ["ConfigMap"], metadata: { name: "s" } });
    await api.post(api.widgets(), { apiVersion: `${GROUP}/v1`, kind: 7, metadata: { name: "s" } });
    await api.post(api.widgets(), { apiVersion: `${GROUP}/v1`, kind: "Widget", metadata: "s" });
    await api.post(api.widgets(), { apiVersion: `${GROUP}/v1`, kind: "Widget", metadata: { name: 7 } });
  },
});

/**
 * Many watches. These cases run alone, because a server closes a connection on which too many
 * watches are dropped.
 */
export const droppedWatches = area("dropped watches", {
  "two thousand watches that are opened and dropped": async (api) => {
    await api.quietly("POST", api.widgets(), widget("w"));
    // Few at a time, because a server closes a connection on which too many watches are dropped at
    // once.
    for (let round = 0; round < 80; round++) {
      await Promise.all(Array.from({ length: 25 }, () => api.dropWatch(api.widgets("?watch=1"))));
    }
    await api.watch(api.widgets("?watch=1"), async (watch) => {
      await watch.take(1);
      await api.merge(api.widgets("/w"), { spec: { size: 4 } });
      await watch.take(1);
    });
  },
});
