/** Semantic versions (`k8s.io/apiserver/pkg/cel/library/semverlib.go`). */
import type { FunctionDeclaration, Overload } from "../function.ts";
import type { Library } from "../library.ts";
import { READING } from "../traversal.ts";
import { BOOL, type CelType, INT, opaque, STRING } from "../type.ts";
import { CelError, OpaqueValue, type Value } from "../value.ts";
import { isParsable, parseOperand } from "./_parsing.ts";
import { normalizeVersion, SemanticVersion } from "./_semantic_version.ts";

const SEMVER: CelType = opaque("kubernetes.Semver");

/** A version as a value. */
export class SemverValue extends OpaqueValue {
  readonly type: CelType = SEMVER;
  override readonly goType = "cel.Semver";

  constructor(readonly version: SemanticVersion) {
    super();
  }

  equals(other: Value): boolean {
    if (!(other instanceof SemverValue)) throw new CelError("no such overload");
    return this.version.compare(other.version) === 0;
  }
}

/** The library: `semver`, `isSemver`, comparisons and the parts of a version. */
export const SEMVERS: Library = {
  name: "kubernetes.Semver",
  functions: [
    parsingFunction(
      "semver",
      "string_to_semver",
      "string_bool_to_semver",
      SEMVER,
      (read) => new SemverValue(parseOperand(read)),
    ),
    parsingFunction("isSemver", "is_semver_string", "is_semver_string_bool", BOOL, isParsable),
    comparisonFunction("isGreaterThan", "is_greater_than", BOOL, (order) => order === 1),
    comparisonFunction("isLessThan", "is_less_than", BOOL, (order) => order === -1),
    comparisonFunction("compareTo", "compare_to", INT, (order) => BigInt(order)),
    // Numbers beyond 63 bits become negative, as on the server.
    part("major", ({ major }) => BigInt.asIntN(64, major)),
    part("minor", ({ minor }) => BigInt.asIntN(64, minor)),
    part("patch", ({ patch }) => BigInt.asIntN(64, patch)),
  ],
};

/** A function that parses a version. A second operand `true` normalizes it first. */
function parsingFunction(
  name: string,
  id: string,
  idNormalized: string,
  result: CelType,
  use: (read: () => SemanticVersion) => Value,
): FunctionDeclaration {
  const shape = { isMember: false, result, estimate: READING.estimate };
  return {
    name,
    cost: READING.cost,
    overloads: [
      { ...shape, id, parameters: [STRING], call: (text) => use(() => SemanticVersion.parse(text as string)) },
      {
        ...shape,
        id: idNormalized,
        parameters: [STRING, BOOL],
        call: (text, isNormalized) =>
          use(() => SemanticVersion.parse(isNormalized ? normalizeVersion(text as string) : text as string)),
      },
    ],
  };
}

function comparisonFunction(
  name: string,
  id: string,
  result: CelType,
  answer: (order: -1 | 0 | 1) => Value,
): FunctionDeclaration {
  const call: Overload["call"] = (a, b) => answer((a as SemverValue).version.compare((b as SemverValue).version));
  return { name, overloads: [{ id: `semver_${id}`, isMember: true, parameters: [SEMVER, SEMVER], result, call }] };
}

function part(name: string, get: (version: SemanticVersion) => bigint): FunctionDeclaration {
  const call: Overload["call"] = (value) => get((value as SemverValue).version);
  return { name, overloads: [{ id: `semver_${name}`, isMember: true, parameters: [SEMVER], result: INT, call }] };
}
