import assert from "node:assert/strict";
import { checkName } from "./name.ts";

const GOOD = ["a", "shop", "website-operator", "s3", "a".repeat(46)];

const BAD = [
  { given: "", says: /the name is empty\. Use a name such as "website-operator"\.$/ },
  { given: "Shop", says: /\(RFC 1123\)\. Use a name such as "shop"\.$/ },
  { given: "WebShop", says: /Use a name such as "web-shop"\.$/ },
  { given: "web_shop", says: /Use a name such as "web-shop"\.$/ },
  { given: "web.shop", says: /Use a name such as "web-shop"\.$/ },
  { given: "../shop", says: /Use a name such as "shop"\.$/ },
  { given: "3d", says: /must begin with a letter\. Use a name such as "d"\.$/ },
  { given: "-shop", says: /must begin with a letter\. Use a name such as "shop"\.$/ },
  { given: "shop-", says: /must not end with a dash\. Use a name such as "shop"\.$/ },
  { given: "商店", says: /Use a name such as "website-operator"\.$/ },
  { given: "a".repeat(47), says: /it has 47 characters, but at most 46 fit .*\. Use a name such as "a{46}"\.$/ },
];

Deno.test("checkName accepts labels that begin with a letter", () => {
  for (const name of GOOD) checkName(name);
});

Deno.test("checkName rejects other names and suggests a valid one", () => {
  for (const { given, says } of BAD) {
    assert.throws(() => checkName(given), (error: Error) => {
      assert.match(error.message, says, given);
      const suggestion = /such as "(.*)"\.$/.exec(error.message)?.[1];
      if (suggestion !== undefined) checkName(suggestion);
      return true;
    });
  }
});
