/**
 * Writes src/kinds/*.gen.ts: every built-in kind as a value and its types, from what an API server says of itself.
 *
 *     deno run -A tools/kinds.ts SOURCE [FOLDER]
 *
 * SOURCE is the URL of an API server that asks for no credentials (`kubectl proxy`), or a folder with its answers: `discovery_api.json` and
 * `discovery_apis.json` (/api and /apis as APIGroupDiscoveryList), and `v3/*.json` (the documents of /openapi/v3).
 */
import { collectKinds, type Discovery, type OpenApiDocument } from "./kinds/model.ts";
import { render } from "./kinds/render.ts";

const DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/** What an API server says of itself. */
interface Answers {
  readonly discoveries: readonly Discovery[];
  readonly documents: readonly OpenApiDocument[];
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

async function format(paths: string[]): Promise<void> {
  const args = ["fmt", "--no-config", "--line-width", "120", "--quiet", ...paths];
  const { success, stderr } = await new Deno.Command(Deno.execPath(), { args }).output();
  if (!success) throw new Error(`Cannot format the files: ${new TextDecoder().decode(stderr)}`);
}

async function main(source: string | undefined, folder: string): Promise<void> {
  if (source === undefined) {
    throw new Error("Cannot write kinds: name the URL of an API server, or a folder with its answers");
  }
  const { discoveries, documents } = await (/^https?:/.test(source) ? readServer(source) : readFolder(source));
  const files = render(collectKinds(discoveries, documents));
  for (const { name } of Deno.readDirSync(folder)) if (name.endsWith(".gen.ts")) await Deno.remove(`${folder}/${name}`);
  for (const [name, text] of files) await Deno.writeTextFile(`${folder}/${name}`, text);
  await format([...files.keys()].map((name) => `${folder}/${name}`));
  console.log(`${files.size} files written to ${folder}`);
}

if (import.meta.main) await main(Deno.args[0], Deno.args[1] ?? "src/kinds");
