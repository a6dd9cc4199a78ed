/**
 * URLs as API servers parse and print them (Go's `net/url`): the parser accepts more than a
 * browser, and does not normalize.
 *
 * Go's strings are bytes. Here, a byte from `%ff` that is not valid UTF-8 is encoded by `strayByte`
 * of quoted.ts.
 */
import { escape, isPlain, unescape, UrlError, type UrlPart } from "./url_escapes.ts";
import { IpAddress } from "./ip_address.ts";
import { quoted } from "./quoted.ts";

/** User name and password of a URL. */
interface User {
  readonly name: string;
  readonly password: string | undefined;
}

/** The parts of a URL. Path and fragment are stored both in their original form and unescaped. */
interface Parts {
  readonly scheme: string;
  /** The part after a scheme without a slash: `mailto:someone`. */
  readonly opaque: string;
  readonly user: User | undefined;
  readonly host: string;
  readonly path: Escaped;
  readonly query: string;
  readonly hasEmptyQuery: boolean;
  readonly fragment: Escaped;
  /** Whether the path follows the scheme directly: `file:/path`. */
  readonly hasNoHost: boolean;
}

interface Escaped {
  readonly text: string;
  readonly original: string;
}

const EMPTY: Escaped = { text: "", original: "" };
const MAX_PARAMETERS = 10_000;

/**
 * A URL.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const url = ServerUrl.parseRequest("https://example.com:80/a b?k=1&k=2");
 * assert.equal(url.port, "80");
 * assert.equal(url.escapedPath, "/a%20b");
 * assert.deepEqual(url.query.get("k"), ["1", "2"]);
 * assert.throws(() => ServerUrl.parseRequest("a"), {
 *   message: 'parse "a": invalid URI for request',
 * });
 * ```
 */
export class ServerUrl {
  readonly #parts: Parts;

  private constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Parses an absolute or relative URL (`url.Parse`).
   *
   * @param text The URL.
   * @throws {SyntaxError} If it is invalid; the message is Go's.
   */
  static parse(text: string): ServerUrl {
    const [front, fragment] = cut(text, "#");
    const parts = withParseErrors(front, () => parse(front, false));
    return new ServerUrl({ ...parts, fragment: withParseErrors(text, () => unescaped(fragment, "fragment")) });
  }

  /**
   * Parses an absolute URL or absolute path (`url.ParseRequestURI`). There is no fragment: `#` is
   * an ordinary character.
   *
   * @param text The URL.
   * @throws {SyntaxError} If it is invalid; the message is Go's.
   */
  static parseRequest(text: string): ServerUrl {
    return new ServerUrl(withParseErrors(text, () => parse(text, true)));
  }

  /** The scheme, such as `https`; empty if there is none. */
  get scheme(): string {
    return this.#parts.scheme;
  }

  /** Host and port as written: `[::1]:80`. */
  get host(): string {
    return this.#parts.host;
  }

  /** The host without port and brackets. */
  get hostname(): string {
    return splitHost(this.#parts.host)[0];
  }

  /** The port; empty if there is none. */
  get port(): string {
    return splitHost(this.#parts.host)[1];
  }

  /** The path with its escapes, as written if that is valid. */
  get escapedPath(): string {
    return escapedOf(this.#parts.path, "path");
  }

  /** The query parameters with all their values. Malformed ones are omitted. */
  get query(): ReadonlyMap<string, readonly string[]> {
    const parameters = this.#parts.query.split("&");
    const result = new Map<string, string[]>();
    if (parameters.length > MAX_PARAMETERS) return result;
    for (const parameter of parameters) {
      if (parameter === "" || parameter.includes(";")) continue;
      const [key, value] = cut(parameter, "=").map(queryText);
      if (key === undefined || value === undefined) continue;
      const values = result.get(key);
      if (values === undefined) result.set(key, [value]);
      else values.push(value);
    }
    return result;
  }

  /** Returns the URL as a string. */
  toString(): string {
    const { scheme, opaque, query, hasEmptyQuery, fragment } = this.#parts;
    const front = scheme === "" ? "" : `${scheme}:`;
    const middle = opaque === "" ? this.#hierarchy(front) : front + opaque;
    const search = hasEmptyQuery || query !== "" ? `?${query}` : "";
    return `${middle}${search}${fragment.text === "" ? "" : `#${escapedOf(fragment, "fragment")}`}`;
  }

  #hierarchy(front: string): string {
    const { scheme, user, host, path, hasNoHost } = this.#parts;
    let result = front;
    const hasAuthority = host !== "" || user !== undefined;
    if (hasAuthority || scheme !== "" && !hasNoHost && path.text !== "") result += "//";
    if (user !== undefined) result += `${userText(user)}@`;
    result += escape(host, "host");
    const written = this.escapedPath;
    if (written !== "" && !written.startsWith("/") && host !== "") result += "/";
    // Without the prefix, the first segment of the path would be parsed as a scheme.
    if (result === "" && cut(written, "/")[0].includes(":")) result = "./";
    return result + written;
  }
}

function withParseErrors<T>(text: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof UrlError) throw new SyntaxError(`parse ${quoted(text)}: ${error.message}`);
    throw error;
  }
}

