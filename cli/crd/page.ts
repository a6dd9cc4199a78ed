/** Writes a reference page of kinds, as Markdown. */
import type { DefinedVersion, Definition } from "../definitions/definition.ts";
import { fieldsOf } from "./fields.ts";
import { code, paragraphs, table, text } from "./markdown.ts";

/**
 * Returns a page with the names and versions of each kind, and the columns and fields of each
 * version. It depends only on the definitions.
 *
 * @param definitions The kinds, in the order of the page.
 */
export function pageOf(definitions: readonly Definition[]): string {
  const usedAnchors = new Set<string>();
  const kinds = definitions.map((definition) => ({
    definition,
    anchor: uniqueAnchor(usedAnchors, slug(definition.spec.names.kind)),
  }));
  const contents = kinds.map(({ definition: { spec: { names, group } }, anchor }) =>
    `- [${text(names.kind)}](#${anchor}), ${code(group)}\n`
  );
  return [
    ...(kinds.length > 1 ? [`${contents.join("")}\n`] : []),
    kinds.map(({ definition, anchor }) => kindText(definition, anchor, usedAnchors)).join("\n"),
  ].join("");
}

function kindText(definition: Definition, anchor: string, usedAnchors: Set<string>): string {
  const { names, group, versions } = definition.spec;
  const stored = versions.find(({ storage }) => storage)!;
  const { description } = stored.schema.openAPIV3Schema;
  const anchors = new Map(versions.map(({ name }) => [name, uniqueAnchor(usedAnchors, slug(`${anchor}.${name}`))]));
  const sections = versions.map((version, i) => {
    const same = versions.slice(0, i).find((earlier) =>
      JSON.stringify(earlier.schema) === JSON.stringify(version.schema)
    );
    return versionText(version, anchors, usedAnchors, same);
  });
  return [
    `<a id="${anchor}"></a>\n\n# ${text(names.kind)}\n\n`,
    ...(description ? [`${paragraphs(description)}\n\n`] : []),
    table(["", ""], [
      ["API group", code(group)],
      ["Kind", `${code(names.kind)}${names.listKind ? `, list ${code(names.listKind)}` : ""}`],
      ["Resource", resourceText(names)],
      ...(names.shortNames?.length ? [["Short names", names.shortNames.map(code).join(", ")]] : []),
      ...(names.categories?.length ? [["Categories", names.categories.map(code).join(", ")]] : []),
      ["Scope", definition.spec.scope === "Cluster" ? "the whole cluster" : "a namespace"],
      [
        "Versions",
        versions.map((version) => `[${code(version.name)}](#${anchors.get(version.name)})${traits(version)}`).join(
          ", ",
        ),
      ],
    ]),
    "\n`[]` is an item of a list, `{}` a value of a map.\n\n",
    sections.join("\n"),
  ].join("");
}

function resourceText({ plural, singular }: Definition["spec"]["names"]): string {
  return singular === undefined ? code(plural) : `${code(plural)}, singular ${code(singular)}`;
}

function traits({ served, storage, deprecated }: DefinedVersion): string {
  const words = [
    served ? "served" : "not served",
    ...(storage ? ["stored"] : []),
    ...(deprecated ? ["deprecated"] : []),
  ];
  return ` (${words.join(", ")})`;
}

function versionText(
  version: DefinedVersion,
  anchors: ReadonlyMap<string, string>,
  usedAnchors: Set<string>,
  same: DefinedVersion | undefined,
): string {
  const { name, served, deprecated, deprecationWarning, schema: { openAPIV3Schema: root } } = version;
  const anchor = anchors.get(name)!;
  const unserved = served ? "" : "This version is not served.\n\n";
  const warning = deprecated ? `**Deprecated**${deprecationWarning ? `: ${text(deprecationWarning)}` : ""}\n\n` : "";
  return [
    `<a id="${anchor}"></a>\n\n## ${text(name)}\n\n${unserved}${warning}`,
    columnsText(version),
    scaleText(version),
    selectableText(version),
    same === undefined
      ? fieldsOf(root, (path) => uniqueAnchor(usedAnchors, slug(`${anchor}.${path}`)))
      : `The fields are those of [${code(same.name)}](#${anchors.get(same.name)}).\n`,
  ].join("");
}

function columnsText({ additionalPrinterColumns: columns = [] }: DefinedVersion): string {
  const rows = columns.map(({ name, type, format, jsonPath, priority = 0, description }) => [
    text(name),
    code(format ? `${type} (${format})` : type),
    code(jsonPath),
    [...(description ? [text(description)] : []), ...(priority > 0 ? ["With `-o wide`."] : [])].join("<br>"),
  ]);
  return rows.length === 0
    ? ""
    : `Columns of \`kubectl get\`:\n\n${table(["Column", "Type", "Path", "Description"], rows)}\n`;
}

function scaleText({ subresources }: DefinedVersion): string {
  const scale = subresources?.scale;
  if (scale === undefined) return "";
  const selector = scale.labelSelectorPath ? `, the selector of its Pods at ${code(scale.labelSelectorPath)}` : "";
  return `Can be scaled: desired replicas at ${code(scale.specReplicasPath)}, current replicas at ${
    code(scale.statusReplicasPath)
  }${selector}.\n\n`;
}

function selectableText({ selectableFields = [] }: DefinedVersion): string {
  if (selectableFields.length === 0) return "";
  return `Can be selected by field: ${selectableFields.map(({ jsonPath }) => code(jsonPath)).join(", ")}.\n\n`;
}

/** Returns an anchor: letters, digits and dashes. */
function slug(path: string): string {
  return path.replaceAll(/[^A-Za-z0-9]+/g, "-").replaceAll(/^-|-$/g, "");
}

/**
 * Returns a name, or the first unused one of `name-2`, `name-3` and so on. Names that differ only
 * in case count as equal, because some sites ignore case in anchors.
 */
function uniqueAnchor(usedAnchors: Set<string>, name: string): string {
  let candidate = name;
  for (let i = 2; usedAnchors.has(candidate.toLowerCase()); i++) candidate = `${name}-${i}`;
  usedAnchors.add(candidate.toLowerCase());
  return candidate;
}
