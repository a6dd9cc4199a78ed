/** Negotiates the form of responses (`k8s.io/apiserver/pkg/endpoints/handlers/negotiation`). */

/** The form of a response. */
export interface Form {
  /**
   * The content of the response: objects, rows of a table, the metadata of an object, or the
   * metadata of a list.
   */
  readonly as: "object" | "table" | "metadata" | "metadataList";
  /** Version of `meta.k8s.io` for tables and metadata. */
  readonly metaVersion: "v1" | "v1beta1";
  readonly format: "json" | "yaml" | "protobuf";
  readonly contentType: string;
}

/** An entry of an `Accept` header. */
export interface MediaRange {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/** Returns the entries of an `Accept` header in order. */
export function mediaRanges(header: string | null): MediaRange[] {
  return (header ?? "").split(",").map((part) => part.trim()).filter((part) => part !== "").map((part) => {
    const [type = "", ...parameters] = part.split(";").map((each) => each.trim());
    return {
      type: type.toLowerCase(),
      parameters: new Map(parameters.map((each) => {
        const equals = each.indexOf("=");
        return equals < 0 ? [each, ""] : [each.slice(0, equals), each.slice(equals + 1)];
      })),
    };
  });
}

const JSON_TYPES = new Set(["application/json", "application/*", "*/*"]);

/**
 * Returns the first supported form of an `Accept` header.
 *
 * @param header The header. If absent, the form is an object as JSON.
 * @param isBuiltin Whether the kind is built-in. Protobuf of other kinds is limited to metadata.
 * @returns The form; `undefined` if none is supported.
 */
export function acceptedForm(header: string | null, isBuiltin = true): Form | undefined {
  const ranges = mediaRanges(header);
  if (ranges.length === 0) return JSON_OBJECT;
  for (const { type, parameters } of ranges) {
    const format = JSON_TYPES.has(type) ? "json" : OTHER_FORMATS.get(type);
    if (format === undefined) continue;
    const as = formOf(parameters);
    const metaVersion = parameters.get("v") === "v1beta1" ? "v1beta1" as const : "v1" as const;
    if (as === undefined) continue;
    if (format === "protobuf" && (as === "table" || (as === "object" && !isBuiltin))) continue;
    // Responses are converted from JSON to protobuf at the end.
    return { as, format, metaVersion, contentType: `application/${format === "yaml" ? "yaml" : "json"}` };
  }
  return undefined;
}

const OTHER_FORMATS: ReadonlyMap<string, "yaml" | "protobuf"> = new Map([
  ["application/yaml", "yaml"],
  ["application/vnd.kubernetes.protobuf", "protobuf"],
]);

const JSON_OBJECT: Form = { as: "object", format: "json", metaVersion: "v1", contentType: "application/json" };

/** Media types that select a format; `*` selects any. */
const FORMATS = new Set(["application/json", "application/yaml", "application/vnd.kubernetes.protobuf", "*/*"]);

/** Returns whether a header is empty or has an entry that selects a format. */
export function hasFormat(header: string | null): boolean {
  const ranges = mediaRanges(header);
  return ranges.length === 0 || ranges.some(({ type }) => FORMATS.has(type));
}

const FORMS: ReadonlyMap<string, Form["as"]> = new Map([
  ["Table", "table"],
  ["PartialObjectMetadata", "metadata"],
  ["PartialObjectMetadataList", "metadataList"],
]);

function formOf(parameters: ReadonlyMap<string, string>): Form["as"] | undefined {
  const as = parameters.get("as");
  if (as === undefined) return "object";
  const isKnown = parameters.get("g") === "meta.k8s.io" && /^v1(?:beta1)?$/.test(parameters.get("v") ?? "");
  return isKnown ? FORMS.get(as) : undefined;
}