function parse(text: string, isRequest: boolean): Parts {
  // deno-lint-ignore no-control-regex
  if (/[\x00-\x1f\x7f]/.test(text)) throw new UrlError("net/url: invalid control character in URL");
  if (text === "" && isRequest) throw new UrlError("empty url");
  if (text === "*") return parts({ path: { text: "*", original: "*" } });
  const [scheme, afterScheme] = splitScheme(text);
  const [rest, query, hasEmptyQuery] = splitQuery(afterScheme);
  const front = { scheme, query, hasEmptyQuery };
  if (!rest.startsWith("/")) {
    // A rootless path after a scheme is opaque (RFC 3986).
    if (scheme !== "") return parts({ ...front, opaque: rest });
    if (isRequest) throw new UrlError("invalid URI for request");
    if (cut(rest, "/")[0].includes(":")) throw new UrlError("first path segment in URL cannot contain colon");
  }
  const mayHaveHost = scheme !== "" || !isRequest && !rest.startsWith("///");
  if (!mayHaveHost || !rest.startsWith("//")) {
    return parts({ ...front, path: unescaped(rest, "path"), hasNoHost: scheme !== "" && rest.startsWith("/") });
  }
  const slash = rest.indexOf("/", 2);
  const [authority, path] = slash < 0 ? [rest.slice(2), ""] : [rest.slice(2, slash), rest.slice(slash)];
  return parts({ ...front, ...parseAuthority(scheme, authority), path: unescaped(path, "path") });
}

function parts(given: Partial<Parts>): Parts {
  return {
    scheme: "",
    opaque: "",
    user: undefined,
    host: "",
    path: EMPTY,
    query: "",
    hasEmptyQuery: false,
    fragment: EMPTY,
    hasNoHost: false,
    ...given,
  };
}

function splitScheme(text: string): [scheme: string, rest: string] {
  if (text.startsWith(":")) throw new UrlError("missing protocol scheme");
  const scheme = /^[a-zA-Z][a-zA-Z0-9+.-]*(?=:)/.exec(text)?.[0];
  return scheme === undefined ? ["", text] : [scheme.toLowerCase(), text.slice(scheme.length + 1)];
}

function splitQuery(text: string): [rest: string, query: string, hasEmptyQuery: boolean] {
  const [rest, query] = cut(text, "?");
  return [rest, query, query === "" && text.endsWith("?")];
}

function parseAuthority(scheme: string, authority: string): { user: User | undefined; host: string } {
  const at = authority.lastIndexOf("@");
  const host = parseHost(scheme, authority.slice(at + 1));
  if (at < 0) return { user: undefined, host };
  const user = authority.slice(0, at);
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user)) throw new UrlError("net/url: invalid userinfo");
  const [name, password] = cut(user, ":").map((part) => unescape(part, "user"));
  return { user: { name: name!, password: user.includes(":") ? password : undefined }, host };
}

function parseHost(scheme: string, host: string): string {
  const bracket = host.lastIndexOf("[");
  if (bracket > 0) throw new UrlError("invalid IP-literal");
  if (bracket === 0) return parseBracketed(host);
  const first = host.indexOf(":");
  if (first < 0) return unescape(host, "host");
  // URLs of databases may have several hosts with ports; HTTP URLs may not.
  checkPort(host.slice(scheme === "http" || scheme === "https" ? first : host.lastIndexOf(":")));
  return unescape(host, "host");
}

/** Parses an IPv6 address with an optional port: `[fe80::1%25eth0]:80`. */
function parseBracketed(host: string): string {
  const close = host.lastIndexOf("]");
  if (close < 0) throw new UrlError("missing ']' in host");
  const port = host.slice(close + 1);
  checkPort(port);
  const name = host.slice(1, close);
  const percent = name.indexOf("%25");
  const text = percent < 0
    ? unescape(name, "host")
    : unescape(name.slice(0, percent), "host") + unescape(name.slice(percent), "zone");
  if (addressIn(text).family === 4) throw new UrlError("invalid IP-literal");
  return `[${text}]${port}`;
}

function addressIn(text: string): IpAddress {
  try {
    return IpAddress.parse(text);
  } catch (error) {
    throw new UrlError(`invalid host: ${(error as SyntaxError).message}`);
  }
}

function checkPort(text: string): void {
  if (!/^(?::[0-9]*)?$/.test(text)) throw new UrlError(`invalid port ${quoted(text)} after host`);
}

function splitHost(host: string): [name: string, port: string] {
  const match = /:([0-9]*)$/.exec(host);
  const name = match === null ? host : host.slice(0, match.index);
  const isBracketed = name.startsWith("[") && name.endsWith("]");
  return [isBracketed ? name.slice(1, -1) : name, match?.[1] ?? ""];
}

function userText({ name, password }: User): string {
  return escape(name, "user") + (password === undefined ? "" : `:${escape(password, "user")}`);
}

function queryText(text: string): string | undefined {
  try {
    return unescape(text, "query");
  } catch (error) {
    if (error instanceof UrlError) return undefined;
    throw error;
  }
}

function unescaped(text: string, part: UrlPart): Escaped {
  return { text: unescape(text, part), original: text };
}

/** Returns the original form, unless it contains characters that must be escaped. */
function escapedOf({ text, original }: Escaped, part: UrlPart): string {
  const standard = escape(text, part);
  if (
    original !== standard && [...original].every((each) => "!$&'()*+,;=:@[]%".includes(each) || isPlain(each, part))
  ) {
    return original;
  }
  return part === "path" && text === "*" ? "*" : standard;
}

function cut(text: string, separator: string): [before: string, after: string] {
  const place = text.indexOf(separator);
  return place < 0 ? [text, ""] : [text.slice(0, place), text.slice(place + separator.length)];
}
