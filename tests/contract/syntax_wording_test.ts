import assert from "node:assert/strict";
import { withoutSyntaxWording } from "./syntax_wording.ts";

const REAL = `compilation failed: ERROR: <input>:1:1: reserved identifier: if
 | if 1
 | ^
ERROR: <input>:1:4: Syntax error: extraneous input '1' expecting <EOF>
 | if 1
 | ...^`;

Deno.test("withoutSyntaxWording keeps the place of the first syntax error", () => {
  const ours = `compilation failed: ERROR: <input>:1:4: Syntax error: unexpected number 1
 | if 1
 | ...^`;

  assert.equal(withoutSyntaxWording(REAL), "compilation failed: ERROR: <input>:1:4: Syntax error: <wording>");
  assert.equal(withoutSyntaxWording(ours), withoutSyntaxWording(REAL));
  assert.notEqual(withoutSyntaxWording(ours.replace("1:4", "1:5")), withoutSyntaxWording(REAL));
});

Deno.test("withoutSyntaxWording leaves other compile errors alone", () => {
  const message = "compilation failed: ERROR: <input>:1:1: undeclared reference to 'a' (in container '')\n | a\n | ^";

  assert.equal(withoutSyntaxWording(message), message);
});
