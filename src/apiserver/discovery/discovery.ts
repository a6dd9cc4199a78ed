/**
 * Serves the paths that describe the server: `/api`, `/apis`, `/version`, health checks and
 * OpenAPI.
 */
import { compareVersions } from "../../base/version_order.ts";
import { version } from "../../openapi/kubernetes.gen.ts";
import type { Core } from "../core/core.ts";
import type { ServedKind, Subresource } from "../objects/kinds.ts";
import { mediaRanges } from "../wire/accept.ts";
import { methodNotAllowed, resourceNotFound } from "../wire/status_error.ts";
import { digest } from "./hashes.ts";
import { health, HEALTH_PATHS, isHealthPath } from "./health.ts";
import { openApiDocument, openApiIndex, openApiPaths } from "./openapi.ts";

/** Returns whether this module serves a path. */
export function isDiscoveryPath(path: string): boolean {
  return /^\/?$|^\/(?:api|apis|version|openapi)(?:\/|$)/.test(path) || isHealthPath(path);
}

/** Responds to a request for a path that {@linkcode isDiscoveryPath} accepts. */
export async function serveDiscovery(core: Core, url: URL, request: Request): Promise<Response> {
  if (request.method !== "GET" && request.method !== "HEAD") throw methodNotAllowed();
  const path = url.pathname.replace(/\/+$/, "");
  const body = isHealthPath(path) ? health(url.pathname, url.searchParams) : await documentAt(core, path, request);
  if (body === undefined && path.startsWith("/api/")) throw resourceNotFound();
  if (body === undefined) {
    return new Response("404 page not found\n", {
      status: 404,
      headers: { "content-type": "text/plain; charset=utf-8" },
    });
  }
  return body;
}

function json(body: unknown, contentType = "application/json", indent = 0): Response {
  return new Response(JSON.stringify(body, null, indent), {
    headers: { "content-type": contentType, "cache-control": "no-cache, private" },
  });
}

/** Returns the paths that a request to `/` lists. */
function rootPaths(core: Core): string[] {
  const groups = groupsOf(core).filter((group) => group !== "");
  const versions = groups.flatMap((group) => versionsOf(core, group).map((each) => `/apis/${group}/${each}`));
  const paths = ["/api", "/api/v1", "/apis", "/apis/", ...groups.map((group) => `/apis/${group}`), ...versions];
  return [...paths, ...HEALTH_PATHS, "/openapi/v2", "/openapi/v3", "/openapi/v3/", "/version"].sort();
}

const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

async function documentAt(core: Core, path: string, request: Request): Promise<Response | undefined> {
  const wantsAggregated = mediaRanges(request.headers.get("accept")).some(({ parameters }) =>
    parameters.get("as") === "APIGroupDiscoveryList" && parameters.get("v") === "v2"
  );
  const [, root, group, groupVersion, ...rest] = path.split("/");
  switch (root) {
    case undefined:
    case "":
      return json({ paths: rootPaths(core) }, "application/json", 2);
    case "version":
      return json(versionInfo(), "application/json", 2);
    case "openapi":
      if (group === "v2" && groupVersion === undefined) return openApiV2Response(core, request);
      return await openApi(core, group, path);
    case "api":
      if (group === undefined) {
        if (wantsAggregated) return json(aggregatedDiscovery(core, [""]), AGGREGATED);
        return json(apiVersions(new URL(request.url).host));
      }
      return groupVersion === undefined && group === "v1" ? json(await resourceList(core, "", "v1")) : undefined;
    default: {
      if (rest.length > 0) return undefined;
      if (group === undefined) {
        const groups = groupsOf(core).filter((each) => each !== "");
        if (wantsAggregated) return json(aggregatedDiscovery(core, groups), AGGREGATED);
        return json({ kind: "APIGroupList", apiVersion: "v1", groups: groups.map((each) => apiGroup(core, each)) });
      }
      if (!core.kinds.isServed(group, groupVersion)) return undefined;
      if (groupVersion === undefined) return json({ kind: "APIGroup", apiVersion: "v1", ...apiGroup(core, group) });
      return json(await resourceList(core, group, groupVersion));
    }
  }
}

