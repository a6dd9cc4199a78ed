import assert from "node:assert/strict";
import { checkName } from "./name.ts";

const GOOD = ["a", "shop", "website-operator", "s3", "a".repeat(46)];

const BAD = [
  { given: "", says: /cannot be empty; use small letters/ },
  { given: "Shop", says: /\(RFC 1123\); try "shop"$/ },
  { given: "WebShop", says: /try "web-shop"$/ },
  { given: "web_shop", says: /try "web-shop"$/ },
  { given: "web.shop", says: /try "web-shop"$/ },
  { given: "../shop", says: /try "shop"$/ },
  { given: "3d", says: /must begin with a letter; try "d"$/ },
  { given: "-shop", says: /must begin with a letter; try "shop"$/ },
  { given: "shop-", says: /must not end with a dash; try "shop"$/ },
  { given: "商店", says: /use small letters, digits and dashes/ },
  { given: "a".repeat(47), says: /it has 47 characters, .* room for 46; try "a{46}"$/ },
];

Deno.test("checkName takes labels that begin with a letter", () => {
  for (const name of GOOD) checkName(name);
});

Deno.test("checkName refuses other names, and its suggestion is one it takes", () => {
  for (const { given, says } of BAD) {
    assert.throws(() => checkName(given), (error: Error) => {
      assert.match(error.message, says, given);
      const suggestion = /try "(.*)"$/.exec(error.message)?.[1];
      if (suggestion !== undefined) checkName(suggestion);
      return true;
    });
  }
});
