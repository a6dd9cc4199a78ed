/** Names of operators. */
import { UsageError } from "../exit_code.ts";

// An RFC 1123 label holds 63 characters; the operator's name is the name of a Deployment, whose pods get 17 more ("-" hash "-" suffix).
const LONGEST = 46;

/**
 * Checks an operator's name: a label as RFC 1123 has it that begins with a letter, since Services and Kubernetes' own tools want one there.
 *
 * @param name The name.
 * @throws {UsageError} If it is no such label. The message has one that is, where the name can be turned into one.
 */
export function checkName(name: string): void {
  const wrong = whatIsWrong(name);
  if (wrong === undefined) return;
  const better = suggestion(name);
  const wayOut = better === "" ? "use small letters, digits and dashes, such as website-operator" : `try "${better}"`;
  throw new UsageError(`Cannot name an operator "${name}": ${wrong}; ${wayOut}`);
}

function whatIsWrong(name: string): string | undefined {
  if (name === "") return "a name cannot be empty";
  if (!/^[a-z0-9-]+$/.test(name)) return "only small letters, digits and dashes are allowed in it (RFC 1123)";
  if (!/^[a-z]/.test(name)) return "it must begin with a letter";
  if (name.endsWith("-")) return "it must not end with a dash";
  if (name.length > LONGEST) {
    return `it has ${name.length} characters, and the names made from it leave room for ${LONGEST}`;
  }
  return undefined;
}

function suggestion(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, "$1-$2").toLowerCase()
    .replace(/[^a-z0-9]+/g, "-").replace(/^[^a-z]+/, "").slice(0, LONGEST).replace(/-+$/, "");
}
