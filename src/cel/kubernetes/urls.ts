/** URLs (`k8s.io/apiserver/pkg/cel/library/urls.go`). */
import { ServerUrl } from "../../base/server_url.ts";
import { scaleRange, sizeRange } from "../cost.ts";
import type { FunctionDeclaration } from "../function.ts";
import type { Library } from "../library.ts";
import { EntryMap } from "../map_value.ts";
import { READING, TRAVERSAL } from "../traversal.ts";
import { BOOL, type CelType, listOf, mapOf, STRING } from "../type.ts";
import { CelError, List, OpaqueValue, type Value } from "../value.ts";
import { isParsable, parseOperand } from "./_parsing.ts";

const URL_TYPE: CelType = {
  kind: "opaque",
  name: "kubernetes.URL",
  estimateEquality: (_, size) => scaleRange({ min: 1, max: size?.max ?? 1 }, TRAVERSAL),
};

/** A URL as a value. */
export class UrlValue extends OpaqueValue {
  readonly type: CelType = URL_TYPE;
  override readonly goType = "cel.URL";

  constructor(readonly url: ServerUrl) {
    super();
  }

  equals(other: Value): boolean {
    if (!(other instanceof UrlValue)) throw new CelError("no such overload");
    return this.url.toString() === other.url.toString();
  }
}

/** The library: `url`, `isURL` and the parts of a URL. */
export const URLS: Library = {
  name: "kubernetes.urls",
  functions: [
    {
      name: "url",
      cost: READING.cost,
      overloads: [{
        id: "string_to_url",
        isMember: false,
        parameters: [STRING],
        result: URL_TYPE,
        call: (text) => parseUrl(text as string),
        estimate: ([text]) => ({ ...READING.estimate([text!]), resultSize: sizeRange(text!) }),
      }],
    },
    {
      name: "isURL",
      overloads: [{
        id: "is_url_string",
        isMember: false,
        parameters: [STRING],
        result: BOOL,
        call: (text) => isParsable(() => ServerUrl.parseRequest(text as string)),
      }],
    },
    part("getScheme", "scheme", ({ scheme }) => scheme),
    part("getHost", "host", ({ host }) => host),
    part("getHostname", "hostname", ({ hostname }) => hostname),
    part("getPort", "port", ({ port }) => port),
    part("getEscapedPath", "escaped_path", ({ escapedPath }) => escapedPath),
    {
      name: "getQuery",
      overloads: [{
        id: "url_get_query",
        isMember: true,
        parameters: [URL_TYPE],
        result: mapOf(STRING, listOf(STRING)),
        call: (value) => queryOf((value as UrlValue).url),
      }],
    },
  ],
};

function parseUrl(text: string): UrlValue {
  const read = () => {
    // The first call requires an absolute URL and treats `#` as part of the path; the second parses
    // the fragment.
    ServerUrl.parseRequest(text);
    return new UrlValue(ServerUrl.parse(text));
  };
  return parseOperand(read, (error) => `URL parse error during conversion from string: ${error}`);
}

function part(name: string, id: string, get: (url: ServerUrl) => string): FunctionDeclaration {
  const call = (value?: Value) => get((value as UrlValue).url).toWellFormed();
  return { name, overloads: [{ id: `url_get_${id}`, isMember: true, parameters: [URL_TYPE], result: STRING, call }] };
}

function queryOf(url: ServerUrl): EntryMap {
  const entries = [...url.query].map(([key, values]): [Value, Value] => [
    key.toWellFormed(),
    new List(values.map((value) => value.toWellFormed())),
  ]);
  return new EntryMap(entries);
}
