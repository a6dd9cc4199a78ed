/** What a server says of an object. */
import type { RealCluster } from "../../src/testing/real_cluster.ts";
import type { Json } from "./_mutants.ts";
import { HANG_LIMIT } from "../eventually.ts";

/** A kind as a server serves it. */
export interface Served {
  readonly group: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

/** What a server says of an object that is to be made. */
export interface Verdict {
  readonly status: number;
  /** The fields at fault, each with what is wrong in a word where the server says so, in alphabetical order. */
  readonly fields: readonly string[];
  /** What it says, with the group as `GROUP`. */
  readonly message: string;
  /** The object as it would be stored, with what it was filled up with, save its metadata. */
  readonly stored: unknown;
}

/**
 * Asks a server to make an object and to forget it again.
 *
 * @param cluster The server.
 * @param served The kind.
 * @param object The object. Its group and namespace do not matter.
 */
export async function verdictOf(cluster: RealCluster, served: Served, object: Json): Promise<Verdict> {
  const { group, plural, namespaced } = served;
  const version = String(object.apiVersion).split("/")[1];
  const { namespace: _, generateName: __, ...metadata } = { name: "sample", ...object.metadata as Json } as Json;
  const path = `/apis/${group}/${version}/${namespaced ? "namespaces/default/" : ""}${plural}`;
  for (const late = AbortSignal.timeout(HANG_LIMIT);; late.throwIfAborted()) {
    const response = await cluster.fetch(`${path}?dryRun=All&fieldValidation=Strict`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...object, apiVersion: `${group}/${version}`, metadata }),
    });
    const text = await response.text();
    // A definition is served a moment after it was made.
    if (response.status === 404 && !text.startsWith("{")) continue;
    const { apiVersion: _, metadata: __, ...answer } = JSON.parse(text);
    if (response.ok) return { status: response.status, fields: [], message: "", stored: answer };
    const message = String(answer.message).replaceAll(group, "GROUP");
    return { status: response.status, fields: fieldsOf(answer), message, stored: undefined };
  }
}

interface Status {
  readonly message: string;
  readonly details?: { readonly causes?: readonly { readonly field?: string; readonly reason?: string }[] };
}

/** Some faults have their field only in the message. */
function fieldsOf({ message, details }: Status): string[] {
  const causes = (details?.causes ?? []).map(({ field, reason }) => `${field}: ${reason}`);
  const told = message.match(/\bspec(?:\.[\w-]+|\[\w+\])*/g) ?? [];
  return [...new Set([...causes, ...told])].sort();
}
