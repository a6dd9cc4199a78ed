/** Named string formats (`k8s.io/apiserver/pkg/cel/library/format.go`). */
import {
  label1035Errors,
  labelErrors,
  labelValueErrors,
  prefixRule,
  qualifiedNameErrors,
  subdomainErrors,
} from "../../base/name_rules.ts";
import { ServerUrl } from "../../base/server_url.ts";
import { isBase64, isDate, isDateTime, isUuid } from "../../base/text_formats.ts";
import { scaleRange, sizeRange } from "../cost.ts";
import type { FunctionDeclaration } from "../function.ts";
import type { Library } from "../library.ts";
import { matchingCost, PATTERN, TRAVERSAL } from "../traversal.ts";
import { type CelType, listOf, optionalOf, STRING } from "../type.ts";
import { CelError, List, OpaqueValue, Optional, type Value } from "../value.ts";

// Length of a name, for the estimated cost of comparing two formats.
const MAX_NAME_SIZE = 64;
// Length of a pattern, if the format is not known yet.
const MAX_PATTERN_SIZE = 128;

const FORMAT: CelType = {
  kind: "opaque",
  name: "kubernetes.NamedFormat",
  estimateEquality: () => scaleRange({ min: 1, max: MAX_NAME_SIZE }, TRAVERSAL),
};

/** A format as a value. */
export class FormatValue extends OpaqueValue {
  readonly type: CelType = FORMAT;
  override readonly goType = "cel.Format";

  /**
   * @param name The server's name of the format.
   * @param patternSize The length of its pattern, or of a comparable pattern.
   * @param errors Returns the errors of a string.
   */
  constructor(readonly name: string, readonly patternSize: number, readonly errors: (text: string) => string[]) {
    super();
  }

  equals(other: Value): boolean {
    if (!(other instanceof FormatValue)) throw new CelError("no such overload");
    return this.name === other.name;
  }
}

// The lengths of the server's own patterns.
const UUID_SIZE = 70;
const TIME_SIZE = 71;

/** The formats by the names that expressions use. */
const FORMATS: ReadonlyMap<string, FormatValue> = new Map([
  ["dns1123Label", new FormatValue("DNS1123Label", 30, labelErrors)],
  ["dns1123Subdomain", new FormatValue("DNS1123Subdomain", 60, subdomainErrors)],
  ["dns1035Label", new FormatValue("DNS1035Label", 30, label1035Errors)],
  ["qualifiedName", new FormatValue("QualifiedName", 60, qualifiedNameErrors)],
  ["dns1123LabelPrefix", new FormatValue("DNS1123LabelPrefix", 30, prefixRule(labelErrors))],
  ["dns1123SubdomainPrefix", new FormatValue("DNS1123SubdomainPrefix", 60, prefixRule(subdomainErrors))],
  ["dns1035LabelPrefix", new FormatValue("DNS1035LabelPrefix", 30, prefixRule(label1035Errors))],
  ["labelValue", new FormatValue("LabelValue", 40, labelValueErrors)],
  ["uri", new FormatValue("URI", 1103, uriErrors)],
  ["uuid", new FormatValue("uuid", UUID_SIZE, errorUnless(isUuid, "does not match the UUID format"))],
  ["byte", new FormatValue("byte", 84, errorUnless(isBase64, "invalid base64"))],
  ["date", new FormatValue("date", TIME_SIZE, errorUnless(isDate, "invalid date"))],
  ["datetime", new FormatValue("datetime", TIME_SIZE, errorUnless(isDateTime, "invalid datetime"))],
]);

/** The library: `format.named`, a function for each format, and `validate`. */
export const NAMED_FORMATS: Library = {
  name: "kubernetes.format",
  functions: [
    {
      name: "validate",
      cost: ([format, text]) => format instanceof FormatValue ? matchingCost(text!, format.patternSize) : 1,
      overloads: [{
        id: "format-validate",
        isMember: true,
        parameters: [FORMAT, STRING],
        result: optionalOf(listOf(STRING)),
        call: (format, text) => validate(format as FormatValue, text as string),
        estimate: ([, text]) => ({
          cost: scaleRange(scaleRange(sizeRange(text!), TRAVERSAL), MAX_PATTERN_SIZE * PATTERN),
        }),
      }],
    },
    {
      name: "format.named",
      overloads: [{
        id: "format-named",
        isMember: false,
        parameters: [STRING],
        result: optionalOf(FORMAT),
        call: (name) => optional(FORMATS.get(name as string)),
      }],
    },
    ...[...FORMATS].map(([name, format]) => constant(`format.${name}`, format)),
  ],
};

function constant(name: string, format: FormatValue): FunctionDeclaration {
  return { name, overloads: [{ id: name, isMember: false, parameters: [], result: FORMAT, call: () => format }] };
}

function validate(format: FormatValue, text: string): Optional {
  const errors = format.errors(text);
  return optional(errors.length === 0 ? undefined : new List(errors));
}

function optional(value: Value | undefined): Optional {
  return value === undefined ? Optional.NONE : new Optional(value);
}

function uriErrors(text: string): string[] {
  try {
    ServerUrl.parseRequest(text);
    return [];
  } catch (error) {
    if (error instanceof SyntaxError) return [error.message];
    throw error;
  }
}

function errorUnless(isValid: (text: string) => boolean, error: string): (text: string) => string[] {
  return (text) => isValid(text) ? [] : [error];
}
