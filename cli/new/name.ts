/** Names of operators. */
import { UsageError } from "../exit_code.ts";

// An RFC 1123 label has at most 63 characters. The name is that of a Deployment, and the names of
// its pods have 17 more ("-HASH-SUFFIX").
const LONGEST = 46;

/**
 * Checks the name of an operator: an RFC 1123 label that begins with a letter, as Services require.
 *
 * @param name The name.
 * @throws {UsageError} If the name is not valid. The message suggests a similar one.
 */
export function checkName(name: string): void {
  const problem = problemOf(name);
  if (problem === undefined) return;
  const similar = suggestion(name) || "website-operator";
  throw new UsageError(`Cannot name an operator "${name}": ${problem}. Use a name such as "${similar}".`);
}

function problemOf(name: string): string | undefined {
  if (name === "") return "the name is empty";
  if (!/^[a-z0-9-]+$/.test(name)) return "only lowercase letters, digits and dashes are allowed (RFC 1123)";
  if (!/^[a-z]/.test(name)) return "it must begin with a letter";
  if (name.endsWith("-")) return "it must not end with a dash";
  if (name.length > LONGEST) {
    return `it has ${name.length} characters, but at most ${LONGEST} fit into the names of its pods`;
  }
  return undefined;
}

function suggestion(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, "$1-$2").toLowerCase()
    .replace(/[^a-z0-9]+/g, "-").replace(/^[^a-z]+/, "").slice(0, LONGEST).replace(/-+$/, "");
}
