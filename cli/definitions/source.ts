/** Reads CustomResourceDefinitions from a file, from standard input or from a cluster. */
import { resolve } from "node:path";
import { ApiError } from "@op/sdk";
import { Client, connect } from "@op/sdk/client";
import { CustomResourceDefinition } from "@op/sdk/kinds";
import type { ClusterOptions } from "../cluster.ts";
import { Failure } from "../exit_code.ts";
import type { Io } from "../io.ts";
import { yamlDocuments } from "../yaml.ts";
import { type Definition, definitionsIn } from "./definition.ts";

/**
 * Returns the definitions in a file.
 *
 * @param source The file, or `-` for standard input.
 * @param io The terminal and the shell.
 * @param stdin Reads standard input.
 * @throws {Failure} If the file cannot be read, is not YAML, or has no definition.
 */
export async function definitionsOfFile(
  source: string,
  io: Io,
  stdin: () => Promise<string> = readStdin,
): Promise<Definition[]> {
  const shown = source === "-" ? "standard input" : `"${source}"`;
  const text = source === "-" ? await stdin() : await readFile(resolve(io.cwd, source), source);
  const found = definitionsIn(parsed(text, shown));
  if (found.length > 0) return found;
  throw new Failure(
    `Cannot find a CustomResourceDefinition in ${shown}: it has none. Name another file, or "-" for standard input.`,
  );
}

async function readFile(path: string, shown: string): Promise<string> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) {
      throw new Failure(`Cannot read "${shown}": the file does not exist.`, { cause: error });
    }
    if (error instanceof Deno.errors.IsADirectory) {
      throw new Failure(`Cannot read "${shown}": it is a folder. Name a file.`, { cause: error });
    }
    throw new Failure(`Cannot read "${shown}": ${(error as Error).message}`, { cause: error });
  }
}

async function readStdin(): Promise<string> {
  return await new Response(Deno.stdin.readable).text();
}

function parsed(text: string, shown: string): unknown[] {
  // JSON is also YAML, but the YAML parser stores every position, which is too much for a large
  // file.
  if (/^\s*\{/.test(text)) {
    try {
      return [JSON.parse(text)];
    } catch {
      // YAML may begin like JSON.
    }
  }
  return yamlDocuments(text, shown);
}

/**
 * Returns the definitions of a cluster, in the latest API version and with the server's defaults.
 *
 * @param options The cluster.
 * @param io The terminal and the shell.
 * @throws {Error} If no cluster is configured, or the user may not list definitions. The message
 *   has advice.
 */
export async function definitionsOfCluster(options: ClusterOptions, io: Io): Promise<Definition[]> {
  const { kubeconfig, context } = options;
  const connection = await connect({
    ...(kubeconfig !== undefined && { kubeconfig: resolve(io.cwd, kubeconfig) }),
    ...(context !== undefined && { context }),
  });
  try {
    return definitionsIn(await new Client(connection).list(CustomResourceDefinition));
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 403)) throw error;
    throw new Failure(
      `${error.message}. Ask for the verb "list" on "customresourcedefinitions" of "apiextensions.k8s.io", or import from a file.`,
      { cause: error },
    );
  }
}
