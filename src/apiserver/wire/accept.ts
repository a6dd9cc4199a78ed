/** In which form an answer is wanted (`k8s.io/apiserver/pkg/endpoints/handlers/negotiation`). */

/** The form of an answer. */
export interface Form {
  /** Objects as they are, as rows of a table, or their metadata alone, of one or of many. */
  readonly as: "object" | "table" | "metadata" | "metadataList";
  /** The version of `meta.k8s.io` of a table or of metadata. */
  readonly metaVersion: "v1" | "v1beta1";
  readonly format: "json" | "yaml" | "protobuf";
  readonly contentType: string;
}

/** One entry of an `Accept` header. */
export interface MediaRange {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/** The entries of an `Accept` header, in their order. */
export function mediaRanges(header: string | null): MediaRange[] {
  return (header ?? "").split(",").map((part) => part.trim()).filter((part) => part !== "").map((part) => {
    const [type = "", ...parameters] = part.split(";").map((each) => each.trim());
    return {
      type: type.toLowerCase(),
      parameters: new Map(parameters.map((each) => {
        const at = each.indexOf("=");
        return at < 0 ? [each, ""] : [each.slice(0, at), each.slice(at + 1)];
      })),
    };
  });
}

const JSON_TYPES = new Set(["application/json", "application/*", "*/*"]);

/**
 * The first form of an `Accept` header that can be answered.
 *
 * @param header The header; objects as JSON when absent.
 * @param isBuiltin Whether a built-in kind is asked for: of others protobuf has the metadata alone.
 * @returns Nothing if there is none.
 */
export function wantedForm(header: string | null, isBuiltin = true): Form | undefined {
  const ranges = mediaRanges(header);
  if (ranges.length === 0) return JSON_OBJECT;
  for (const { type, parameters } of ranges) {
    const format = JSON_TYPES.has(type) ? "json" : OTHER_FORMATS.get(type);
    if (format === undefined) continue;
    const as = formOf(parameters);
    const metaVersion = parameters.get("v") === "v1beta1" ? "v1beta1" as const : "v1" as const;
    if (as === undefined) continue;
    if (format === "protobuf" && (as === "table" || (as === "object" && !isBuiltin))) continue;
    // Protobuf is made of JSON at the end.
    return { as, format, metaVersion, contentType: `application/${format === "yaml" ? "yaml" : "json"}` };
  }
  return undefined;
}

const OTHER_FORMATS: ReadonlyMap<string, "yaml" | "protobuf"> = new Map([
  ["application/yaml", "yaml"],
  ["application/vnd.kubernetes.protobuf", "protobuf"],
]);

const JSON_OBJECT: Form = { as: "object", format: "json", metaVersion: "v1", contentType: "application/json" };

/** Formats by their names; all of them at once have one too. */
const FORMATS = new Set(["application/json", "application/yaml", "application/vnd.kubernetes.protobuf", "*/*"]);

/** Whether an entry names a format, or there is none. */
export function namesFormat(header: string | null): boolean {
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
