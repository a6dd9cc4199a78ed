/** A common interface of the real API server and ours. */
import { createApiserver } from "../../src/apiserver/mod.ts";
import { realCluster } from "../../src/testing/real_cluster.ts";
import { HANG_LIMIT } from "../eventually.ts";

/** A server's response. */
export interface ServerResponse {
  readonly code: number;
  // deno-lint-ignore no-explicit-any
  readonly body: any;
  readonly warnings: readonly string[];
}

/** A server. */
export interface Server extends AsyncDisposable {
  readonly name: "real" | "ours";
  /** Sends a request with a body of JSON text. */
  send(method: string, path: string, body?: string): Promise<ServerResponse>;
}

/** Starts the real API server. */
export async function realServer(): Promise<Server> {
  const cluster = await realCluster();
  return {
    name: "real",
    send: async (method, path, body) => await read(await cluster.fetch(path, init(method, body))),
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  };
}

/** Starts our API server in this process. */
export function ourServer(): Server {
  const server = createApiserver();
  return {
    name: "ours",
    send: async (method, path, body) =>
      await read(await server.fetch(new Request(`http://server${path}`, init(method, body)))),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function init(method: string, body: string | undefined): RequestInit {
  const headers = { "content-type": "application/json", "user-agent": "schemas/1.0" };
  return { method, headers, ...(body !== undefined && { body }) };
}

async function read(response: Response): Promise<ServerResponse> {
  const text = await response.text();
  const warning = response.headers.get("warning");
  return {
    code: response.status,
    body: response.headers.get("content-type")?.includes("json") ? JSON.parse(text) : text,
    warnings: warning === null
      ? []
      : [...warning.matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, text]) => text ?? ""),
  };
}

/** The path of CustomResourceDefinitions. */
export const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/** The input for a definition. */
export interface Definition {
  readonly group: string;
  readonly kind: string;
  /** Versions with their schemas; the first one is stored. */
  readonly versions: Readonly<Record<string, unknown>>;
}

/** Returns a definition. All kinds are namespaced and have a status. */
export function definition({ group, kind, versions }: Definition): unknown {
  const plural = `${kind.toLowerCase()}s`;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { kind, plural },
      versions: Object.entries(versions).map(([name, openAPIV3Schema], i) => ({
        name,
        served: true,
        storage: i === 0,
        subresources: { status: {} },
        schema: { openAPIV3Schema },
      })),
    },
  };
}

/** Returns the path of objects of a kind. */
export function collection({ group, kind }: Definition, version = "v1"): string {
  return `/apis/${group}/${version}/namespaces/default/${kind.toLowerCase()}s`;
}

/**
 * Defines kinds and waits until they are served.
 *
 * @throws {Error} If the server rejects one.
 */
export async function define(server: Server, definitions: readonly Definition[]): Promise<void> {
  const errors = await Promise.all(definitions.map(async (each) => {
    const body = JSON.stringify(definition(each));
    const { code, body: response } = await server.send("POST", `${DEFINITIONS}?fieldValidation=Strict`, body);
    return code === 201
      ? []
      : [`${each.kind}: ${JSON.stringify(response.details?.causes ?? response.message, undefined, 1)}`];
  }));
  const rejected = errors.flat();
  if (rejected.length > 0) throw new Error(`Cannot define kinds on the ${server.name} server: ${rejected.join("; ")}`);
  const late = AbortSignal.timeout(HANG_LIMIT);
  for (const each of definitions) {
    for (const version of Object.keys(each.versions)) {
      while ((await server.send("GET", collection(each, version))).code === 404) late.throwIfAborted();
    }
  }
}

/** Calls a function for each item with limited concurrency. */
export async function forEachOf<T>(items: Iterable<T>, run: (item: T) => Promise<void>, width = 48): Promise<void> {
  const rest = items[Symbol.iterator]();
  await Promise.all(Array.from({ length: width }, async () => {
    for (let next = rest.next(); !next.done; next = rest.next()) await run(next.value);
  }));
}
