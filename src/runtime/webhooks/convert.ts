/**
 * Handles a ConversionReview with the functions of an operator's conversions.
 *
 * Source: `k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1`, ConversionReview.
 */
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

/**
 * Thrown when a conversion function fails, or no conversions lead from one version to the other.
 * The message names the object and the versions.
 */
export class ConversionFailure extends Error {
  override name = "ConversionFailure";
}

/**
 * The conversions of an operator. Each converts between two versions of a kind, in both directions.
 */
export class Conversions {
  readonly #edges: readonly Edge[];
  /** Cache of shortest paths. */
  readonly #paths = new Map<string, readonly Edge[]>();

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

  /** Whether there are no conversions. */
  get isEmpty(): boolean {
    return this.#edges.length === 0;
  }

  /**
   * Converts an object to another version, in several steps if necessary.
   *
   * @param object The object. A conversion function may change it.
   * @param to The API version, such as `shop.example.com/v1`.
   * @throws {ConversionFailure} If no conversions lead to that version, or a function fails.
   */
  convert(object: Json, to: string): Json {
    const { apiVersion: from, kind } = object;
    if (from === to) return object;
    const group = to.split("/")[0];
    const path = this.#path(`${kind}.${group}`, String(from), to);
    if (path === undefined) {
      throw new ConversionFailure(`Cannot convert ${describe(object)} to ${to}: no conversions lead to that version`);
    }
    return path.reduce(convertStep, object);
  }

  /** Returns the shortest path from one version to another, or `undefined` if there is none. */
  #path(name: string, from: string, to: string): readonly Edge[] | undefined {
    const key = `${name} ${from} ${to}`;
    const cached = this.#paths.get(key);
    if (cached !== undefined) return cached;
    const queue: { readonly at: string; readonly path: readonly Edge[] }[] = [{ at: from, path: [] }];
    const seen = new Set([from]);
    let found: readonly Edge[] | undefined;
    for (let next = queue.shift(); next !== undefined && found === undefined; next = queue.shift()) {
      if (next.at === to) found = next.path;
      for (const edge of this.#edges) {
        if (edge.name !== name || edge.from !== next.at || seen.has(edge.to)) continue;
        seen.add(edge.to);
        queue.push({ at: edge.to, path: [...next.path, edge] });
      }
    }
    // Failures are not cached, because requests with unknown versions could fill the memory.
    if (found !== undefined) this.#paths.set(key, found);
    return found;
  }
}

interface Edge {
  readonly name: string;
  readonly from: string;
  readonly to: string;
  convert(object: unknown): unknown;
}

/**
 * Converts an object with one conversion function. API servers accept changes of metadata only in
 * labels and annotations, so other changes of metadata are dropped.
 */
function convertStep(object: Json, { to, convert }: Edge): Json {
  // Read first, because the function may change the object.
  const { kind, metadata } = object;
  let result: unknown;
  try {
    result = convert(object);
  } catch (cause) {
    const reason = withoutUrlCredentials(cause instanceof Error ? cause.message : String(cause));
    throw new ConversionFailure(`Cannot convert ${describe(object)} to ${to}: ${reason}`, { cause });
  }
  if (!isObject(result) || result instanceof Promise) {
    throw new ConversionFailure(`Cannot convert ${describe(object)} to ${to}: the function did not return an object`);
  }
  const { metadata: newMetadata, ...rest } = result;
  const changes = (["labels", "annotations"] as const).flatMap((key): [string, unknown][] =>
    isObject(newMetadata) && Object.hasOwn(newMetadata, key) ? [[key, newMetadata[key]]] : []
  );
  return { ...rest, apiVersion: to, kind, metadata: isObject(metadata) ? withKeys(metadata, changes) : metadata };
}

/**
 * Handles a review.
 *
 * @param conversions The conversions.
 * @param review The body of the request.
 * @throws {BadReview} If the body is not a review.
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
 * Returns the request of a ConversionReview.
 *
 * @param review The body.
 * @throws {BadReview} If the body is not a ConversionReview.
 */
export function conversionRequest(review: unknown): { uid: string; desired: string; objects: readonly Json[] } {
  if (!isObject(review)) throw new BadReview(400, "the body is not a JSON object");
  if (own(review, "apiVersion") !== "apiextensions.k8s.io/v1" || own(review, "kind") !== "ConversionReview") {
    throw new BadReview(400, "the body is not a ConversionReview of apiextensions.k8s.io/v1");
  }
  const request = own(review, "request");
  if (!isObject(request)) throw new BadReview(400, "the review has no request");
  const [uid, desired, objects] = ["uid", "desiredAPIVersion", "objects"].map((key) => own(request, key));
  if (typeof uid !== "string" || uid === "") throw new BadReview(400, "the request has no uid");
  if (typeof desired !== "string" || desired === "") throw new BadReview(400, "the request has no desired version");
  if (!Array.isArray(objects)) throw new BadReview(400, "the request has no objects");
  for (const object of objects as unknown[]) {
    if (!isObject(object) || !isObject(own(object, "metadata"))) {
      throw new BadReview(400, "an object of the request is not a JSON object with metadata");
    }
    for (const key of ["apiVersion", "kind"]) {
      if (typeof own(object, key) !== "string") throw new BadReview(400, `an object of the request has no ${key}`);
    }
  }
  return { uid, desired, objects };
}

function describe({ apiVersion, kind, metadata }: Json): string {
  const { namespace, name } = (isObject(metadata) ? metadata : {}) as { namespace?: string; name?: string };
  const id = namespace === undefined ? name : `${namespace}/${name}`;
  return `${kind} "${id ?? ""}" of ${apiVersion}`;
}
