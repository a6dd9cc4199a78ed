/**
 * Packs CustomResourceDefinitions of well-known projects, and objects of them that those projects publish, as material for
 * tests/upstream. What is packed is other people's: it stays out of this repository, in `.cache/upstream`; tests/upstream/ORIGINS.md says how it
 * comes there, and is written anew with it.
 */
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseAllDocuments } from "yaml";
import { isObject } from "../src/base/json.ts";

/** Where a kind's definition and objects of it are published. */
export interface Origin {
  readonly kind: string;
  readonly definition: { readonly repository: string; readonly file: string };
  /** Files and folders, YAML and Markdown with blocks of YAML. */
  readonly samples: readonly { readonly repository: string; readonly path: string }[];
}

/** All of Apache-2.0, which is looked at again when they are packed. */
export const ORIGINS: readonly Origin[] = [
  {
    kind: "Certificate",
    definition: { repository: "cert-manager/cert-manager", file: "deploy/crds/cert-manager.io_certificates.yaml" },
    samples: [
      { repository: "cert-manager/cert-manager", path: "test/fixtures" },
      { repository: "cert-manager/website", path: "content/docs" },
    ],
  },
  {
    kind: "HTTPRoute",
    definition: {
      repository: "kubernetes-sigs/gateway-api",
      file: "config/crd/standard/gateway.networking.k8s.io_httproutes.yaml",
    },
    samples: [{ repository: "kubernetes-sigs/gateway-api", path: "examples" }],
  },
  {
    kind: "Prometheus",
    definition: {
      repository: "prometheus-operator/prometheus-operator",
      file: "example/prometheus-operator-crd/monitoring.coreos.com_prometheuses.yaml",
    },
    samples: [{ repository: "prometheus-operator/prometheus-operator", path: "example" }],
  },
  {
    kind: "Workflow",
    definition: { repository: "argoproj/argo-workflows", file: "manifests/base/crds/full/argoproj.io_workflows.yaml" },
    samples: [{ repository: "argoproj/argo-workflows", path: "examples" }],
  },
  {
    kind: "VirtualService",
    definition: { repository: "istio/api", file: "kubernetes/customresourcedefinitions.gen.yaml" },
    samples: [{ repository: "istio/istio", path: "samples" }],
  },
  {
    kind: "Composition",
    definition: {
      repository: "crossplane/crossplane",
      file: "cluster/crds/apiextensions.crossplane.io_compositions.yaml",
    },
    samples: [{ repository: "crossplane/crossplane", path: "test/e2e/manifests" }],
  },
];

/** A kind as it is packed. */
export interface Packed {
  readonly kind: string;
  /** Where each part is from. */
  readonly origins: readonly { readonly repository: string; readonly commit: string; readonly licence: string }[];
  readonly definition: Record<string, unknown>;
  readonly samples: readonly { readonly from: string; readonly object: Record<string, unknown> }[];
}

/** More would show nothing new, and take their time on a server. */
const MOST_SAMPLES = 24;

/** Where packed kinds are put. */
export const PACKED = new URL("../.cache/upstream/", import.meta.url);

/**
 * Reads a kind out of checkouts.
 *
 * @param origin Where it is published.
 * @param checkouts A folder with a checkout of each repository, as `OWNER/NAME` in it.
 * @throws {Error} If a checkout is missing or of another licence, or the kind is not where it is said to be.
 */
export async function pack(origin: Origin, checkouts: string): Promise<Packed> {
  const { kind, definition, samples } = origin;
  const path = join(checkouts, definition.repository, definition.file);
  const found = documentsOf(path, await readText(path, definition.repository)).find((object) =>
    object.kind === "CustomResourceDefinition" && namesOf(object)?.kind === kind
  );
  if (found === undefined) throw new Error(`Cannot pack "${kind}": "${path}" does not define it`);
  const group = String((found.spec as Record<string, unknown>).group);
  const objects: { from: string; object: Record<string, unknown> }[] = [];
  for (const { repository, path } of samples) {
    const folder = join(checkouts, repository);
    for (const file of filesIn(join(folder, path))) {
      for (const object of documentsOf(file, Deno.readTextFileSync(file))) {
        if (object.kind !== kind || !String(object.apiVersion).startsWith(`${group}/`)) continue;
        objects.push({ from: `${repository}/${relative(folder, file)}`, object });
      }
    }
  }
  const repositories = [...new Set([definition, ...samples].map(({ repository }) => repository))];
  return {
    kind,
    origins: await Promise.all(repositories.map((repository) => originOf(repository, checkouts))),
    definition: found,
    samples: spread(distinct(objects), MOST_SAMPLES),
  };
}

async function originOf(repository: string, checkouts: string): Promise<Packed["origins"][number]> {
  const cwd = join(checkouts, repository);
  const licence = await readText(join(cwd, "LICENSE"), repository);
  if (!/Apache License\s+Version 2\.0/.test(licence)) {
    throw new Error(`Cannot pack what is of "${repository}": its licence is not Apache-2.0`);
  }
  const { stdout } = await new Deno.Command("git", { args: ["rev-parse", "HEAD"], cwd }).output();
  return { repository, commit: new TextDecoder().decode(stdout).trim(), licence: "Apache-2.0" };
}

async function readText(path: string, repository: string): Promise<string> {
  try {
    return await Deno.readTextFile(path);
  } catch (cause) {
    throw new Error(
      `Cannot read "${path}": ${
        (cause as Error).message
      }; clone https://github.com/${repository} into the folder of checkouts as "${repository}"`,
      { cause },
    );
  }
}

