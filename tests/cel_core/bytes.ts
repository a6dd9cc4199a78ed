/** Expressions with bytes. */
import type { Case } from "../cel_libraries/case.ts";

/** Expressions with their results and costs. */
export const BYTES: readonly Case[] = [
  ["b'abc'", "bytes(616263)", 0],
  ["b'\\xff\\x00'", "bytes(ff00)", 0],
  ["b'é'", "bytes(c3a9)", 0],
  ["b'é'.size()", "2", 1],
  ["size(b'😀')", "4", 1],
  ["b'a' + b'b'", "bytes(6162)", 1],
  ["b'a' + 'b'", "compile error at 6: found no matching overload for '_+_' applied to '(bytes, string)'"],
  ["bytes('é')", "bytes(c3a9)", 0],
  ["bytes('')", "bytes()", 0],
  ["string(b'\\xc3\\xa9')", '"é"', 0],
  ["string(b'\\xff')", "no program: invalid UTF-8 in bytes, cannot convert to string"],
  ["b'a' == b'a'", "true", 1],
  ["b'a' != b'b'", "true", 1],
  ["b'a' in [b'a', b'b']", "true", 2],
  ["b'a'[0]", "compile error at 5: found no matching overload for '_[_]' applied to '(bytes, int)'"],
  ["dyn(b'a')[0]", "error: no such key: 0", 2],
  ["b'a'.contains(b'a')", "compile error at 14: found no matching overload for 'contains' applied to 'bytes.(bytes)'"],
  ["dyn(b'a').size()", "1", 1],
  [
    "rb'\\n'",
    "compile error at 3: Syntax error: unexpected string '\\n', expected an operator or the end of the expression",
  ],
  ['b"""x"""', "bytes(78)", 0],
  ["b'\\u0041'", "compile error at 1: unable to unescape string"],
  ["dyn(b'a') in {'a': 1}", "error: internal error: runtime error: hash of unhashable type types.Bytes", 0],
];
