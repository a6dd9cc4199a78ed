/** The machine an operator runs on. */
import { CONFIG_FOLDER, SERVICE_ACCOUNT, WEBHOOK_FOLDER } from "../base/pod.ts";
import type { Machine } from "../kube/machine.ts";
import { isTraced } from "./process_tracer.ts";

/**
 * Folders that a kubelet mounts. The sandbox permits reading any file that a link in them points
 * to.
 */
const MOUNTED: readonly string[] = [SERVICE_ACCOUNT, CONFIG_FOLDER, WEBHOOK_FOLDER];

/** This machine: Deno's environment variables and files. */
export const denoMachine: Machine = {
  env: (name) => Deno.env.get(name),
  readText: (path) => readText(path, MOUNTED),
  isTraced,
};

/**
 * A symbolic link in a mounted folder points outside the folder. A user who can write to the folder
 * must not be able to choose which files the operator reads.
 */
export class OutsideError extends Error {
  override name = "OutsideError";
}

/**
 * Reads a text file. In the given folders, links may only point to files in the same folder, like
 * the links that a kubelet creates (`token -> ..data/token`).
 *
 * @param path The path of the file.
 * @param folders The folders with checked links.
 * @throws {OutsideError} If the file is in one of the folders and its path has a symbolic link that
 *   points outside that folder.
 */
export async function readText(path: string, folders: readonly string[]): Promise<string> {
  const folder = folders.find((folder) => path.startsWith(`${folder}/`));
  if (folder !== undefined) {
    const [file, root] = await Promise.all([Deno.realPath(path), Deno.realPath(folder)]);
    if (!file.startsWith(`${root}/`)) {
      throw new OutsideError(
        `"${path}" is a symbolic link to "${file}", which is outside "${folder}". Mount the file itself there.`,
      );
    }
  }
  return await Deno.readTextFile(path);
}
