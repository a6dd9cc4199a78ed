/**
 * Conversion of objects by a webhook (`k8s.io/apiextensions-apiserver/pkg/apiserver/conversion`, webhook_converter.go).
 *
 * All else in the server looks at objects without waiting. What is not converted yet is therefore asked for by an error: whoever can wait does, and looks
 * again. What a webhook answered is remembered by what it was asked, without what only the server knows of an object: whoever watches or lists finds it
 * converted, as in the real server's cache. Who gets a single object is not told from memory: the webhook is asked anew.
 */
import { isObject } from "../../base/json.ts";
import { own } from "../../base/own.ts";
import { type StoredObject, withMetadata } from "../objects/objects.ts";
import { StatusError } from "../wire/status_error.ts";
import { type Caller, CallError, callWebhook } from "./call.ts";

/** How objects get from one version to another. */
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

/** Something has to be converted first. */
export class ConversionNeeded extends Error {
  override name = "ConversionNeeded";
  readonly converter: WebhookConverter;
  readonly wanted: readonly Wanted[];

  constructor(converter: WebhookConverter, wanted: readonly Wanted[]) {
    super("Cannot go on: an object has to be converted first");
    this.converter = converter;
    this.wanted = wanted;
  }

  /** Settles when it has been: what went wrong is told to whoever looks again. */
  async wait(): Promise<void> {
    await this.converter.fetch(this.wanted);
  }
}

interface Wanted {
  readonly object: StoredObject;
  readonly to: string;
}

// Each object of a test, some times over.
const MOST = 10_000;
// client-go's for conversions.
const TIMEOUT = 30;

/** The webhook of a definition. */
export class WebhookConverter {
  readonly #caller: Caller;
  readonly #uid: () => string;
  readonly #conversion: DeclaredConversion;
  readonly #known = new Map<string, StoredObject | StatusError>();

  constructor(conversion: DeclaredConversion, caller: Caller, uid: () => string) {
    this.#conversion = conversion;
    this.#caller = caller;
    this.#uid = uid;
  }

  /**
   * An object in another version.
   *
   * @throws {ConversionNeeded} If the webhook has to be asked first.
   * @throws {StatusError} If it failed.
   */
  convert(object: StoredObject, to: string): StoredObject {
    const key = keyOf({ object, to });
    const known = this.#known.get(key);
    if (known === undefined) throw new ConversionNeeded(this, [{ object, to }]);
    if (known instanceof StatusError) {
      // The next one asks again.
      this.#known.delete(key);
      throw known;
    }
    return restored(object, known);
  }