async function openApiV2Response(core: Core, request: Request): Promise<Response> {
  const wantsProtobuf = mediaRanges(request.headers.get("accept")).some(({ type }) => type.endsWith("+protobuf"));
  if (!wantsProtobuf) return json(await openApiV2(core));
  return new Response(openApiV2Head() as Uint8Array<ArrayBuffer>, { headers: { "content-type": OPENAPI_V2_PROTOBUF } });
}

async function openApi(core: Core, lengthDelimited: string | undefined, path: string): Promise<Response | undefined> {
  if (lengthDelimited !== "v3") return undefined;
  if (path === "/openapi/v3") return json(await openApiIndex(core), "text/plain; charset=utf-8");
  const document = await openApiDocument(core, path.slice("/openapi/v3/".length));
  return document === undefined ? new Response(null, { status: 404 }) : json(document);
}

function apiVersions(serverAddress: string): unknown {
  const serverAddressByClientCIDRs = [{ clientCIDR: "0.0.0.0/0", serverAddress }];
  return { kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs };
}

function versionInfo(): unknown {
  const [major = "", minor = ""] = version.slice(1).split(".");
  return {
    major,
    minor,
    emulationMajor: major,
    emulationMinor: minor,
    minCompatibilityMajor: major,
    minCompatibilityMinor: String(Number(minor) - 1),
    gitVersion: version,
    gitCommit: "",
    gitTreeState: "clean",
    buildDate: "1970-01-01T00:00:00Z",
    goVersion: "",
    compiler: "",
    platform: "",
  };
}

/** Returns the groups in the order of `/apis`. */
function groupsOf(core: Core): string[] {
  const all = core.kinds.all;
  const builtin = all.filter(({ isBuiltin }) => isBuiltin).map(({ group }) => group);
  const custom = all.filter(({ isBuiltin }) => !isBuiltin).map(({ group }) => group).sort();
  return [...new Set([...builtin, ...custom])];
}

/** Returns the versions of a group, the preferred one first. */
function versionsOf(core: Core, group: string): string[] {
  const versions = core.kinds.all.filter((kind) => kind.group === group).map(({ version }) => version);
  return [...new Set(versions)].sort(compareVersions);
}

function apiGroup(core: Core, group: string): object {
  const versions = versionsOf(core, group).map((each) => ({ groupVersion: `${group}/${each}`, version: each }));
  return { name: group, versions, preferredVersion: versions[0] };
}

function kindsIn(core: Core, group: string, groupVersion: string): ServedKind[] {
  return core.kinds.all.filter((kind) => kind.group === group && kind.version === groupVersion);
}

async function resourceList(core: Core, group: string, groupVersion: string): Promise<unknown> {
  const resources = await Promise.all(
    kindsIn(core, group, groupVersion).map(async (kind) => [
      {
        name: kind.plural,
        singularName: kind.singular,
        namespaced: kind.namespaced,
        kind: kind.kind,
        verbs: kind.verbs,
        ...(kind.shortNames.length > 0 && { shortNames: kind.shortNames }),
        ...(kind.categories.length > 0 && { categories: kind.categories }),
        ...(kind.verbs.includes("list") && kind.verbs.includes("create") &&
          { storageVersionHash: await storageVersionHash(kind) }),
      },
      ...kind.subresources.map((lengthDelimited) => ({
        name: `${kind.plural}/${lengthDelimited.name}`,
        singularName: "",
        namespaced: kind.namespaced,
        ...(lengthDelimited.group !== kind.group || lengthDelimited.version !== kind.version
          ? { group: lengthDelimited.group, version: lengthDelimited.version }
          : {}),
        kind: lengthDelimited.kind,
        verbs: lengthDelimited.verbs,
      })),
    ]),
  );
  return {
    kind: "APIResourceList",
    ...(group !== "" && { apiVersion: "v1" }),
    groupVersion: group === "" ? groupVersion : `${group}/${groupVersion}`,
    resources: resources.flat(),
  };
}

