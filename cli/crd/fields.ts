/** Writes the fields of a schema: a section for each object, and a row for each of its fields. */
import { firstSentence } from "../import/descriptions.ts";
import { constraintsOf, type JsonSchema, ruleOf, typeOf } from "./constraints.ts";
import { cell, code, json, paragraphs, table, text } from "./markdown.ts";

/** Returns a unique anchor for a path. */
export type Anchors = (path: string) => string;

/** An object in a schema. */
interface Section {
  /** Its path, such as `spec.ports[]`: an item of a list is `[]`, a value of a map `{}`. */
  readonly path: string;
  /** The schema at the path without the last brackets. */
  readonly field: JsonSchema;
  /** The schema of the object. */
  readonly object: JsonSchema;
  readonly required: boolean;
}

/**
 * Returns the sections of a version's fields, as Markdown. `apiVersion`, `kind` and `metadata` are
 * omitted unless the schema describes them.
 *
 * @param root The schema of the version.
 * @param anchors Returns a unique anchor for a path.
 */
export function fieldsOf(root: JsonSchema, anchors: Anchors): string {
  const { apiVersion: _, kind: __, metadata, ...properties } = root.properties ?? {};
  const shown = { ...root, properties: { ...(metadata?.properties && { metadata }), ...properties } };
  const sections = [...sectionsOf({ path: "", field: shown, object: shown, required: true })];
  const links = new Map(sections.map(({ path }) => [path, anchors(path)]));
  return sections.map((section) => sectionText(section, links, anchors)).join("\n");
}

function* sectionsOf(section: Section): Generator<Section> {
  yield section;
  const { properties = {}, required = [] } = section.object;
  for (const [name, field] of Object.entries(properties)) {
    const [path, object] = innermost(childPath(section.path, name), field);
    if (object.properties) yield* sectionsOf({ path, field, object, required: required.includes(name) });
  }
}

/** Returns the innermost item of nested lists and maps, and its path. */
function innermost(path: string, schema: JsonSchema): readonly [string, JsonSchema] {
  if (schema.type === "array" && schema.items) return innermost(`${path}[]`, schema.items);
  const { additionalProperties } = schema;
  return typeof additionalProperties === "object" ? innermost(`${path}{}`, additionalProperties) : [path, schema];
}

function childPath(path: string, name: string): string {
  if (!/^[A-Za-z_$][\w$-]*$/.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path === "" ? name : `${path}.${name}`;
}

function sectionText(section: Section, links: ReadonlyMap<string, string>, anchors: Anchors): string {
  const { path, field, object, required } = section;
  const rows = Object.entries(object.properties ?? {}).map(([name, schema]) =>
    row(name, childPath(path, name), schema, object.required?.includes(name) === true, links, anchors)
  );
  const isRoot = path === "";
  return [
    ...(isRoot ? [] : [`<a id="${links.get(path)}"></a>\n\n### ${code(path)}\n\n`]),
    ...(isRoot ? [] : [`${[code(typeOf(field)), ...(required ? ["required"] : [])].join(", ")}\n\n`]),
    ...(field.title === undefined || isRoot ? [] : [`**${text(field.title)}**\n\n`]),
    ...(field.description && !isRoot ? [`${paragraphs(field.description)}\n\n`] : []),
    ...(object.description && object !== field ? [`${paragraphs(object.description)}\n\n`] : []),
    ...bullets(factsOf(field)),
    table(["Field", "Type", "Required, default", "Description"], rows),
  ].join("");
}

function bullets(facts: readonly string[]): string[] {
  return facts.length === 0 ? [] : [`${facts.map((fact) => `- ${fact}\n`).join("")}\n`];
}

function row(
  name: string,
  path: string,
  schema: JsonSchema,
  required: boolean,
  links: ReadonlyMap<string, string>,
  anchors: Anchors,
): string[] {
  const [inner] = innermost(path, schema);
  const section = links.get(inner);
  const must = [...(required ? ["**required**"] : []), ...(schema.default === undefined ? [] : [json(schema.default)])]
    .join(", ");
  if (section !== undefined) {
    const short = schema.description === undefined ? "" : text(firstSentence(schema.description));
    return [`[${code(name)}](#${section})`, code(typeOf(schema)), must, short];
  }
  const description = schema.description === undefined ? [] : [cell(schema.description)];
  return [
    `<a id="${anchors(path)}"></a>${code(name)}`,
    code(typeOf(schema)),
    must,
    [...(schema.title === undefined ? [] : [`**${text(schema.title)}**`]), ...description, ...factsOf(schema)].join(
      "<br>",
    ),
  ];
}

/**
 * Returns the constraints of a schema, and those of its items or values unless these have their own
 * section.
 */
function factsOf(schema: JsonSchema): string[] {
  const { default: value, example, externalDocs, items, additionalProperties } = schema;
  const [, object] = innermost("", schema);
  const inner = items ?? (typeof additionalProperties === "object" ? additionalProperties : undefined);
  // An object with its own section is described there.
  const described = inner?.description !== undefined && !object.properties ? [cell(inner.description)] : [];
  return [
    ...constraintsOf(schema),
    ...(object.properties && value !== undefined ? [`Default: ${json(value)}`] : []),
    ...(example === undefined ? [] : [`Example: ${json(example)}`]),
    ...(externalDocs?.url === undefined ? [] : [`See ${text(externalDocs.url)}`]),
    ...(schema["x-kubernetes-validations"] ?? []).map(ruleOf),
    ...(inner === undefined ? [] : [...described, ...factsOf(inner).map(decapitalized)])
      .map((fact) => `Each ${items ? "item" : "value"}: ${fact}`),
  ];
}

/** Returns a sentence for use after a colon. */
function decapitalized(sentence: string): string {
  return /^[A-Z][a-z]/.test(sentence) ? `${sentence[0]!.toLowerCase()}${sentence.slice(1)}` : sentence;
}
