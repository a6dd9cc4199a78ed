/**
 * Writes the module of one or more kinds: first the constants, each before its use, then the kinds.
 */
import { resource } from "@op/sdk";
import { Failure } from "../exit_code.ts";
import { commonParts } from "./common_parts.ts";
import type { DefinedVersion, Definition } from "../definitions/definition.ts";
import { type Descriptions, shortened } from "./descriptions.ts";
import { type CallExpression, Evaluation, type Expression, namesIn, renamed, usesBuilders } from "./expression.ts";
import { kindExpression, type KindSchemas, kindSchemas } from "./kind_expression.ts";
import { type KnownSchemas, Recognition } from "./known_schemas.ts";
import { commonName, constantNames, kindName } from "./names.ts";
import { nodesIn } from "./nodes.ts";
import { print } from "./print.ts";
import { SchemaIdentities } from "./schema_identities.ts";
import { SchemaIndex, type SchemaUse } from "./schema_index.ts";
import { type Declaration, SchemaWriter } from "./schema_writer.ts";

/** Options of {@linkcode moduleOf}. */
export interface ModuleOptions {
  /** The length of the descriptions. @default {"full"} */
  readonly descriptions?: Descriptions;
  /** Schemas to import instead of writing them. @default {none} */
  readonly known?: KnownSchemas;
  /**
   * Whether the operator owns the CustomResourceDefinitions: it installs and deletes them.
   * Otherwise the kinds are `external`. @default {false}
   */
  readonly own?: boolean;
}

/** The result for a kind. */
export interface ImportedKind {
  readonly definition: Definition;
  /** The CustomResourceDefinition that the written kind produces. */
  readonly crd: Definition;
  /** The number of schemas in all versions. */
  readonly nodes: number;
  /** The number of schemas that are written as JSON, because no builder can express them. */
  readonly raw: number;
  /** The paths of the outermost schemas that are written as JSON. */
  readonly rawPaths: readonly string[];
}

/** A module and its kinds. */
export interface ImportedModule {
  readonly text: string;
  readonly kinds: readonly ImportedKind[];
}

interface EvaluatedKind {
  readonly crd: Definition;
  readonly external?: true;
}

interface VersionParts {
  readonly definition: Definition;
  readonly version: DefinedVersion;
  readonly schemas: KindSchemas;
  /** Its name in the module. */
  readonly name: string;
}

interface WrittenKind extends VersionParts, EvaluatedKind {
  readonly expression: CallExpression;
}

/**
 * Returns a TypeScript module with the kinds of CustomResourceDefinitions.
 *
 * @param definitions The definitions.
 * @param options Additional options.
 * @throws {Failure} If the SDK cannot express a definition.
 */
export function moduleOf(definitions: readonly Definition[], options: ModuleOptions = {}): ImportedModule {
  const { descriptions = "full", known, own = false } = options;
  const recognition = new Recognition(descriptions, known, definitions.map(({ spec }) => spec.names.kind));
  const parts = versionsOf(
    definitions.map((definition) => withDescriptions(withKnownSchemas(definition, recognition), descriptions)),
  );
  const uses = parts.flatMap(({ schemas }) => usesOf(schemas));
  const evaluation = new Evaluation({ resource });
  const identities = new SchemaIdentities({ nameOf: (schema) => recognition.nameOf(schema) });
  const writer = new SchemaWriter(new SchemaIndex(uses, identities), evaluation, (schema) => {
    const name = recognition.nameOf(schema);
    return name === undefined ? undefined : { name, schema: known!.schemas[name]! };
  });
  const kinds = parts.map((part): WrittenKind => {
    const others = parts.filter((other) => other.definition === part.definition && other !== part);
    const writeKind = (optionalSpec: boolean) => {
      const expression = kindExpression(part.definition, {
        ...part,
        write: ({ schema, path }) => writer.write(schema, path),
        others: part.version.storage ? others.map(({ name }) => name) : [],
        optionalSpec,
        own,
      });
      const { crd, external } = evaluatedKind(evaluation, expression, part.definition);
      return { ...part, expression, crd, ...(external && { external }) };
    };
    const kind = kindLikeOriginal(part, writeKind);
    evaluation.declare(part.name, kind);
    return kind;
  });
  return {
    text: textOf(kinds, usedDeclarations(writer, kinds.map(({ expression }) => expression)), known?.module ?? ""),
    kinds: definitions.map((definition) => {
      const versions = kinds.filter((kind) => kind.definition.metadata === definition.metadata);
      const nodes = versions.reduce((sum, { version }) => sum + nodesIn(version.schema.openAPIV3Schema), 0);
      const found = versions.flatMap(({ schemas }) => usesOf(schemas))
        .flatMap(({ schema, path }) => writer.rawIn(schema, path));
      const raw = found.reduce((sum, { nodes }) => sum + nodes, 0);
      const rawPaths = [...new Set(found.map(({ path }) => path))];
      return { definition, crd: versions.at(-1)!.crd, nodes, raw, rawPaths };
    }),
  };
}

function usesOf({ spec, status, root }: KindSchemas): SchemaUse[] {
  return [spec, status, root].filter((use) => use !== undefined);
}

