/**
 * Writes `src/openapi/protobuf.gen.ts`: the protobuf messages of the built-in kinds, from the
 * sources of Kubernetes' API modules. Field numbers and types come from each package's
 * `generated.proto`; the key in JSON, and whether the field may be absent, from the tags of its Go
 * struct.
 *
 * ```sh
 * deno run --allow-read --allow-write=src/openapi tools/protobuf_data.ts \
 *   "$(go env GOMODCACHE)/k8s.io" v0.36.3
 * ```
 */

/** A field of a message in a `.proto` file. */
export interface ProtoField {
  readonly number: number;
  readonly name: string;
  /** Name of a scalar type, or full name of a message. */
  readonly type: string;
  readonly isRepeated: boolean;
  /** Whether it is a map with string keys; the type is then that of its values. */
  readonly isMap: boolean;
}

/** A field of a Go struct. */
export interface GoField {
  /** Key in JSON; empty for an embedded struct. */
  readonly json: string;
  readonly isPointer: boolean;
  readonly omitsEmpty: boolean;
}

const MESSAGE = /^message (\w+) \{\n([\s\S]*?)^\}/gm;
const FIELD = /^ {2}(optional|repeated|required)? ?(map<\s*string,\s*([\w.]+)>|[\w.]+) (\w+) = (\d+)/gm;
const STRUCT = /^type (\w+) struct \{\n([\s\S]*?)^\}/gm;
const TAGGED = /^\t(?:(\w+) +)?(\*?)([\w.[\]*]+) +`(.*)`/gm;

/**
 * Parses the messages of a `.proto` file.
 *
 * @param text Content of the file.
 * @returns Fields by message. Types that are messages have the file's package as a prefix.
 */
export function protoMessages(text: string): Map<string, ProtoField[]> {
  const [, pkg = ""] = /^package ([\w.]+);/m.exec(text) ?? [];
  const messages = new Map<string, ProtoField[]>();
  for (const [, message = "", body = ""] of text.matchAll(MESSAGE)) {
    const fields = [...body.matchAll(FIELD)].map(([, label, whole = "", value, name = "", number]) => ({
      number: Number(number),
      name,
      type: qualified(value ?? whole, pkg),
      isRepeated: label === "repeated",
      isMap: value !== undefined,
    }));
    messages.set(message, fields);
  }
  return messages;
}

const SCALARS = new Set(["string", "bytes", "bool", "int32", "int64", "uint32", "uint64", "double", "float"]);

function qualified(type: string, pkg: string): string {
  if (SCALARS.has(type)) return type;
  return type.startsWith(".") ? type.slice(1) : type.includes(".") ? type : `${pkg}.${type}`;
}

/**
 * Parses the tags of the structs in a Go file.
 *
 * @param text Content of the file.
 * @returns Fields by struct and number.
 */
export function goStructs(text: string): Map<string, Map<number, GoField>> {
  const structs = new Map<string, Map<number, GoField>>();
  for (const [, struct = "", body = ""] of text.matchAll(STRUCT)) {
    const fields = new Map<number, GoField>();
    for (const [, , star, , tags = ""] of body.matchAll(TAGGED)) {
      const number = Number(/protobuf:"\w+,(\d+),/.exec(tags)?.[1]);
      const [json = "", ...rest] = (/json:"([^"]*)"/.exec(tags)?.[1] ?? "").split(",");
      if (!Number.isNaN(number)) {
        fields.set(number, { json, isPointer: star === "*", omitsEmpty: rest.includes("omitempty") });
      }
    }
    structs.set(struct, fields);
  }
  return structs;
}

const CODES: Readonly<Record<string, string>> = {
  string: "s",
  bytes: "b",
  bool: "t",
  int32: "i",
  int64: "l",
  uint32: "u",
  uint64: "v",
  double: "d",
  float: "f",
};

