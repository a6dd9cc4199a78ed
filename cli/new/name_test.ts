import assert from "node:assert/strict";
import { checkName } from "./name.ts";

const VALID = ["a", "shop", "website-operator", "s3", "a".repeat(46)];

const INVALID = [
  { given: "", message: /the name is empty\. Use a name such as "website-operator"\.$/ },
  { given: "Shop", message: /\(RFC 1123\)\. Use a name such as "shop"\.$/ },
  { given: "WebShop", message: /Use a name such as "web-shop"\.$/ },
  { given: "web_shop", message: /Use a name such as "web-shop"\.$/ },
  { given: "web.shop", message: /Use a name such as "web-shop"\.$/ },
  { given: "../shop", message: /Use a name such as "shop"\.$/ },
  { given: "3d", message: /must begin with a letter\. Use a name such as "d"\.$/ },
  { given: "-shop", message: /must begin with a letter\. Use a name such as "shop"\.$/ },
  { given: "shop-", message: /must not end with a dash\. Use a name such as "shop"\.$/ },
  { given: "商店", message: /Use a name such as "website-operator"\.$/ },
  { given: "a".repeat(47), message: /it has 47 characters, but at most 46 fit .*\. Use a name such as "a{46}"\.$/ },
];

Deno.test("checkName accepts labels that begin with a letter", () => {
  for (const name of VALID) checkName(name);
});

Deno.test("checkName rejects other names and suggests a valid one", () => {
  for (const { given, message } of INVALID) {
    assert.throws(() => checkName(given), (error: Error) => {
      assert.match(error.message, message, given);
      const suggestion = /such as "(.*)"\.$/.exec(error.message)?.[1];
      if (suggestion !== undefined) checkName(suggestion);
      return true;
    });
  }
});
