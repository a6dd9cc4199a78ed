import assert from "node:assert/strict";
import { ServerTable } from "./_peer.ts";
import { HeaderWriter, readHeaders, type RequestHeaders } from "./hpack.ts";

const REQUEST: RequestHeaders = {
  method: "PATCH",
  authority: "kubernetes.default.svc:443",
  path: "/api/v1/namespaces/shop/configmaps/web",
  headers: { accept: "application/json", "x-custom": "one" },
  length: 17,
};

Deno.test("HeaderWriter writes a repeated header as one byte", () => {
  const writer = new HeaderWriter(4096);
  const first = writer.write(REQUEST).length;
  const second = writer.write(REQUEST);
  assert(first > 100, `${first}`);
  // Method, scheme, authority and two headers are indexed; path and length are not.
  assert.deepEqual(
    [...second],
    [0xc1, 0x87, 0xc0, 4, REQUEST.path.length, ...ascii(REQUEST.path), 0xbf, 0xbe, 0x0f, 13, 2, ...ascii("17")],
  );
});

Deno.test("a server can decode all blocks of HeaderWriter, whatever the size of its table", () => {
  for (const limit of [0, 60, 130, 200, 400, 4096]) {
    const writer = new HeaderWriter(limit);
    const server = new ServerTable(limit);
    for (let i = 0; i < 300; i++) {
      const headers = { accept: "a".repeat(i % 7 * 20), authorization: `token ${i % 5}`, "x-custom": `${i % 3}` };
      const method = ["GET", "POST", "PATCH", "DELETE"][i % 4]!;
      const length = i % 2 ? i : undefined;
      assert.deepEqual(server.read(writer.write({ ...REQUEST, method, headers, length })), [
        [":method", method],
        [":scheme", "https"],
        [":authority", REQUEST.authority],
        [":path", REQUEST.path],
        ...Object.entries(headers),
        ...(length === undefined ? [] : [["content-length", String(length)]]),
      ]);
    }
  }
});

Deno.test("HeaderWriter stops indexing when the server reduces its table, and announces it once", () => {
  const writer = new HeaderWriter(4096);
  const server = new ServerTable(4096);
  const first = server.read(writer.write(REQUEST));
  writer.resize(100);
  const block = writer.write(REQUEST).slice();
  assert.equal(block[0], 0x20);
  assert.deepEqual(server.read(block), first);
  assert.deepEqual(server.read(writer.write(REQUEST)), first);
  assert.deepEqual(server.sizes, [0]);
});

Deno.test("HeaderWriter never indexes the token, whatever the size of the table", () => {
  for (const limit of [0, 4096]) {
    const writer = new HeaderWriter(limit);
    const server = new ServerTable(limit);
    const headers = { authorization: "Bearer secret", accept: "application/json" };
    for (let i = 0; i < 3; i++) {
      const block = writer.write({ ...REQUEST, headers });
      // Entry 23 of the static table, as a literal that is never indexed (RFC 7541, 6.2.3).
      const at = String.fromCharCode(...block).indexOf("Bearer secret");
      assert.deepEqual([...block.subarray(at - 3, at)], [0x1f, 23 - 15, "Bearer secret".length]);
      assert.deepEqual(server.read(block).slice(4, 6), Object.entries(headers));
    }
  }
});

Deno.test("HeaderWriter writes the length of a string in bytes, not in characters", () => {
  const text = new TextDecoder().decode(new HeaderWriter(0).write({ ...REQUEST, path: "/ä€" }));
  assert(text.includes("\x06/ä€"));
});

