/** Connects commands to a cluster. */
import { resolve } from "node:path";
import { type AnyKind, ApiError } from "@op/sdk";
import { Client, connect, findKind } from "@op/sdk/client";
import { Failure } from "./exit_code.ts";
import type { Io } from "./io.ts";
import type { PlainObject } from "./objects.ts";

/** Options that select a cluster. */
export interface ClusterOptions {
  /** A kubeconfig file. @default {KUBECONFIG, otherwise `~/.kube/config`} */
  readonly kubeconfig?: string | undefined;
  /** A context of the kubeconfig. @default {its current context} */
  readonly context?: string | undefined;
}

/** A connection to a cluster, which a command closes at its end. */
export interface Cluster extends Disposable {
  readonly client: Client;
  readonly url: string;
  /** The namespace of the context, which applies to objects that have none. */
  readonly namespace: string;
  /** Returns the kind of an object as the cluster serves it. */
  kindOf(object: Pick<PlainObject, "apiVersion" | "kind">): Promise<AnyKind>;
}

/**
 * Connects to a cluster.
 *
 * @param options The kubeconfig and its context.
 * @param io The terminal and the shell.
 * @throws {Error} If the kubeconfig does not select a cluster. The message has advice.
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
      const found = kinds.get(name) ?? await findKind(client, name);
      kinds.set(name, found);
      return found;
    },
    [Symbol.dispose]: () => connection.close(),
  };
}

/**
 * Returns the kind of an object as the cluster serves it, or `undefined` if the cluster does not
 * serve it.
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

/** Returns the result of a request, or `undefined` if the object does not exist. */
export function ifFound<T>(request: () => Promise<T>): Promise<T | undefined> {
  return unlessStatus([404], request);
}

/**
 * Returns the result of a request, or `undefined` if the object does not exist or the user may not
 * read it.
 */
export function ifReadable<T>(request: () => Promise<T>): Promise<T | undefined> {
  return unlessStatus([403, 404], request);
}

async function unlessStatus<T>(statuses: readonly number[], request: () => Promise<T>): Promise<T | undefined> {
  try {
    return await request();
  } catch (error) {
    if (error instanceof ApiError && statuses.includes(error.status)) return undefined;
    throw error;
  }
}

/**
 * Returns the failure to apply an object. Messages of the API server already name the object.
 *
 * @param error The error of the request.
 * @param shown The object's kind and name.
 */
export function applyFailure(error: unknown, shown: string): Failure {
  const { message } = error as Error;
  return new Failure(error instanceof ApiError ? message : `Cannot apply ${shown}: ${message}`, { cause: error });
}
