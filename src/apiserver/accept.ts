/** In which form an answer is wanted. */
/** The form of an answer. */
export interface Form {
  /** Objects as they are, as rows of a table, or their metadata alone. */
  readonly as: "object" | "table" | "metadata";
  readonly format: "json" | "yaml";
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
 * @returns Nothing if there is none.
 */
export function wantedForm(header: string | null): Form | undefined {
  const ranges = mediaRanges(header);
  if (ranges.length === 0) return { as: "object", format: "json", contentType: "application/json" };
  for (const { type, parameters } of ranges) {
    const format = JSON_TYPES.has(type) ? "json" : type === "application/yaml" ? "yaml" : undefined;
    if (format === undefined) continue;
    const as = formOf(parameters);
    if (as !== undefined) return { as, format, contentType: `application/${format}` };
  }
  return undefined;
}

function formOf(parameters: ReadonlyMap<string, string>): Form["as"] | undefined {
  switch (parameters.get("as")) {
    case undefined:
      return "object";
    case "Table":
      return parameters.get("v") === "v1" ? "table" : undefined;
    case "PartialObjectMetadata":
    case "PartialObjectMetadataList":
      return "metadata";
    default:
      return undefined;
  }
}
