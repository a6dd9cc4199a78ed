/** Where CustomResourceDefinitions are read from: a file, standard input, a cluster. */
import { resolve } from "node:path";
import { ApiError } from "@op/sdk";
import { Client, connect } from "@op/sdk/client";
import { CustomResourceDefinition } from "@op/sdk/kinds";
import { Failure } from "../exit_code.ts";
import type { Io } from "../io.ts";
import { yamlDocuments } from "../yaml.ts";
import { type Definition, definitionsIn } from "./definition.ts";

/** Which cluster. */
export interface ClusterOptions {
  /** A kubeconfig file. @default {KUBECONFIG, else `~/.kube/config`} */
  readonly kubeconfig?: string | undefined;
  /** A context of the kubeconfig. @default {its current one} */
  readonly context?: string | undefined;
}

/**
 * The definitions in a file.
 *
 * @param source The file, or `-` for standard input.
 * @param io The terminal and the shell.
 * @param stdin What standard input holds.
 * @throws {Failure} If it cannot be read, is no YAML, or has no definition in it.
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
    `Cannot find a CustomResourceDefinition in ${shown}: name a file that has one, or "-" for standard input`,
  );
}

async function readFile(path: string, shown: string): Promise<string> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) throw new Failure(`Cannot read "${shown}": there is no such file`);
    if (error instanceof Deno.errors.IsADirectory) {
      throw new Failure(`Cannot read "${shown}": it is a folder; name a file`);
    }
    throw new Failure(`Cannot read "${shown}": ${(error as Error).message}`, { cause: error });
  }
}

async function readStdin(): Promise<string> {
  return await new Response(Deno.stdin.readable).text();
}

function parsed(text: string, shown: string): unknown[] {
  // JSON is YAML, save that a file of it may be too large for a parser that keeps track of every
  // place.
  if (/^\s*\{/.test(text)) {
    try {
      return [JSON.parse(text)];
    } catch {
      // YAML may begin so, too
    }
  }
  return yamlDocuments(text, shown);
}

/**
 * The definitions of a cluster, as they are served: in the latest form, with what the server fills
 * in.
 *
 * @param options Which cluster.
 * @param io The terminal and the shell.
 * @throws {Error} If there is no cluster, or it may not be asked; the message says what to do.
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
      `${error.message}: ask for the verb "list" on "customresourcedefinitions" of "apiextensions.k8s.io", or import from a file`,
      { cause: error },
    );
  }
}
