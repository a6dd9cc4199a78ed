import assert from "node:assert/strict";
import fc from "fast-check";
import { ServerUrl } from "./server_url.ts";

interface Parts {
  readonly scheme: string;
  readonly host: string;
  readonly hostname: string;
  readonly port: string;
  readonly escapedPath: string;
}

const EMPTY: Parts = { scheme: "", host: "", hostname: "", port: "", escapedPath: "" };

const read: readonly { given: string; expected: Partial<Parts>; text?: string }[] = [
  { given: "/path", expected: { escapedPath: "/path" } },
  { given: "*", expected: { escapedPath: "*" } },
  {
    given: "https://example.com/",
    expected: { scheme: "https", host: "example.com", hostname: "example.com", escapedPath: "/" },
  },
  {
    given: "HTTPS://user:p%40ss@Example.com:80/a",
    expected: { scheme: "https", host: "Example.com:80", hostname: "Example.com", port: "80", escapedPath: "/a" },
    text: "https://user:p%40ss@Example.com:80/a",
  },
  {
    given: "http://u@h:/",
    expected: { scheme: "http", host: "h:", hostname: "h", escapedPath: "/" },
  },
  {
    given: "http://[fe80::1%25eth0]:8080/",
    expected: { scheme: "http", host: "[fe80::1%eth0]:8080", hostname: "fe80::1%eth0", port: "8080", escapedPath: "/" },
    text: "http://[fe80::1%25eth0]:8080/",
  },
  {
    given: "mongodb://a:1,b:2/db",
    expected: { scheme: "mongodb", host: "a:1,b:2", hostname: "a:1,b", port: "2", escapedPath: "/db" },
  },
  {
    given: "http://ex%C3%A4mple/",
    expected: { scheme: "http", host: "exämple", hostname: "exämple", escapedPath: "/" },
  },
  { given: "mailto:someone@example.com", expected: { scheme: "mailto" } },
  { given: "file:///etc", expected: { scheme: "file", escapedPath: "/etc" } },
  { given: "file:/etc", expected: { scheme: "file", escapedPath: "/etc" } },
  { given: "http://h?", expected: { scheme: "http", host: "h", hostname: "h" } },
  { given: "/a b/ü", expected: { escapedPath: "/a%20b/%C3%BC" }, text: "/a%20b/%C3%BC" },
  { given: "/a%2fb/%41", expected: { escapedPath: "/a%2fb/%41" } },
  { given: "/[x]!'()*", expected: { escapedPath: "/[x]!'()*" } },
  { given: "/%ff", expected: { escapedPath: "/%ff" } },
  { given: "/a\\b|c", expected: { escapedPath: "/a%5Cb%7Cc" }, text: "/a%5Cb%7Cc" },
];

for (const { given, expected, text } of read) {
  Deno.test(`ServerUrl.parseRequest("${given}") returns its parts`, () => {
    const url = ServerUrl.parseRequest(given);
    const { scheme, host, hostname, port, escapedPath } = url;
    assert.deepEqual({ scheme, host, hostname, port, escapedPath }, { ...EMPTY, ...expected });
    assert.equal(url.toString(), text ?? given.replace("/ü", "/%C3%BC").replace("exämple", "ex%C3%A4mple"));
  });
}

const rejected: readonly (readonly [given: string, message: string])[] = [
  ["", "empty url"],
  ["a", "invalid URI for request"],
  ["../a", "invalid URI for request"],
  ["1http://a", "invalid URI for request"],
  [":a", "missing protocol scheme"],
  ["http://a/\n", "net/url: invalid control character in URL"],
  ["http://a b/", 'invalid character " " in host name'],
  ["http://a/%zz", 'invalid URL escape "%zz"'],
  ["http://a/%", 'invalid URL escape "%"'],
  ["http://a/%aé", 'invalid URL escape "%a\\xc3"'],
  ["http://a%41/", 'invalid URL escape "%41"'],
  ["http://a:b/", 'invalid port ":b" after host'],
  ["http://a:1:2/", 'invalid port ":1:2" after host'],
  ["http://[::1", "missing ']' in host"],
  ["http://[::1]x/", 'invalid port "x" after host'],
  ["http://a[::1]/", "invalid IP-literal"],
  ["http://[10.0.0.1]/", "invalid IP-literal"],
  ["http://[::g]/", 'invalid host: ParseAddr("::g"): each colon-separated field must have at least one digit (at "g")'],
  ["http://us er@a/", "net/url: invalid userinfo"],
  ["http://u%zz@a/", 'invalid URL escape "%zz"'],
];

for (const [given, message] of rejected) {
  Deno.test(`ServerUrl.parseRequest rejects ${JSON.stringify(given)}`, () => {
    assert.throws(() => ServerUrl.parseRequest(given), {
      name: "SyntaxError",
      message: `parse ${JSON.stringify(given)}: ${message}`,
    });
  });
}

Deno.test("ServerUrl.parse accepts relative URLs and splits off the fragment", () => {
  assert.equal(ServerUrl.parse("../a?b#c d").toString(), "../a?b#c%20d");
  assert.equal(ServerUrl.parse("//host/path").host, "host");
  assert.equal(ServerUrl.parse("./a:b").toString(), "./a:b");
  assert.equal(ServerUrl.parse("%2A").escapedPath, "*");
  assert.throws(() => ServerUrl.parse("a:b/c#%zz"), { message: 'parse "a:b/c#%zz": invalid URL escape "%zz"' });
  assert.throws(() => ServerUrl.parse("a b:c"), {
    message: 'parse "a b:c": first path segment in URL cannot contain colon',
  });
});

Deno.test("ServerUrl.query groups values by key and omits malformed parameters", () => {
  const { query } = ServerUrl.parse("/?k=1&k=2&a+b=c+d&x&=y&&%zz=1&a;b=1&p=%2B&e=%C3%A4&__proto__=z");
  assert.deepEqual([...query], [
    ["k", ["1", "2"]],
    ["a b", ["c d"]],
    ["x", [""]],
    ["", ["y"]],
    ["p", ["+"]],
    ["e", ["ä"]],
    ["__proto__", ["z"]],
  ]);
});

Deno.test("ServerUrl.query contains U+FFFD for an invalid UTF-8 byte after toWellFormed", () => {
  assert.equal(ServerUrl.parse("/?a=x%ff%c3").query.get("a")?.[0]?.toWellFormed(), "x\ufffd\ufffd");
});

Deno.test("ServerUrl.query returns at most 10,000 parameters", () => {
  assert.equal(ServerUrl.parse(`/?${"a&".repeat(9_999)}a`).query.get("a")?.length, 10_000);
  assert.equal(ServerUrl.parse(`/?${"a&".repeat(10_000)}a`).query.size, 0);
});

Deno.test("ServerUrl parses its own output to the same URL", () => {
  const piece = fc.constantFrom(
    "a",
    "/",
    ":",
    "@",
    "?",
    "#",
    "%41",
    "%2f",
    "%ff",
    "ä",
    " ",
    "[::1]",
    "=",
    "&",
    "..",
    "//",
  );
  const text = fc.array(piece, { maxLength: 10 }).map((pieces) => `https://${pieces.join("")}`);
  fc.assert(fc.property(text, (given) => {
    let once: string;
    try {
      once = ServerUrl.parse(given).toString();
    } catch (error) {
      assert(error instanceof SyntaxError);
      return;
    }
    assert.equal(ServerUrl.parse(once).toString(), once);
  }));
});
