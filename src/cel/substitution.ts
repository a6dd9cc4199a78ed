/** Infers type parameters by comparing types (cel-go, checker/types.go). */
import { type CelType, DYN, formatType, isSameType, listOf, mapOf, optionalOf, partsOf, typeName } from "./type.ts";

/** The types that were inferred for type parameters. A failed comparison changes none of them. */
export class Substitution {
  readonly #inferred = new Map<string, CelType>();
  /** The changes, newest last, with the previous types. */
  readonly #changes: { readonly name: string; readonly before: CelType | undefined }[] = [];

  /** Returns whether a value of type `a` can be used as `b`, and infers type parameters from it. */
  isAssignable(a: CelType, b: CelType): boolean {
    return this.#attempt(() => this.#assignable(a, b));
  }

  /** Like {@linkcode Substitution.isAssignable} for two lists of types, pair by pair. */
  areAssignable(a: readonly CelType[], b: readonly CelType[]): boolean {
    return this.#attempt(() => this.#allAssignable(a, b));
  }

  /** Replaces the type parameters of a type by the inferred types. */
  apply(type: CelType): CelType {
    return this.#replace(type, false);
  }

  /** Replaces the type parameters of a type by the inferred types, or by `dyn` if unknown. */
  resolve(type: CelType): CelType {
    return this.#replace(type, true);
  }

  #attempt(comparison: () => boolean): boolean {
    const start = this.#changes.length;
    if (comparison()) return true;
    while (this.#changes.length > start) {
      const { name, before } = this.#changes.pop()!;
      if (before === undefined) this.#inferred.delete(name);
      else this.#inferred.set(name, before);
    }
    return false;
  }

  #set(parameter: CelType, type: CelType): void {
    const name = formatType(parameter);
    this.#changes.push({ name, before: this.#inferred.get(name) });
    this.#inferred.set(name, type);
  }

  #find(type: CelType): CelType | undefined {
    return type.kind === "parameter" ? this.#inferred.get(type.name) : undefined;
  }

  #assignable(a: CelType, b: CelType): boolean {
    if (b.kind === "parameter") {
      const inference = this.#infer(a, b);
      if (inference !== "recursive") return inference === "ok";
    }
    if (a.kind === "parameter") return this.#infer(b, a) === "ok";
    if (matchesAnyType(a) || matchesAnyType(b)) return true;
    if (a.kind === "null") return isNullable(b);
    if (b.kind === "null") return isNullable(a);
    if (a.kind === "type") return b.kind === "type";
    if (a.kind !== b.kind || typeName(a) !== typeName(b)) return false;
    return this.#allAssignable(partsOf(a), partsOf(b));
  }

  #allAssignable(a: readonly CelType[], b: readonly CelType[]): boolean {
    return a.length === b.length && a.every((type, i) => this.#assignable(type, b[i]!));
  }

  /**
   * Infers a type for a parameter. Fails with `conflict` if the type is not assignable to one that
   * was inferred before, and with `recursive` if the type contains the parameter.
   */
  #infer(type: CelType, parameter: CelType): "ok" | "conflict" | "recursive" {
    if (isSameType(type, parameter)) return "ok";
    const known = this.#find(parameter);
    if (known !== undefined) {
      if (isSameType(type, known)) return "ok";
      if (!this.#assignable(type, known)) return "conflict";
      const wider = mostGeneral(type, known);
      if (this.#isFree(parameter, wider)) this.#set(parameter, wider);
      return "ok";
    }
    if (!this.#isFree(parameter, type)) return "recursive";
    this.#set(parameter, type);
    return "ok";
  }

  /** Returns whether a type does not contain a parameter. */
  #isFree(parameter: CelType, within: CelType): boolean {
    if (isSameType(parameter, within)) return false;
    const known = this.#find(within);
    if (known !== undefined) return this.#isFree(parameter, known);
    return partsOf(within).every((part) => this.#isFree(parameter, part));
  }

  #replace(type: CelType, isFinal: boolean): CelType {
    const known = this.#find(type);
    if (known !== undefined) return this.#replace(known, isFinal);
    switch (type.kind) {
      case "parameter":
        return isFinal ? DYN : type;
      case "list":
        return listOf(this.#replace(type.items, isFinal));
      case "map":
        return mapOf(this.#replace(type.key, isFinal), this.#replace(type.value, isFinal));
      case "optional":
        return optionalOf(this.#replace(type.of, isFinal));
      case "type":
        return type.of === undefined ? type : { kind: "type", of: this.#replace(type.of, isFinal) };
      default:
        return type;
    }
  }
}

/** Returns the more general of two compatible types. */
export function mostGeneral(a: CelType, b: CelType): CelType {
  return isAsGeneral(a, b) ? a : b;
}

function isAsGeneral(a: CelType, b: CelType): boolean {
  if (a.kind === "dyn" || a.kind === "parameter") return true;
  if (b.kind === "dyn" || b.kind === "parameter" || a.kind !== b.kind) return false;
  if (a.kind === "type") return true;
  const [ofA, ofB] = [partsOf(a), partsOf(b)];
  return typeName(a) === typeName(b) && ofA.length === ofB.length && ofA.every((part, i) => isAsGeneral(part, ofB[i]!));
}

function matchesAnyType(type: CelType): boolean {
  return type.kind === "dyn" || type.kind === "error";
}

function isNullable(type: CelType): boolean {
  return ["null", "optional", "opaque", "object", "duration", "timestamp"].includes(type.kind);
}
