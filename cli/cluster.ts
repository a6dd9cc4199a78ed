/** The cluster that a command works on. */
import { resolve } from "node:path";
import { type AnyKind, ApiError } from "@op/sdk";
import { Client, connect, findKind } from "@op/sdk/client";
import { Failure } from "./exit_code.ts";
import type { Io } from "./io.ts";
import type { PlainObject } from "./objects.ts";

/** Which cluster. */
export interface ClusterOptions {
  /** A kubeconfig file. @default {KUBECONFIG, else `~/.kube/config`} */
  readonly kubeconfig?: string | undefined;
  /** A context of the kubeconfig. @default {its current one} */
  readonly context?: string | undefined;
}

/** A cluster, for as long as a command runs. */
export interface Cluster extends Disposable {
  readonly client: Client;
  readonly url: string;
  /** The namespace of what says none: the context's. */
  readonly namespace: string;
  /** The kind of an object as the cluster serves it. */
  kindOf(object: Pick<PlainObject, "apiVersion" | "kind">): Promise<AnyKind>;
}

/**
 * Connects.
 *
 * @param options Which cluster.
 * @param io The terminal and the shell.
 * @throws {Error} If there is none; the message says what to do.
 */
export async function connectCluster({ kubeconfig, context }: ClusterOptions, io: Io): Promise<Cluster> {
  const connection = await connect({
    ...(kubeconfig === undefined ? {} : { kubeconfig: resolve(io.cwd, kubeconfig) }),
    ...(context === undefined ? {} : { context }),
  });
  const client = new Client(connection, { userAgent: "op-cli" });
  const kinds = new Map<string, AnyKind>();
  return {
    client,
    url: connection.url,
    namespace: connection.namespace ?? "default",
    async kindOf({ apiVersion, kind }) {
      const [version = "", group = ""] = apiVersion.split("/").reverse();
      const name = `${kind}.${version}.${group}`;
      const known = kinds.get(name) ?? await findKind(client, name);
      kinds.set(name, known);
      return known;
    },
    [Symbol.dispose]: () => connection.close(),
  };
}

/**
 * Returns the kind of an object as the cluster serves it, or `undefined` if the cluster does not serve it.
 *
 * @param cluster The cluster.
 * @param object The object.
 */
export async function servedKind(
  cluster: Cluster,
  object: Pick<PlainObject, "apiVersion" | "kind">,
): Promise<AnyKind | undefined> {
  try {
    return await cluster.kindOf(object);
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === "KindNotServed") return undefined;
    throw error;
  }
}

/**
 * Why an object was not applied. What the API server answers names the object already.
 *
 * @param error What came of it.
 * @param shown The object: its kind and name.
 */
export function applyFailure(error: unknown, shown: string): Failure {
  const { message } = error as Error;
  return new Failure(error instanceof ApiError ? message : `Cannot apply ${shown}: ${message}`, { cause: error });
}
