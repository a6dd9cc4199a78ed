/** A folder with an operator in it, for tests of commands. */
import { RecordedIo } from "./_recorded_io.ts";
import { cli } from "./cli.ts";

const ROOT = new URL("../", import.meta.url);

/** A temporary folder with an operator. Disposing of it deletes the folder. */
export interface OperatorFolder extends AsyncDisposable {
  readonly path: string;
  /** Runs `op` in the folder. */
  op(...args: string[]): Promise<RecordedIo & { readonly code: number }>;
  /** Writes a file. */
  write(file: string, text: string): Promise<void>;
  /** Reads a file. */
  read(file: string): Promise<string>;
}

const NOTES = `
const Note = resource({
  group: "demo.example.com",
  version: "v1",
  kind: "Note",
  spec: s.object({ text: s.string() }),
  status: s.object({}),
});
const notes = controller(Note, { owns: [ConfigMap], reconcile() {} });
export default operator({ name: "notes", version: "1.2.0", parts: { notes } });
`;

/**
 * Creates a folder with an operator in `main.ts`.
 *
 * @param body The code after the imports. @default {an operator "notes" of a kind Note that owns
 *   ConfigMaps}
 */
export async function operatorFolder(body: string = NOTES): Promise<OperatorFolder> {
  // Inside the repository, so that its import map applies, in a folder that Git ignores.
  await Deno.mkdir(new URL(".cache/builds/", ROOT), { recursive: true });
  const path = await Deno.makeTempDir({ dir: new URL(".cache/builds/", ROOT).pathname });
  const folder: OperatorFolder = {
    path,
    async op(...args) {
      const io = new RecordedIo(path);
      const code = await cli(args, io);
      return Object.assign(io, { code });
    },
    write: (file, text) => Deno.writeTextFile(`${path}/${file}`, text),
    read: (file) => Deno.readTextFile(`${path}/${file}`),
    [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }),
  };
  await folder.write("main.ts", mainModule(body));
  return folder;
}

/** Returns a module with the imports that operators need. */
export function mainModule(body: string): string {
  return `import { access, controller, operator, resource, s } from "${ROOT.href}mod.ts";
import { ConfigMap, Deployment, Namespace, Secret } from "${ROOT.href}src/kinds/mod.ts";
${body}`;
}

export { NOTES };