/**
 * Encodes a field: number, key in JSON, flags, and a letter for a scalar or `:` and the name of a
 * message.
 *
 * @param field The field.
 * @param go Field of the Go struct, if it has a tag.
 */
export function fieldText(field: ProtoField, go: GoField | undefined): string {
  const { json = field.name, isPointer = true, omitsEmpty = true } = go ?? {};
  const flags = `${field.isRepeated ? "*" : ""}${field.isMap ? "%" : ""}${isPointer ? "?" : ""}${
    omitsEmpty ? "" : "!"
  }`;
  return `${field.number} ${json} ${flags}${CODES[field.type] ?? `:${shortName(field.type)}`}`;
}

/** Returns the last three parts of a name, which OpenAPI definitions have too. */
function shortName(type: string): string {
  return type.split(".").slice(-3).join(".");
}

const PACKAGES: readonly (readonly [module: string, folder: string])[] = [
  ...[
    "admission/v1",
    "admissionregistration/v1",
    "apps/v1",
    "authentication/v1",
    "authorization/v1",
    "autoscaling/v1",
    "autoscaling/v2",
    "batch/v1",
    "certificates/v1",
    "coordination/v1",
    "core/v1",
    "discovery/v1",
    "events/v1",
    "flowcontrol/v1",
    "networking/v1",
    "node/v1",
    "policy/v1",
    "rbac/v1",
    "resource/v1",
    "scheduling/v1",
    "storage/v1",
  ].map((folder): [string, string] => ["api", folder]),
  ["apimachinery", "pkg/apis/meta/v1"],
  ["apimachinery", "pkg/api/resource"],
  ["apimachinery", "pkg/util/intstr"],
  ["apimachinery", "pkg/runtime"],
  ["apiextensions-apiserver", "pkg/apis/apiextensions/v1"],
  ["kube-aggregator", "pkg/apis/apiregistration/v1"],
];

async function main(modules: string, version: string): Promise<void> {
  const lines: string[] = [];
  for (const [module, folder] of PACKAGES) {
    const path = `${modules}/${module}@${version}/${folder}`;
    const proto = await Deno.readTextFile(`${path}/generated.proto`);
    const [, pkg = ""] = /^package ([\w.]+);/m.exec(proto) ?? [];
    const structs = new Map<string, Map<number, GoField>>();
    for await (const { name } of Deno.readDir(path)) {
      if (!name.endsWith(".go") || /_test|generated|zz_/.test(name)) continue;
      for (const [struct, fields] of goStructs(await Deno.readTextFile(`${path}/${name}`))) structs.set(struct, fields);
    }
    for (const [message, fields] of protoMessages(proto)) {
      const texts = fields.map((field) => fieldText(field, structs.get(message)?.get(field.number)));
      lines.push(`  ${JSON.stringify(shortName(`${pkg}.${message}`))}: ${JSON.stringify(texts.join(";"))},`);
    }
  }
  const text = [
    `// Protobuf messages of Kubernetes ${version}. Generated by tools/protobuf_data.ts; do not edit.`,
    "/**",
    " * Messages by name, each field as `number key flags type`. Flags: `*` list, `%` map, `?` pointer in Go, `!` never omitted from JSON. A field with an",
    " * empty key is an embedded message. Types: s string, b bytes, t boolean, i l u v integers, d f floats, `:` and the name of a message.",
    " */",
    "export const messages: Readonly<Record<string, string>> = {",
    ...lines.sort(),
    "};",
    "",
  ].join("\n");
  await Deno.writeTextFile(new URL("../src/openapi/protobuf.gen.ts", import.meta.url), text);
}

if (import.meta.main) {
  const [modules, version] = Deno.args;
  if (modules === undefined || version === undefined) {
    console.error(
      "Missing arguments: the folder k8s.io of Go's module cache, and a version such as v0.36.3",
    );
    Deno.exit(2);
  }
  await main(modules, version);
}
