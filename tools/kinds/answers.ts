/** Reads the discovery and OpenAPI documents of an API server, from the server or from a folder. */
import type { Discovery, OpenApiDocument } from "./model.ts";

const DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/** The discovery and OpenAPI documents of an API server. */
export interface Answers {
  readonly discoveries: readonly Discovery[];
  readonly documents: readonly OpenApiDocument[];
}

/**
 * Reads the discovery and OpenAPI documents of an API server.
 *
 * @param source The URL of an API server that requires no credentials, such as that of `kubectl
 *   proxy`, or a folder with its responses: `discovery_api.json` and `discovery_apis.json` (`/api`
 *   and `/apis` as APIGroupDiscoveryList), and `v3/*.json` (the documents of `/openapi/v3`).
 * @throws {Error} If the server responds with an error status.
 */
export function readAnswers(source: string): Promise<Answers> {
  return /^https?:/.test(source) ? readServer(source) : readFolder(source);
}

async function readFolder(folder: string): Promise<Answers> {
  const read = async (name: string) => JSON.parse(await Deno.readTextFile(`${folder}/${name}`));
  const names = [...Deno.readDirSync(`${folder}/v3`)].map((entry) => entry.name).filter((name) =>
    name.endsWith(".json")
  );
  return {
    discoveries: [await read("discovery_api.json"), await read("discovery_apis.json")],
    documents: await Promise.all(names.sort().map((name) => read(`v3/${name}`))),
  };
}

async function readServer(url: string): Promise<Answers> {
  async function get(path: string, accept: string) {
    const response = await fetch(new URL(path, url), { headers: { accept } });
    if (response.ok) return await response.json();
    throw new Error(`Cannot read "${path}" of the API server: it answered ${response.status}`);
  }
  const index: { paths: Record<string, { serverRelativeURL: string }> } = await get("/openapi/v3", "application/json");
  const documents: OpenApiDocument[] = [];
  for (const path of Object.keys(index.paths).sort()) {
    documents.push(await get(index.paths[path]!.serverRelativeURL, "application/json"));
  }
  return { discoveries: [await get("/api", DISCOVERY), await get("/apis", DISCOVERY)], documents };
}