/**
 * Returns a hash of the version in which objects are stored
 * (`discovery.StorageVersionHash`).
 */
async function storageVersionHash({ group, version, storageVersion = version, kind }: ServedKind): Promise<string> {
  const hash = await digest("SHA-256", `${group}/${storageVersion}/${kind}`);
  return btoa(String.fromCharCode(...hash.subarray(0, 8)));
}

function aggregatedDiscovery(core: Core, groups: readonly string[]): unknown {
  return {
    kind: "APIGroupDiscoveryList",
    apiVersion: "apidiscovery.k8s.io/v2",
    metadata: {},
    items: groups.map((group) => ({
      metadata: group === "" ? {} : { name: group },
      versions: versionsOf(core, group).map((each) => ({
        version: each,
        resources: kindsIn(core, group, each).map(resourceDiscovery),
        freshness: "Current",
      })),
    })),
  };
}

function resourceDiscovery(kind: ServedKind): unknown {
  return {
    resource: kind.plural,
    responseKind: responseKind(kind, kind),
    scope: kind.namespaced ? "Namespaced" : "Cluster",
    singularResource: kind.singular,
    verbs: kind.verbs,
    ...(kind.shortNames.length > 0 && { shortNames: kind.shortNames }),
    ...(kind.categories.length > 0 && { categories: kind.categories }),
    ...(kind.subresources.length > 0 && {
      subresources: kind.subresources.map((lengthDelimited) => ({
        subresource: lengthDelimited.name,
        responseKind: responseKind(kind, lengthDelimited),
        verbs: lengthDelimited.verbs,
      })),
    }),
  };
}

/** Returns the kind of a response. A built-in kind omits the group and version of its list. */
function responseKind(
  kind: ServedKind,
  { group, version, kind: name }: Pick<Subresource, "group" | "version" | "kind">,
): unknown {
  const isOwn = kind.isBuiltin && group === kind.group && version === kind.version;
  return { group: isOwn ? "" : group, version: isOwn ? "" : version, kind: name };
}

/** The media type that kubectl requests. */
const OPENAPI_V2_PROTOBUF = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

const REFERENCE = /"#\/components\/schemas\//g;

/**
 * Returns `/openapi/v2` as JSON: all definitions, without paths. Clients use it for kinds that v3
 * lacks.
 */
async function openApiV2(core: Core): Promise<unknown> {
  const definitions: Record<string, unknown> = {};
  for (const path of openApiPaths(core)) {
    const document = await openApiDocument(core, path) as
      | { components: { schemas: Record<string, unknown> } }
      | undefined;
    const text = JSON.stringify(document?.components.schemas ?? {}).replaceAll(REFERENCE, '"#/definitions/');
    Object.assign(definitions, JSON.parse(text));
  }
  return { swagger: "2.0", info: { title: "Kubernetes", version }, paths: {}, definitions };
}

/**
 * Returns `/openapi/v2` as protobuf (`github.com/google/gnostic-models/openapiv2`), without
 * definitions, which kubectl reads from v3.
 */
function openApiV2Head(): Uint8Array {
  const text = (field: number, value: string) => lengthDelimited(field, new TextEncoder().encode(value));
  return Uint8Array.from([
    ...text(1, "2.0"),
    ...lengthDelimited(2, [...text(1, "Kubernetes"), ...text(2, version)]),
    ...lengthDelimited(8, []),
  ]);
}

/**
 * Encodes a length-delimited field. The protobuf library is not loaded for a message this small.
 */
function lengthDelimited(field: number, bytes: Iterable<number>): number[] {
  const content = [...bytes];
  return [field << 3 | 2, content.length, ...content];
}