const RESPONSES: [name: string, block: number[], expected: unknown][] = [
  ["an indexed status", [0x88], { status: 200, retryAfter: null }],
  ["an indexed status after a table size update", [0x3f, 0xe1, 0x1f, 0x8c], { status: 400, retryAfter: null }],
  ["a literal status", [0x08, 3, ...ascii("409")], { status: 409, retryAfter: null }],
  // RFC 7541, C.6.1: 302 in Huffman code.
  ["a status in Huffman code", [0x48, 0x82, 0x64, 0x02], { status: 302, retryAfter: null }],
  [
    "Retry-After with an indexed name",
    [0x08, 3, ...ascii("429"), 0x0f, 0x26, 1, ...ascii("7")],
    { status: 429, retryAfter: "7" },
  ],
  [
    "Retry-After with a literal name",
    [0x8e, 0, 11, ...ascii("retry-after"), 2, ...ascii("10")],
    { status: 500, retryAfter: "10" },
  ],
  [
    // RFC 7541, C.4.3: custom-key, custom-value.
    "unknown headers in Huffman code",
    [0x8d, 0x40, 0x88, 0x25, 0xa8, 0x49, 0xe9, 0x5b, 0xa9, 0x7d, 0x7f, 0x89, 0x25, 0xa8, 0x49, 0xe9]
      .concat(0x5b, 0xb8, 0xe8, 0xb4, 0xbf),
    { status: 404, retryAfter: null },
  ],
  ["a response with status 200, and ignores its Retry-After", [
    0x88,
    0,
    11,
    ...ascii("retry-after"),
    1,
    ...ascii("1"),
  ], {
    status: 200,
    retryAfter: null,
  }],
  ["trailers", [0x40, 1, ...ascii("a"), 1, ...ascii("b")], undefined],
];
for (const [name, block, expected] of RESPONSES) {
  Deno.test(`readHeaders reads ${name}`, () => {
    assert.deepEqual(readHeaders(Uint8Array.from(block)), expected);
  });
}

const BROKEN: [name: string, block: number[]][] = [
  ["a name of 17,000 bytes", [0x8d, 0, 127, 0xe9, 0x83, 1, ...ascii("a".repeat(17_000)), 0]],
  ["an entry of the dynamic table", [0xbe]],
  ["entry 0", [0x80]],
  ["a truncated string", [0x08, 3, 0x34]],
  ["a truncated number", [0xff]],
  ["a number without end", [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]],
  ["a truncated Huffman code", [0x08, 0x81, 0x60]],
  ["an end mark in a Huffman string", [0x08, 0x84, 0xff, 0xff, 0xff, 0xff]],
  ["a status with letters", [0x08, 3, ...ascii("abc")]],
  ["a status that Number() accepts", [0x08, 5, ...ascii("0xc8 ")]],
  ["a status with a space", [0x08, 4, ...ascii(" 200")]],
  ["a status of two digits", [0x08, 2, ...ascii("20")]],
  ["a status of 600", [0x08, 3, ...ascii("600")]],
  ["a second status", [0x88, 0x88]],
  ["a second literal status", [0x88, 0x08, 3, ...ascii("404")]],
  ["a second status with a literal name", [0x88, 0, 7, ...ascii(":status"), 3, ...ascii("404")]],
  ["a status after another header", [0x0f, 0x0d, 1, ...ascii("1"), 0x88]],
  ["an indexed pseudo-header of requests", [0x88, 0x82]],
  ["a pseudo-header of requests with an indexed name", [0x88, 0x04, 2, ...ascii("/x")]],
  ["a pseudo-header of requests with a literal name", [0x88, 0, 5, ...ascii(":path"), 2, ...ascii("/x")]],
  ["an unknown pseudo-header", [0x88, 0, 4, ...ascii(":foo"), 1, ...ascii("x")]],
  // ":path" in Huffman code: RFC 7541, appendix B.
  ["a pseudo-header of requests in Huffman code", [0x88, 0, 0x84, 0xb9, 0x58, 0xd3, 0x3f, 1, ...ascii("x")]],
];
for (const [name, block] of BROKEN) {
  Deno.test(`readHeaders rejects ${name}`, () => {
    assert.throws(() => readHeaders(Uint8Array.from(block)), { code: "Http2Protocol" });
  });
}

function ascii(text: string): number[] {
  return [...text].map((letter) => letter.charCodeAt(0));
}
