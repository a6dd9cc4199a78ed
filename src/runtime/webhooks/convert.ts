/** Answers a ConversionReview by a user's functions (`k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1`, ConversionReview). */
import { withoutUrlCredentials } from "../../base/url_credentials.ts";
import { isObject } from "../../base/json.ts";
import { own, withKeys } from "../../base/own.ts";
import type { Conversion } from "../../parts/conversion.ts";
import { BadReview } from "./bad_review.ts";

type Json = Record<string, unknown>;

/** `response` of a ConversionReview. */
export interface ConversionResponse {
  readonly uid: string;
  readonly convertedObjects: readonly Json[];
  readonly result: { readonly status: "Success" | "Failure"; readonly message?: string };
}

/** A user's function failed, or there is no way between two versions. What is told names the object and the step. */
export class ConversionFailure extends Error {
  override name = "ConversionFailure";
}

/** The conversions of an operator, as ways between versions. */
export class Conversions {
  readonly #edges: readonly Edge[];
  readonly #ways = new Map<string, readonly Edge[] | undefined>();

  /** @param conversions The conversions. */
  constructor(conversions: readonly Conversion[]) {
    this.#edges = conversions.flatMap((conversion) => {
      const { kind: { group, kind, apiVersion }, into } = conversion;
      const name = `${kind}.${group}`;
      return [
        { name, from: apiVersion, to: into.apiVersion, convert: (object: unknown) => conversion.up(object) },
        { name, from: into.apiVersion, to: apiVersion, convert: (object: unknown) => conversion.down(object) },
      ];
    });
  }

  /** Whether there is anything to convert. */
  get isEmpty(): boolean {
    return this.#edges.length === 0;
  }

  /**
   * An object in another version.
   *
   * @param object The object; it may be changed on the way.
   * @param to The version, with its group.
   * @throws {ConversionFailure} If there is no way, or a function of the user fails.
   */
  convert(object: Json, to: string): Json {
    const { apiVersion: from, kind } = object;
    if (from === to) return object;
    const group = to.split("/")[0];
    const way = this.#way(`${kind}.${group}`, String(from), to);
    if (way === undefined) {
      throw new ConversionFailure(`Cannot convert ${told(object)} to ${to}: no conversion leads there`);
    }
    return way.reduce(converted, object);
  }

  /** The shortest way from one version to another. */
  #way(name: string, from: string, to: string): readonly Edge[] | undefined {
    const key = `${name} ${from} ${to}`;
    if (this.#ways.has(key)) return this.#ways.get(key);
    const queue: { readonly at: string; readonly way: readonly Edge[] }[] = [{ at: from, way: [] }];
    const seen = new Set([from]);
    let found: readonly Edge[] | undefined;
    for (let next = queue.shift(); next !== undefined && found === undefined; next = queue.shift()) {
      if (next.at === to) found = next.way;
      for (const edge of this.#edges) {
        if (edge.name !== name || edge.from !== next.at || seen.has(edge.to)) continue;
        seen.add(edge.to);
        queue.push({ at: edge.to, way: [...next.way, edge] });
      }
    }
    // What is asked for by a body that makes no sense is not remembered.
    if (found !== undefined) this.#ways.set(key, found);
    return found;
  }
}

interface Edge {
  readonly name: string;
  readonly from: string;
  readonly to: string;
  convert(object: unknown): unknown;
}

/** One step. The server takes a change of nothing but labels and annotations in the metadata, so that nothing else is let through. */
function converted(object: Json, { to, convert }: Edge): Json {
  // As the step before left it, and before this one's function can take it away.
  const { kind, metadata } = object;
  let made: unknown;
  try {
    made = convert(object);
  } catch (cause) {
    const why = withoutUrlCredentials(cause instanceof Error ? cause.message : String(cause));
    throw new ConversionFailure(`Cannot convert ${told(object)} to ${to}: ${why}`, { cause });
  }
  if (!isObject(made) || made instanceof Promise) {
    throw new ConversionFailure(`Cannot convert ${told(object)} to ${to}: the function answered no object`);
  }
  const { metadata: said, ...rest } = made;
  const changes = (["labels", "annotations"] as const).flatMap((key): [string, unknown][] =>
    isObject(said) && Object.hasOwn(said, key) ? [[key, said[key]]] : []
  );
  return { ...rest, apiVersion: to, kind, metadata: isObject(metadata) ? withKeys(metadata, changes) : metadata };
}

/**
 * Answers a review.
 *
 * @param conversions The ways.
 * @param review The body of the request.
 * @throws {BadReview} If the body is no review.
 * @throws {ConversionFailure} If an object cannot be converted.
 */
export function convertAll(conversions: Conversions, review: unknown): ConversionResponse {
  const { uid, desired, objects } = conversionRequest(review);
  return {
    uid,
    convertedObjects: objects.map((object) => conversions.convert(object, desired)),
    result: { status: "Success" },
  };
}

/**
 * What a review asks for.
 *
 * @throws {BadReview} If it is none.
 */
export function conversionRequest(review: unknown): { uid: string; desired: string; objects: readonly Json[] } {
  if (!isObject(review)) throw new BadReview(400, "the body is no object");
  if (own(review, "apiVersion") !== "apiextensions.k8s.io/v1" || own(review, "kind") !== "ConversionReview") {
    throw new BadReview(400, "the body is not a ConversionReview of apiextensions.k8s.io/v1");
  }
  const request = own(review, "request");
  if (!isObject(request)) throw new BadReview(400, "the review has no request");
  const [uid, desired, objects] = ["uid", "desiredAPIVersion", "objects"].map((key) => own(request, key));
  if (typeof uid !== "string" || uid === "") throw new BadReview(400, "the request has no uid");
  if (typeof desired !== "string" || desired === "") throw new BadReview(400, "the request names no version");
  if (!Array.isArray(objects)) throw new BadReview(400, "the request has no objects");
  for (const object of objects as unknown[]) {
    if (!isObject(object) || !isObject(own(object, "metadata"))) {
      throw new BadReview(400, "an object of the request is none");
    }
    for (const key of ["apiVersion", "kind"]) {
      if (typeof own(object, key) !== "string") throw new BadReview(400, `an object of the request has no ${key}`);
    }
  }
  return { uid, desired, objects };
}

function told({ apiVersion, kind, metadata }: Json): string {
  const { namespace, name } = (isObject(metadata) ? metadata : {}) as { namespace?: string; name?: string };
  const id = namespace === undefined ? name : `${namespace}/${name}`;
  return `${kind} "${id ?? ""}" of ${apiVersion}`;
}
