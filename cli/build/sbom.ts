/** The bill of materials of an executable, as CycloneDX 1.6 (ECMA-424) in JSON. */
import { createHash } from "node:crypto";
import { Buffer } from "node:buffer";
import { packageIn } from "./source_name.ts";

/** The inputs of a bill of materials. */
export interface SbomFacts {
  readonly operator: { readonly name: string; readonly version: string };
  /** Hexadecimal SHA-256 of the executable. */
  readonly sha256: string;
  /** The content of the lock file, version 4 or later. */
  readonly lock: string;
  /** Sources of the bundle, with the names of {@linkcode namedSource}. */
  readonly sources: readonly string[];
  /** The Deno version of the executable's runtime. */
  readonly runtime: string;
  /** The version of `op`. */
  readonly tool: string;
}

/** A component of a bill of materials. */
export interface Component {
  readonly type: "application" | "library" | "platform";
  readonly "bom-ref": string;
  readonly group?: string;
  readonly name: string;
  readonly version: string;
  /** `excluded` for a package of the lock file that is not in the executable. */
  readonly scope?: "required" | "excluded";
  readonly hashes?: readonly { readonly alg: "SHA-256" | "SHA-512"; readonly content: string }[];
  readonly purl?: string;
}

/** A bill of materials. */
export interface Sbom {
  readonly $schema: string;
  readonly bomFormat: "CycloneDX";
  readonly specVersion: "1.6";
  readonly serialNumber: string;
  readonly version: 1;
  readonly metadata: { readonly tools: { readonly components: readonly Component[] }; readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

interface Lock {
  readonly specifiers?: Readonly<Record<string, string>>;
  readonly npm?: Readonly<Record<string, LockedPackage>>;
  readonly jsr?: Readonly<Record<string, LockedPackage>>;
}

interface LockedPackage {
  readonly integrity?: string;
  readonly dependencies?: readonly string[];
}

/**
 * Returns a bill of materials. It contains neither times nor paths of this machine, so that equal
 * executables have equal bills.
 *
 * @param facts The inputs.
 */
export function sbom(facts: SbomFacts): Sbom {
  const { operator, sha256, runtime, tool } = facts;
  const lock = JSON.parse(facts.lock) as Lock;
  const bundled = new Set(facts.sources.map(packageIn).filter((name) => name !== undefined));
  const locked = lockedPackages(lock);
  const known = new Set(locked.map(({ id }) => id));
  const local = [...bundled].filter((id) => !known.has(id)).map((id) => ({
    id,
    dependencies: [] as string[],
    hashes: [],
  }));
  const packages = [...locked, ...local].sort((a, b) => (a.id < b.id ? -1 : 1));
  const application: Component = {
    type: "application",
    "bom-ref": `${operator.name}@${operator.version}`,
    name: operator.name,
    version: operator.version,
    hashes: [{ alg: "SHA-256", content: sha256 }],
  };
  const deno: Component = {
    type: "platform",
    "bom-ref": `deno@${runtime}`,
    name: "deno",
    version: runtime,
    scope: "required",
    purl: `pkg:github/denoland/deno@v${runtime}`,
  };
  const components = [
    deno,
    ...packages.map(({ id, hashes }) => component(id, hashes, bundled.has(id) ? "required" : "excluded")),
  ];
  const inside = packages.filter(({ id }) => bundled.has(id));
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    serialNumber: serial(JSON.stringify([application, components])),
    version: 1,
    metadata: {
      tools: { components: [{ type: "application", "bom-ref": `op@${tool}`, name: "op", version: tool }] },
      component: application,
    },
    components,
    dependencies: [
      { ref: application["bom-ref"], dependsOn: [deno["bom-ref"], ...inside.map(({ id }) => refOf(id))] },
      ...packages.map(({ id, dependencies }) => ({ ref: refOf(id), dependsOn: dependencies.map(refOf) })),
    ],
  };
}

/** A package of the lock file. */
interface FoundPackage {
  /** A name and a version: `npm:yaml@2.9.1`. */
  readonly id: string;
  readonly hashes: NonNullable<Component["hashes"]>;
  readonly dependencies: readonly string[];
}

/** Returns each package once, even if the lock file has it several times with different peers. */
function lockedPackages({ npm = {}, jsr = {}, specifiers = {} }: Lock): FoundPackage[] {
  const found = new Map<string, FoundPackage>();
  for (const [registry, packages] of [["npm", npm], ["jsr", jsr]] as const) {
    for (const [key, { integrity, dependencies = [] }] of Object.entries(packages)) {
      const id = `${registry}:${withoutPeers(key)}`;
      const needs = dependencies.map((name) => resolved(name, registry, { npm, jsr, specifiers }));
      const ids = needs.filter((need) => need !== undefined);
      found.set(id, { id, hashes: hashesOf(integrity), dependencies: [...new Set(ids)].sort() });
    }
  }
  return [...found.values()];
}

/**
 * Resolves a specifier of the lock file: `jsep`, `jsep@1.4.0`, `jsr:@std/async@^1` or `npm:yaml@2`.
 */
function resolved(name: string, registry: "npm" | "jsr", lock: Required<Lock>): string | undefined {
  const version = lock.specifiers[name];
  if (version !== undefined) {
    const [, from = "", bare = ""] = /^(npm|jsr):(@?[^@]+)/.exec(name) ?? [];
    return `${from}:${bare}@${withoutPeers(version)}`;
  }
  const [, from = registry, bare = name] = /^(?:(npm|jsr):)?(.*)$/.exec(name) ?? [];
  const packages = from === "npm" ? lock.npm : lock.jsr;
  const key = Object.keys(packages).find((key) => key === bare || /^(@?[^@]+)@/.exec(key)?.[1] === bare);
  return key === undefined ? undefined : `${from}:${withoutPeers(key)}`;
}

function withoutPeers(key: string): string {
  return key.replace(/^(@?[^@]+@[^_]+|[^@_]+)_.*$/, "$1");
}

/** Converts a checksum: npm has SHA-512 in base64, JSR has SHA-256 in hexadecimal. */
function hashesOf(integrity: string | undefined): FoundPackage["hashes"] {
  if (integrity === undefined) return [];
  if (/^[0-9a-f]{64}$/.test(integrity)) return [{ alg: "SHA-256", content: integrity }];
  const [, base64] = /^sha512-(.+)$/.exec(integrity) ?? [];
  return base64 === undefined ? [] : [{ alg: "SHA-512", content: Buffer.from(base64, "base64").toString("hex") }];
}

function component(id: string, hashes: FoundPackage["hashes"], scope: "required" | "excluded"): Component {
  const { group, name, version } = partsOf(id);
  return {
    type: "library",
    "bom-ref": refOf(id),
    ...(group === undefined ? {} : { group }),
    name,
    version,
    scope,
    ...(hashes.length === 0 ? {} : { hashes }),
    ...(/^(npm|jsr):/.test(id) ? { purl: refOf(id) } : {}),
  };
}

/**
 * Returns a package URL such as `pkg:npm/%40types/node@24.2.0`, or the ID of a package without a
 * registry.
 */
function refOf(id: string): string {
  const { registry, group, name, version } = partsOf(id);
  if (registry === undefined) return id;
  return `pkg:${registry}/${group === undefined ? "" : `${group.replace("@", "%40")}/`}${name}@${
    encodeURIComponent(version)
  }`;
}

function partsOf(id: string): { registry?: string; group?: string; name: string; version: string } {
  const [, registry, group, name = id, version = ""] = /^(?:(npm|jsr):)?(?:(@[^/]+)\/)?([^@]+)@(.+)$/.exec(id) ?? [];
  return { ...(registry === undefined ? {} : { registry }), ...(group === undefined ? {} : { group }), name, version };
}

/** Returns a UUID of the content (RFC 9562, version 8), so that equal bills have equal numbers. */
function serial(content: string): string {
  const hex = createHash("sha256").update(content).digest("hex");
  const variant = ((parseInt(hex[16]!, 16) & 3) | 8).toString(16);
  return `urn:uuid:${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${
    hex.slice(20, 32)
  }`;
}