function* filesIn(path: string): Generator<string> {
  const entries = [...Deno.readDirSync(path)].sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const { name, isDirectory } of entries) {
    if (isDirectory) yield* filesIn(join(path, name));
    else if (/\.(?:ya?ml|md)$/.test(name)) yield join(path, name);
  }
}

/** Objects in YAML, or in blocks of it in Markdown. Templates and excerpts, which are no YAML, are passed over. */
function documentsOf(path: string, text: string): Record<string, unknown>[] {
  const texts = path.endsWith(".md")
    ? [...text.matchAll(/^```ya?ml[^\n]*\n([\s\S]*?)^```/gm)].map(([, block]) => block!)
    : [text];
  return texts.flatMap((text) =>
    [...parseAllDocuments(text)].flatMap((document) => {
      const object = document.errors.length > 0 ? undefined : valueOf(document);
      return isObject(object) ? [object] : [];
    })
  );
}

function valueOf(document: { toJS(): unknown }): unknown {
  try {
    return document.toJS();
  } catch (error) {
    if (error instanceof ReferenceError) return undefined; // an alias of nothing: `*.example.com` without quotes
    throw error;
  }
}

function namesOf({ spec }: Record<string, unknown>): Record<string, unknown> | undefined {
  return isObject(spec) && isObject(spec.names) ? spec.names : undefined;
}

function distinct<T extends { readonly object: Record<string, unknown> }>(objects: readonly T[]): T[] {
  const seen = new Set<string>();
  return objects.filter(({ object: { metadata: _, ...rest } }) => {
    const text = JSON.stringify(rest);
    return !seen.has(text) && seen.add(text);
  });
}

/** Some of many, evenly spread, always the same. */
function spread<T>(all: readonly T[], most: number): T[] {
  const step = Math.max(1, all.length / most);
  return all.filter((_, i) => Math.floor(i / step) !== Math.floor((i - 1) / step)).slice(0, most);
}

/**
 * The file of a packed kind.
 *
 * @param kind The kind.
 * @param folder Where packed kinds are.
 */
export function packedFile(kind: string, folder: URL = PACKED): URL {
  return new URL(`${kind.toLowerCase()}.json.gz`, folder);
}

/**
 * A packed kind.
 *
 * @param kind The kind.
 * @param folder Where packed kinds are.
 * @returns Nothing if it was not packed here.
 */
export async function unpack(kind: string, folder: URL = PACKED): Promise<Packed | undefined> {
  const bytes = await Deno.readFile(packedFile(kind, folder)).catch((error) => {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  });
  if (bytes === undefined) return undefined;
  return await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

/** Writes a packed kind. */
export async function writePacked(packed: Packed, folder: URL = PACKED): Promise<number> {
  await Deno.mkdir(folder, { recursive: true });
  const stream = new Blob([JSON.stringify(packed)]).stream().pipeThrough(new CompressionStream("gzip"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  await Deno.writeFile(packedFile(packed.kind, folder), bytes);
  return bytes.length;
}

/** The page that says of where everything is. */
export const ORIGINS_PAGE = new URL("../tests/upstream/ORIGINS.md", import.meta.url);

/**
 * The text of that page.
 *
 * @param kinds Kinds, as they were packed.
 */
export function originsPage(kinds: readonly Packed[]): string {
  const commits = new Map(kinds.flatMap(({ origins }) => origins).map((origin) => [origin.repository, origin]));
  const files = ORIGINS.map(({ kind, definition, samples }) => {
    const count = kinds.find((packed) => packed.kind === kind)?.samples.length ?? 0;
    return [
      `${kind}, ${count} objects`,
      `  definition  ${definition.repository}/${definition.file}`,
      ...samples.map(({ repository, path }) => `  objects     ${repository}/${path}/`),
    ].join("\n");
  });
  const repositories = [...commits.values()].map(({ repository, commit, licence }) =>
    `- ${repository} at \`${commit}\`, ${licence}`
  );
  return `# Where the kinds of other projects come from

Written by \`tools/upstream.ts\`. The definitions and objects belong to the projects named here and are not in this
repository: the tool packs them into \`.cache/upstream\` out of checkouts, and the test names what was not packed.

\`\`\`sh
# for each of the repositories below
git clone --depth 1 https://github.com/OWNER/NAME checkouts/OWNER/NAME
deno run -A tools/upstream.ts checkouts
\`\`\`

## Repositories

${repositories.join("\n")}

## Kinds

\`\`\`text
${files.join("\n")}
\`\`\`
`;
}

if (import.meta.main) {
  const [checkouts] = Deno.args;
  if (checkouts === undefined) throw new Error("Cannot pack: name the folder of checkouts");
  const kinds: Packed[] = [];
  for (const origin of ORIGINS) {
    const packed = await pack(origin, checkouts);
    kinds.push(packed);
    const bytes = await writePacked(packed);
    const from = packed.origins.map(({ repository, commit }) => `${repository}@${commit.slice(0, 12)}`).join(", ");
    console.log(`${packed.kind}: ${packed.samples.length} samples, ${bytes} bytes, of ${from}`);
  }
  await Deno.writeTextFile(ORIGINS_PAGE, originsPage(kinds));
  console.log(`Written to ${fileURLToPath(PACKED)}`);
}
