/** Decisions of a server on objects. */
import type { RealCluster } from "../../src/testing/real_cluster.ts";
import type { Json } from "./_mutants.ts";
import { HANG_LIMIT } from "../eventually.ts";

/** A kind on a server. */
export interface Served {
  readonly group: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

/** Decision of a server on the creation of an object. */
export interface Verdict {
  readonly status: number;
  /** Invalid fields with the reason of the server, in alphabetical order. */
  readonly fields: readonly string[];
  /** Message, with the group replaced by `GROUP`. */
  readonly message: string;
  /** The object with defaults, as it would be stored, without metadata. */
  readonly stored: unknown;
}

/**
 * Sends a dry run of a creation to a server.
 *
 * @param cluster The server.
 * @param served The kind.
 * @param object The object. Its group and namespace are replaced.
 */
export async function verdictOf(cluster: RealCluster, served: Served, object: Json): Promise<Verdict> {
  const { group, plural, namespaced } = served;
  const version = String(object.apiVersion).split("/")[1];
  const { namespace: _, generateName: __, ...metadata } = { name: "sample", ...object.metadata as Json } as Json;
  const path = `/apis/${group}/${version}/${namespaced ? "namespaces/default/" : ""}${plural}`;
  for (const timeout = AbortSignal.timeout(HANG_LIMIT);; timeout.throwIfAborted()) {
    const response = await cluster.fetch(`${path}?dryRun=All&fieldValidation=Strict`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...object, apiVersion: `${group}/${version}`, metadata }),
    });
    const text = await response.text();
    // A kind is served a moment after its definition was created.
    if (response.status === 404 && !text.startsWith("{")) continue;
    const { apiVersion: _, metadata: __, ...body } = JSON.parse(text);
    if (response.ok) return { status: response.status, fields: [], message: "", stored: body };
    const message = String(body.message).replaceAll(group, "GROUP");
    return { status: response.status, fields: fieldsOf(body), message, stored: undefined };
  }
}

interface Status {
  readonly message: string;
  readonly details?: { readonly causes?: readonly { readonly field?: string; readonly reason?: string }[] };
}

/** Some errors have their field only in the message. */
function fieldsOf({ message, details }: Status): string[] {
  const causes = (details?.causes ?? []).map(({ field, reason }) => `${field}: ${reason}`);
  const inMessage = message.match(/\bspec(?:\.[\w-]+|\[\w+\])*/g) ?? [];
  return [...new Set([...causes, ...inMessage])].sort();
}
