/**
 * Generates thousands of values: valid ones, invalid ones that differ from valid ones at one
 * position, and doubtful ones.
 */
import type { JsonSchema } from "../../src/schema/json_schema.ts";
import { jsonText } from "./_json_text.ts";
import { changed, isDeep, type Node, type Target, targets } from "./_node.ts";
import type { Random } from "../fixtures/random.ts";
import { collection, type Definition } from "./_servers.ts";

/** A kind whose `spec` or `status` is a node. */
export interface SampledKind extends Definition {
  readonly at: "spec" | "status";
  readonly node: Node;
  /** The schema of its only version. */
  readonly schema: JsonSchema;
}

/** A value to try. */
export interface Sample {
  readonly kind: SampledKind;
  /** The validity by construction. For a doubtful value, only the real server knows it. */
  readonly validity: "valid" | "invalid" | "doubtful";
  /** The keyword that makes it invalid or doubtful. */
  readonly keyword?: string;
  /** Whether that position has a depth of at least 3, or is below a list or map. */
  readonly isDeep: boolean;
  /** The JSON text of `spec` or `status`. */
  readonly text: string;
  readonly fieldValidation: "Strict" | "Warn" | "Ignore";
}

/**
 * Returns a kind with a node in it.
 *
 * @param name The kind's name.
 * @param node Its spec or status.
 * @param at The field of the node.
 */
export function sampledKind(name: string, node: Node, at: "spec" | "status"): SampledKind {
  const schema: JsonSchema = { type: "object", properties: { [at]: node.schema } };
  return { group: "values.example.com", kind: name, versions: { v1: schema }, at, node, schema };
}

/** The numbers of values. */
export interface SampleCounts {
  /** Invalid values for each keyword. */
  readonly invalid: number;
  /** Doubtful values for each keyword. */
  readonly doubtful: number;
  readonly valid: number;
}

/** Generates values of several kinds. */
export function samples(random: Random, kinds: readonly SampledKind[], counts: SampleCounts): Sample[] {
  const samples: Sample[] = [];
  for (
    const [validity, changes, count] of [
      ["invalid", "violations", counts.invalid],
      ["doubtful", "doubtful", counts.doubtful],
    ] as const
  ) {
    for (const [keyword, found] of byKeyword(kinds, changes)) {
      for (let i = 0; i < count; i++) {
        const { kind, target } = random.pick(found);
        samples.push({
          kind,
          validity,
          keyword,
          isDeep: isDeep(target),
          text: jsonText(changed(random, kind.node.valid(random), target)),
          fieldValidation: "Strict",
        });
      }
    }
  }
  for (let i = 0; i < counts.valid; i++) {
    const kind = random.pick(kinds);
    const fieldValidation = random.pick(["Strict", "Strict", "Warn", "Ignore"] as const);
    samples.push({ kind, validity: "valid", isDeep: false, text: jsonText(kind.node.valid(random)), fieldValidation });
  }
  return samples;
}

interface Found {
  readonly kind: SampledKind;
  readonly target: Target;
}

function byKeyword(kinds: readonly SampledKind[], of: "violations" | "doubtful"): Map<string, Found[]> {
  const found = new Map<string, Found[]>();
  for (const kind of kinds) {
    for (const target of targets(kind.node, of)) {
      const { keyword } = target.change;
      // The server does not validate embedded objects in a status.
      if (kind.at === "status" && keyword === "embedded resource") continue;
      const list = found.get(keyword) ?? [];
      list.push({ kind, target });
      found.set(keyword, list);
    }
  }
  return found;
}

/** Returns the request that tries a value without storing it. */
export function requestFor(sample: Sample, resourceVersion: string): { method: string; path: string; body: string } {
  const { kind, text, fieldValidation } = sample;
  const query = `?dryRun=All&fieldValidation=${fieldValidation}`;
  const isStatus = kind.at === "status";
  const metadata = isStatus ? { name: BASE, resourceVersion } : { name: "a" };
  return {
    method: isStatus ? "PUT" : "POST",
    path: `${collection(kind)}${isStatus ? `/${BASE}/status` : ""}${query}`,
    body: `{"apiVersion":"${kind.group}/v1","kind":"${kind.kind}","metadata":${
      JSON.stringify(metadata)
    },"${kind.at}":${text}}`,
  };
}

/** The name of the object whose status is written. */
export const BASE = "base";