  /** Asks for all that is wanted: a call for each version. */
  async fetch(wanted: readonly Wanted[]): Promise<void> {
    const versions = Map.groupBy(wanted, ({ to }) => to);
    await Promise.all([...versions].map(async ([to, some]) => {
      let results: readonly (StoredObject | StatusError)[];
      try {
        results = await this.#ask(some.map(({ object }) => object), to);
      } catch (error) {
        if (!(error instanceof StatusError)) throw error;
        results = some.map(() => error);
      }
      some.forEach((one, i) => this.#remember(keyOf(one), results[i]!));
    }));
  }

  /**
   * Asks for an object although the answer may be known.
   *
   * @throws {StatusError} If the webhook fails now. What it said before stays known.
   */
  async refresh(object: StoredObject, to: string): Promise<void> {
    const [result] = await this.#ask([object], to);
    if (result instanceof StatusError) throw result;
    if (result !== undefined) this.#remember(keyOf({ object, to }), result);
  }

  #remember(key: string, result: StoredObject | StatusError): void {
    this.#known.set(key, result);
    if (this.#known.size > MOST) this.#known.delete(this.#known.keys().next().value!);
  }

  async #ask(objects: readonly StoredObject[], to: string): Promise<(StoredObject | StatusError)[]> {
    const { webhook } = this.#conversion;
    const [first] = objects;
    const named = `conversion webhook for ${first!.apiVersion}, Kind=${first!.kind}`;
    const version = webhook?.conversionReviewVersions?.find((each) => each === "v1" || each === "v1beta1");
    if (version === undefined) throw new StatusError(500, undefined, "no supported conversion review versions");
    const uid = this.#uid();
    let answer: unknown;
    try {
      answer = await callWebhook(
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
      throw new StatusError(500, undefined, `${named} failed: ${error.message}`);
    }
    const converted = convertedIn(answer, uid, version);
    if (typeof converted === "string") throw new StatusError(500, undefined, `${named} failed: ${converted}`);
    if (converted.length !== objects.length) {
      const why = `returned ${converted.length} objects, expected ${objects.length}`;
      throw new StatusError(500, undefined, `${named} ${why}`);
    }
    return objects.map((object, i) => {
      const fault = convertedFault(object, converted[i], to);
      return fault === undefined ? converted[i] as StoredObject : new StatusError(500, undefined, `${named} ${fault}`);
    });
  }
}

/**
 * Does something that may need conversions, and waits for them.
 *
 * @param look What is done; it is done again after each conversion, and must change nothing before it is through.
 */
export async function withConversions<T>(look: () => T | Promise<T>): Promise<T> {
  while (true) {
    try {
      return await look();
    } catch (error) {
      if (!(error instanceof ConversionNeeded)) throw error;
      await error.wait();
    }
  }
}

/**
 * The same for each of a list: what has to be converted is asked for together.
 *
 * @throws {ConversionNeeded} With all that is missing.
 */
export function eachConverted<T, R>(list: readonly T[], look: (item: T) => R): R[] {
  const wanted: Wanted[] = [];
  let converter: WebhookConverter | undefined;
  const results = list.map((item) => {
    try {
      return look(item);
    } catch (error) {
      if (!(error instanceof ConversionNeeded)) throw error;
      converter = error.converter;
      wanted.push(...error.wanted);
      return undefined as R;
    }
  });
  if (converter !== undefined) throw new ConversionNeeded(converter, wanted);
  return results;
}

/** What a webhook is asked, without what only the server knows and no webhook may change. */
function keyOf({ object, to }: Wanted): string {
  const { metadata, ...rest } = object;
  const { name, namespace, labels, annotations, generateName } = metadata;
  return JSON.stringify([to, rest, generateName ? "" : name, namespace, labels, annotations]);
}

/** Labels and annotations are the webhook's, the rest of the metadata is as it was. */
function restored(object: StoredObject, converted: StoredObject): StoredObject {
  const { metadata, ...body } = converted;
  const { labels, annotations } = metadata;
  return { ...body, metadata: withMetadata(object, { labels, annotations }).metadata } as StoredObject;
}

function convertedIn(review: unknown, uid: string, version: string): readonly unknown[] | string {
  if (!isObject(review)) return "no response provided";
  if (version === "v1") {
    const [apiVersion, kind] = [own(review, "apiVersion"), own(review, "kind")];
    // An older one is a type that the server knows, and does not take for this one.
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

function convertedFault(object: StoredObject, converted: unknown, to: string): string | undefined {
  const invalid = "returned invalid object at index 0";
  if (!isObject(converted)) return `${invalid}: Object 'Kind' is missing in 'null'`;
  const [apiVersion, kind] = [own(converted, "apiVersion"), own(converted, "kind")];
  if (apiVersion !== to) return `${invalid}: invalid groupVersion (expected ${to}, received ${apiVersion})`;
  if (kind !== object.kind) return `${invalid}: invalid kind (expected ${object.kind}, received ${kind})`;
  const metadata = own(converted, "metadata");
  for (const [key, words] of [["name", "name"], ["namespace", "namespace"], ["uid", "UID"]] as const) {
    const [was, is] = [object.metadata[key] ?? "", (isObject(metadata) ? own(metadata, key) : undefined) ?? ""];
    if (was !== is) return `returned invalid object: must have the same ${words}: ${was} != ${is}`;
  }
  return isObject(metadata) ? undefined : "returned invalid metadata: missing metadata in converted object";
}
