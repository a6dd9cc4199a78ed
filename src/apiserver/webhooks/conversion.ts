/**
 * Conversion of objects by a webhook (`k8s.io/apiextensions-apiserver/pkg/apiserver/conversion`,
 * webhook_converter.go).
 *
 * The rest of the server reads objects synchronously. If an object is not converted yet, the read
 * throws a {@linkcode ConversionNeeded}; a caller that can wait calls the webhook and reads again.
 * Results are cached, so that watches and lists find them, as in the watch cache of the real
 * server. The cache key is the input of the webhook without fields that only the server sets. A get
 * of a single object calls the webhook again.
 */
import { isObject } from "../../base/json.ts";
import { own } from "../../base/own.ts";
import { type StoredObject, withMetadata } from "../objects/objects.ts";
import { StatusError } from "../wire/status_error.ts";
import { type Caller, CallError, callWebhook } from "./call.ts";

/** Conversion settings of a definition. */
export interface DeclaredConversion {
  readonly strategy: string;
  readonly webhook?: {
    readonly clientConfig?: {
      readonly url?: string;
      readonly service?: {
        readonly namespace?: string;
        readonly name?: string;
        readonly path?: string;
        readonly port?: number;
      };
      readonly caBundle?: string;
    };
    readonly conversionReviewVersions?: readonly string[];
  };
}

/** The error for an object that must be converted before it can be read. */
export class ConversionNeeded extends Error {
  override name = "ConversionNeeded";
  readonly converter: WebhookConverter;
  readonly missing: readonly MissingConversion[];

  constructor(converter: WebhookConverter, missing: readonly MissingConversion[]) {
    super("An object must be converted before it can be read");
    this.converter = converter;
    this.missing = missing;
  }

  /** Runs the conversions. If one fails, the next read of the object throws its error. */
  async wait(): Promise<void> {
    await this.converter.fetch(this.missing);
  }
}

interface MissingConversion {
  readonly object: StoredObject;
  readonly to: string;
}

// Enough for all objects of a test in several versions.
const MAX_RESULTS = 10_000;
// Seconds, as in client-go.
const TIMEOUT = 30;

/** Converts with the webhook of a definition. */
export class WebhookConverter {
  readonly #caller: Caller;
  readonly #uid: () => string;
  readonly #conversion: DeclaredConversion;
  /** Results by input of the webhook. An error is removed when it is thrown. */
  readonly #results = new Map<string, StoredObject | StatusError>();

  constructor(conversion: DeclaredConversion, caller: Caller, uid: () => string) {
    this.#conversion = conversion;
    this.#caller = caller;
    this.#uid = uid;
  }

  /**
   * Returns an object in another version.
   *
   * @throws {ConversionNeeded} If the webhook has not converted it yet.
   * @throws {StatusError} If the webhook failed.
   */
  convert(object: StoredObject, to: string): StoredObject {
    const key = keyOf({ object, to });
    const result = this.#results.get(key);
    if (result === undefined) throw new ConversionNeeded(this, [{ object, to }]);
    if (result instanceof StatusError) {
      // The next read calls the webhook again.
      this.#results.delete(key);
      throw result;
    }
    return withConvertedMetadata(object, result);
  }

  /** Converts objects, with one call for each version. */
  async fetch(missing: readonly MissingConversion[]): Promise<void> {
    const versions = Map.groupBy(missing, ({ to }) => to);
    await Promise.all([...versions].map(async ([to, conversions]) => {
      let results: readonly (StoredObject | StatusError)[];
      try {
        results = await this.#call(conversions.map(({ object }) => object), to);
      } catch (error) {
        if (!(error instanceof StatusError)) throw error;
        results = conversions.map(() => error);
      }
      conversions.forEach((one, i) => this.#cache(keyOf(one), results[i]!));
    }));
  }

  /**
   * Converts an object again, even if the result is cached.
   *
   * @throws {StatusError} If the webhook fails. The cached result is not changed.
   */
  async refresh(object: StoredObject, to: string): Promise<void> {
    const [result] = await this.#call([object], to);
    if (result instanceof StatusError) throw result;
    if (result !== undefined) this.#cache(keyOf({ object, to }), result);
  }

  #cache(key: string, result: StoredObject | StatusError): void {
    this.#results.set(key, result);
    if (this.#results.size > MAX_RESULTS) this.#results.delete(this.#results.keys().next().value!);
  }

  async #call(objects: readonly StoredObject[], to: string): Promise<(StoredObject | StatusError)[]> {
    const { webhook } = this.#conversion;
    const [first] = objects;
    const prefix = `conversion webhook for ${first!.apiVersion}, Kind=${first!.kind}`;
    const version = webhook?.conversionReviewVersions?.find((each) => each === "v1" || each === "v1beta1");
    if (version === undefined) throw new StatusError(500, undefined, "no supported conversion review versions");
    const uid = this.#uid();
    let reply: unknown;
    try {
      reply = await callWebhook(
        this.#caller,
        { name: "", clientConfig: (webhook?.clientConfig ?? {}) as never, timeoutSeconds: TIMEOUT },
        {
          kind: "ConversionReview",
          apiVersion: `apiextensions.k8s.io/${version}`,
          request: { uid, desiredAPIVersion: to, objects },
        },
      );
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      throw new StatusError(500, undefined, `${prefix} failed: ${error.message}`);
    }
    const converted = convertedObjectsIn(reply, uid, version);
    if (typeof converted === "string") throw new StatusError(500, undefined, `${prefix} failed: ${converted}`);
    if (converted.length !== objects.length) {
      const reason = `returned ${converted.length} objects, expected ${objects.length}`;
      throw new StatusError(500, undefined, `${prefix} ${reason}`);
    }
    return objects.map((object, i) => {
      const error = conversionError(object, converted[i], to);
      return error === undefined ? converted[i] as StoredObject : new StatusError(500, undefined, `${prefix} ${error}`);
    });
  }
}

