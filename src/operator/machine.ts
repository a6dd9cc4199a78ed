/** The machine an operator runs on. */
import { CONFIG_FOLDER, SERVICE_ACCOUNT, WEBHOOK_FOLDER } from "../base/pod.ts";
import type { Machine } from "../kube/machine.ts";
import { isTraced } from "./process_tracer.ts";

/** Folders that a kubelet fills. The sandbox permits reading whatever a link in them leads to. */
const MOUNTED: readonly string[] = [SERVICE_ACCOUNT, CONFIG_FOLDER, WEBHOOK_FOLDER];

/** This machine: Deno's environment and files. */
export const denoMachine: Machine = {
  env: (name) => Deno.env.get(name),
  readText: (path) => readText(path, MOUNTED),
  isTraced,
};

/** A symbolic link in a mounted folder leads out of it: whoever can write there must not choose which file the operator reads. */
export class OutsideError extends Error {
  override name = "OutsideError";
}

/**
 * Reads a text file. In the given folders, links may lead only to files in the same folder, as a kubelet's do (`token -> ..data/token`).
 *
 * @param path The file.
 * @param folders The folders.
 * @throws {OutsideError} If it is in one of the folders, and is or is below a symbolic link that leads out of that.
 */
export async function readText(path: string, folders: readonly string[]): Promise<string> {
  const folder = folders.find((folder) => path.startsWith(`${folder}/`));
  if (folder !== undefined) {
    const [file, root] = await Promise.all([Deno.realPath(path), Deno.realPath(folder)]);
    if (!file.startsWith(`${root}/`)) {
      throw new OutsideError(
        `"${path}" is a symbolic link out of "${folder}", to "${file}". Put the file itself there`,
      );
    }
  }
  return await Deno.readTextFile(path);
}