/** Returns the code of the module. */
function textOf(kinds: readonly WrittenKind[], declarations: readonly Declaration[], module: string): string {
  const expressions = [...kinds, ...declarations].map(({ expression }) => expression);
  const definitions = kindsByDefinition(kinds);
  const used = new Set(kinds.map(({ name }) => name));
  const commonNames = definitions.map((versions) => commonName(versions.at(-1)!.name, used));
  const names = constantNames(declarations.map(({ group }) => group), new Set([...used, ...commonNames]));
  const nameFor = (id: string) => names.get(id.slice(1)) ?? id;
  const constants = declarations.map(({ id, expression }) =>
    `${print(renamed(expression, nameFor), `const ${nameFor(id)} = `)}\n`
  );
  const exported = definitions.flatMap((versions, i) => {
    const { common, expressions } = commonParts(versions.map(({ expression }) => expression), commonNames[i]!);
    return [
      ...(common === undefined
        ? []
        : [`${print(renamed(common, nameFor), `const ${commonNames[i]} = `, " as const")}\n`]),
      ...versions.map(({ name }, i) =>
        `${print(renamed(expressions[i]!, nameFor), `export const ${name} = `)}\n` +
        `export type ${name} = Infer<typeof ${name}>;\n`
      ),
    ];
  });
  return [header(kinds, expressions, module), ...constants, ...exported].join("\n");
}

/** Groups versions by definition. */
function kindsByDefinition(kinds: readonly WrittenKind[]): WrittenKind[][] {
  return [...Map.groupBy(kinds, ({ definition }) => definition).values()];
}

function header(kinds: readonly WrittenKind[], expressions: readonly Expression[], module: string): string {
  const stored = kinds.filter(({ version }) => version.storage).map(({ definition: { spec } }) =>
    `${spec.names.kind} of ${spec.group}`
  );
  const imported = expressions.some(usesBuilders) ? "type Infer, resource, s" : "type Infer, resource";
  const schemas = [...new Set(expressions.flatMap((expression) => [...namesIn(expression)]))]
    .filter((name) => !name.startsWith("#") && !kinds.some((kind) => kind.name === name)).sort(compareIgnoringCase);
  return `/** ${stored.join(", ")}, from ${stored.length === 1 ? "its" : "their"} CustomResourceDefinition${
    stored.length === 1 ? "" : "s"
  } by \`op crd import\`. */\n` +
    `import { ${imported} } from "@op/sdk";\n` +
    (schemas.length === 0 ? "" : `${importLine(schemas, module)}\n`);
}

/** Compares names like `deno fmt`, which ignores case. */
function compareIgnoringCase(a: string, b: string): number {
  const [x, y] = [a.toLowerCase(), b.toLowerCase()];
  return x < y ? -1 : x > y ? 1 : 0;
}

function importLine(names: readonly string[], module: string): string {
  const line = `import { ${names.join(", ")} } from "${module}";`;
  if (line.length <= 120) return line;
  return `import {\n${names.map((name) => `  ${name},\n`).join("")}} from "${module}";`;
}

function withKnownSchemas(definition: Definition, recognition: Recognition): Definition {
  const versions = definition.spec.versions.map((version) => ({
    ...version,
    schema: { openAPIV3Schema: recognition.replaceKnown(version.schema.openAPIV3Schema) },
  }));
  return { ...definition, spec: { ...definition.spec, versions } };
}

/** Shortens the descriptions of columns. Those of schemas are shortened during recognition. */
function withDescriptions(definition: Definition, descriptions: Descriptions): Definition {
  const versions = definition.spec.versions.map((version): DefinedVersion => ({
    ...version,
    ...(version.additionalPrinterColumns && {
      additionalPrinterColumns: version.additionalPrinterColumns.map((column) => shortened(column, descriptions)),
    }),
  }));
  return { ...definition, spec: { ...definition.spec, versions } };
}

/**
 * Returns all versions of all kinds. The stored version of a kind comes last, because it refers to
 * the others.
 */
function versionsOf(definitions: readonly Definition[]): VersionParts[] {
  const used = new Set<string>();
  const stored = new Map(definitions.map((definition) => {
    const name = kindName(definition.spec.names.kind, [definition.spec.group], used);
    used.add(name);
    return [definition, name] as const;
  }));
  return definitions.flatMap((definition) => {
    const { names, versions } = definition.spec;
    const sorted = [...versions].sort((a, b) => Number(a.storage) - Number(b.storage));
    return sorted.map((version): VersionParts => {
      const own = stored.get(definition)!;
      const name = version.storage ? own : kindName(own, [version.name], used);
      used.add(name);
      return { definition, version, schemas: kindSchemas(names.kind, version), name };
    });
  });
}

/** Writes a kind with an optional or a required spec, like the original definition. */
function kindLikeOriginal(
  { version, schemas: { spec: use } }: VersionParts,
  writeKind: (optionalSpec: boolean) => WrittenKind,
): WrittenKind {
  const { required = [] } = version.schema.openAPIV3Schema;
  const spec = use?.schema;
  if (spec === undefined || spec.default !== undefined || required.includes("spec")) return writeKind(false);
  try {
    const kind = writeKind(true);
    const written = kind.crd.spec.versions.find(({ name }) => name === version.name);
    if (written?.schema.openAPIV3Schema.required?.includes("spec") !== true) return kind;
  } catch {
    // Writing it with a required spec, below, throws the same error.
  }
  return writeKind(false);
}

function evaluatedKind(evaluation: Evaluation, expression: Expression, { metadata }: Definition): EvaluatedKind {
  try {
    return evaluation.valueOf(expression) as EvaluatedKind;
  } catch (error) {
    throw new Failure(`Cannot import "${metadata.name}": ${(error as Error).message}`, { cause: error });
  }
}

/**
 * Returns the declarations that the kinds use. The writer also has declarations of candidates that
 * it discarded.
 */
function usedDeclarations(writer: SchemaWriter, kinds: readonly Expression[]): Declaration[] {
  const names = new Set<string>();
  for (const kind of kinds) namesIn(kind, names);
  const used: Declaration[] = [];
  for (const declaration of writer.declarations.toReversed()) {
    if (!names.has(declaration.id)) continue;
    namesIn(declaration.expression, names);
    used.unshift(declaration);
  }
  return used;
}