/**
 * Runs code that may need conversions, and waits for them.
 *
 * @param run The code. It runs again after each conversion, so it must have no effects before it
 * completes.
 */
export async function withConversions<T>(run: () => T | Promise<T>): Promise<T> {
  while (true) {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof ConversionNeeded)) throw error;
      await error.wait();
    }
  }
}

/**
 * Reads each object of a list, and collects the conversions that are missing.
 *
 * @throws {ConversionNeeded} If conversions are missing. The error contains all of them.
 */
export function eachConverted<T, R>(list: readonly T[], read: (item: T) => R): R[] {
  const missing: MissingConversion[] = [];
  let converter: WebhookConverter | undefined;
  const results = list.map((item) => {
    try {
      return read(item);
    } catch (error) {
      if (!(error instanceof ConversionNeeded)) throw error;
      converter = error.converter;
      missing.push(...error.missing);
      return undefined as R;
    }
  });
  if (converter !== undefined) throw new ConversionNeeded(converter, missing);
  return results;
}

/**
 * Returns the cache key of a conversion: the input of the webhook without fields that only the
 * server sets, which webhooks may not change.
 */
function keyOf({ object, to }: MissingConversion): string {
  const { metadata, ...rest } = object;
  const { name, namespace, labels, annotations, generateName } = metadata;
  return JSON.stringify([to, rest, generateName ? "" : name, namespace, labels, annotations]);
}

/** Returns the converted object with the original metadata, except for labels and annotations. */
function withConvertedMetadata(object: StoredObject, converted: StoredObject): StoredObject {
  const { metadata, ...body } = converted;
  const { labels, annotations } = metadata;
  return { ...body, metadata: withMetadata(object, { labels, annotations }).metadata } as StoredObject;
}

function convertedObjectsIn(review: unknown, uid: string, version: string): readonly unknown[] | string {
  if (!isObject(review)) return "no response provided";
  if (version === "v1") {
    const [apiVersion, kind] = [own(review, "apiVersion"), own(review, "kind")];
    // The real server knows this older type, but does not convert it.
    if (apiVersion === "apiextensions.k8s.io/v1beta1" && kind === "ConversionReview") {
      return "converting (v1beta1.ConversionReview) to (v1.ConversionReview): unknown conversion";
    }
    if (apiVersion !== "apiextensions.k8s.io/v1" || kind !== "ConversionReview") {
      return `expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got ${apiVersion}, Kind=${kind}`;
    }
  }
  const response = own(review, "response");
  if (!isObject(response)) return "no response provided";
  if (version === "v1" && own(response, "uid") !== uid) {
    return `expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(own(response, "uid") ?? "")}`;
  }
  const result = own(response, "result");
  const status = isObject(result) ? own(result, "status") ?? "" : "";
  if (status !== "Success") {
    const message = isObject(result) ? own(result, "message") : undefined;
    return message ? String(message) : `response.result.status was '${status}', not 'Success'`;
  }
  const objects = own(response, "convertedObjects");
  return Array.isArray(objects) ? objects : [];
}

function conversionError(object: StoredObject, converted: unknown, to: string): string | undefined {
  const invalid = "returned invalid object at index 0";
  if (!isObject(converted)) return `${invalid}: Object 'Kind' is missing in 'null'`;
  const [apiVersion, kind] = [own(converted, "apiVersion"), own(converted, "kind")];
  if (apiVersion !== to) return `${invalid}: invalid groupVersion (expected ${to}, received ${apiVersion})`;
  if (kind !== object.kind) return `${invalid}: invalid kind (expected ${object.kind}, received ${kind})`;
  const metadata = own(converted, "metadata");
  for (const [key, words] of [["name", "name"], ["namespace", "namespace"], ["uid", "UID"]] as const) {
    const [before, after] = [object.metadata[key] ?? "", (isObject(metadata) ? own(metadata, key) : undefined) ?? ""];
    if (before !== after) return `returned invalid object: must have the same ${words}: ${before} != ${after}`;
  }
  return isObject(metadata) ? undefined : "returned invalid metadata: missing metadata in converted object";
}
