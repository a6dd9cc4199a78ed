/**
 * Type checking: finds the type of each node and the overloads that each call may use (cel-go,
 * checker/checker.go). The results are stored in the nodes.
 */
import type { FunctionDeclaration, Overload } from "./function.ts";
import type { Constant } from "./library.ts";
import { typeOfValue } from "./runtime_type.ts";
import type { Issues } from "./source.ts";
import { mostGeneral, Substitution } from "./substitution.ts";
import {
  type Call,
  childrenOf,
  type Comprehension,
  type Expression,
  type Identifier,
  type ListLiteral,
  type MapLiteral,
  qualifiedName,
  type Select,
  type StructLiteral,
} from "./syntax_tree.ts";
import {
  BOOL,
  type CelType,
  DYN,
  ERROR,
  formatType,
  INT,
  isSameType,
  listOf,
  mapOf,
  optionalOf,
  parameter,
  STRING,
  typeName,
  withParts,
} from "./type.ts";
import type { Value } from "./value.ts";

// The API server treats these types as messages without fields; a map would have any field
// (k8s.io/apiserver, pkg/cel/types.go, `findScalar`).
const SCALARS: ReadonlySet<string> = new Set(["bool", "bytes", "double", "int", "list", "string", "uint"]);

/** The declarations that names resolve to. */
export interface Declarations {
  readonly functions: ReadonlyMap<string, FunctionDeclaration>;
  readonly constants: ReadonlyMap<string, Constant>;
  readonly variables: ReadonlyMap<string, CelType>;
}

/**
 * Checks an expression and sets the types of its nodes.
 *
 * @param root The expression.
 * @param declarations The declarations that its names resolve to.
 * @param issues Receives the type errors.
 */
export function check(root: Expression, declarations: Declarations, issues: Issues): void {
  new Checker(declarations, issues).run(root);
}

/** Loop variables, innermost scope first. */
interface Scope {
  readonly names: ReadonlyMap<string, CelType>;
  readonly outer: Scope | undefined;
}

class Checker {
  readonly #types = new Substitution();
  #scope: Scope | undefined;
  #parameters = 0;

  constructor(readonly declarations: Declarations, readonly issues: Issues) {}

  run(root: Expression): void {
    this.#check(root);
    if (this.issues.size === 0) this.#resolveTypes(root);
  }

  #resolveTypes(node: Expression): void {
    node.type = this.#types.resolve(node.type);
    for (const child of childrenOf(node)) this.#resolveTypes(child);
  }

  #check(node: Expression): CelType {
    return node.type = this.#typeOf(node);
  }

  #typeOf(node: Expression): CelType {
    switch (node.kind) {
      case "literal":
        return typeOfValue(node.value);
      case "identifier":
        return this.#identifier(node);
      case "select":
        return this.#select(node);
      case "call":
        return this.#call(node);
      case "list":
        return this.#list(node);
      case "map":
        return this.#map(node);
      case "struct":
        return this.#struct(node);
      case "comprehension":
        return this.#comprehension(node);
      case "broken":
        return ERROR;
    }
  }

  #identifier(node: Identifier): CelType {
    const found = this.#lookUp(node.name);
    if (found === undefined) return this.#undeclared(node, node.name);
    node.name = found.name;
    if (found.constant !== undefined) node.constant = found.constant;
    return found.type;
  }

  #select(node: Select): CelType {
    const name = qualifiedName(node);
    const found = name === undefined ? undefined : this.#lookUp(name);
    if (found !== undefined) {
      node.name = found.name;
      if (found.constant !== undefined) node.constant = found.constant;
      return found.type;
    }
    const type = this.#field(node, node.operand, node.field, false);
    return node.isTest ? BOOL : this.#types.apply(type);
  }

  #field(node: Expression, operand: Expression, field: string, isOptional: boolean): CelType {
    const type = this.#types.apply(this.#check(operand));
    const target = type.kind === "optional" ? type.of : type;
    const result = this.#fieldOf(target, node, field);
    return type.kind === "optional" || isOptional ? optionalOf(result) : result;
  }

  #fieldOf(target: CelType, node: Expression, field: string): CelType {
    switch (target.kind) {
      case "map":
        return target.value;
      case "object": {
        const type = target.field(field);
        if (type === undefined) this.issues.add(node.offset, `undefined field '${field}'`);
        return type ?? ERROR;
      }
      case "parameter":
        this.#types.isAssignable(DYN, target);
        return DYN;
      case "dyn":
      case "error":
        return DYN;
      case "opaque":
        // cel-go treats Kubernetes' own types as messages and fails to resolve them.
        if (!target.name.startsWith("kubernetes.")) break;
        this.issues.add(node.offset, `unexpected failed resolution of '${target.name}'`);
        return ERROR;
    }
    this.issues.add(node.offset, `type '${formatType(target)}' does not support field selection`);
    return DYN;
  }

  #call(node: Call): CelType {
    if (node.name === "_?._") return this.#optionalSelect(node);
    for (const operand of node.operands) this.#check(operand);
    const { target } = node;
    if (target === undefined) return this.#callOf(node, node.name);
    const prefix = qualifiedName(target);
    const name = prefix === undefined ? undefined : `${prefix}.${node.name}`;
    if (name !== undefined && this.#function(name) !== undefined) {
      node.target = undefined;
      return this.#callOf(node, name);
    }
    this.#check(target);
    return this.#callOf(node, node.name);
  }

  #callOf(node: Call, name: string): CelType {
    const declared = this.#function(name);
    if (declared === undefined) return this.#undeclared(node, name);
    node.name = declared.name;
    return this.#resolveOverloads(node, declared);
  }

  #optionalSelect(node: Call): CelType {
    const [operand, field] = node.operands;
    const name = field?.kind === "literal" ? field.value : undefined;
    field!.type = STRING;
    node.overloads = this.#function(node.name)?.overloads ?? [];
    return this.#types.apply(this.#field(node, operand!, String(name), true));
  }

  #resolveOverloads(node: Call, declared: FunctionDeclaration): CelType {
    const { target } = node;
    const operandTypes = (target === undefined ? node.operands : [target, ...node.operands]).map((operand) =>
      operand.type
    );
    if (declared.name === "_&&_" || declared.name === "_||_") return this.#logical(node, declared);
    const matching: Overload[] = [];
    let result: CelType | undefined;
    for (const overload of declared.overloads) {
      if (overload.isMember !== (target !== undefined)) continue;
      const { parameters, result: declaredResult } = this.#instantiate(overload);
      if (!this.#types.areAssignable(operandTypes, parameters)) continue;
      matching.push(overload);
      const type = this.#types.apply(declaredResult);
      if (result === undefined) result = type;
      else if (result.kind !== "dyn" && !isSameType(type, result)) result = DYN;
    }
    if (result === undefined) {
      const types = operandTypes.map((type) => formatType(this.#types.resolve(type)));
      const receiver = target === undefined ? "" : `${types.shift()}.`;
      this.issues.add(
        node.offset,
        `found no matching overload for '${declared.name}' applied to '${receiver}(${types.join(", ")})'`,
      );
      return ERROR;
    }
    node.overloads = matching;
    return result;
  }

  #logical(node: Call, declared: FunctionDeclaration): CelType {
    let areBooleans = true;
    for (const operand of node.operands) {
      if (this.#types.isAssignable(operand.type, BOOL)) continue;
      this.#mismatch(operand, BOOL, operand.type);
      areBooleans = false;
    }
    if (!areBooleans) return ERROR;
    node.overloads = declared.overloads;
    return BOOL;
  }

  #list(node: ListLiteral): CelType {
    let items: CelType | undefined;
    for (const [i, item] of node.items.entries()) {
      const type = this.#check(item);
      items = this.#join(items, node.optionals.includes(i) ? this.#typeInOptional(item, type) : type);
    }
    return listOf(items ?? this.#freshParameter());
  }

  #map(node: MapLiteral): CelType {
    let keys: CelType | undefined;
    let values: CelType | undefined;
    for (const { key, value, isOptional } of node.entries) {
      keys = this.#join(keys, this.#check(key));
      const type = this.#check(value);
      values = this.#join(values, isOptional ? this.#typeInOptional(value, type) : type);
    }
    return mapOf(keys ?? this.#freshParameter(), values ?? this.#freshParameter());
  }

  /**
   * Reports an error for the type and for each field: messages cannot be constructed in Kubernetes.
   */
  #struct(node: StructLiteral): CelType {
    const found = this.#lookUp(node.name);
    if (found === undefined) return this.#undeclared(node, node.name);
    const { type } = found;
    const message = type.kind === "type"
      ? `'${typeName(type.of ?? type)}' is not a message type`
      : `'${typeName(type)}' is not a type`;
    this.issues.add(node.offset, message);
    for (const field of node.fields) {
      this.#check(field.value);
      if (found.name === "map") continue;
      const isScalar = SCALARS.has(found.name);
      this.issues.add(
        field.offset,
        isScalar ? `undefined field '${field.name}'` : `unexpected failed resolution of '${found.name}'`,
      );
    }
    return ERROR;
  }

  #comprehension(node: Comprehension): CelType {
    this.#check(node.range);
    this.#check(node.initial);
    const range = this.#types.apply(node.range.type);
    const accumulatorType = node.initial.type;
    const outer = this.#scope;
    const accumulatorScope: Scope = { names: new Map([[node.accumulator, accumulatorType]]), outer };
    const [first, second] = this.#variableTypes(range, node);
    const names = new Map([[node.variable, first]]);
    if (node.variable2 !== undefined) names.set(node.variable2, second);
    this.#scope = { names, outer: accumulatorScope };
    this.#check(node.condition);
    this.#assert(node.condition, BOOL);
    this.#check(node.step);
    this.#assert(node.step, accumulatorType);
    this.#scope = accumulatorScope;
    const result = this.#check(node.result);
    this.#scope = outer;
    return this.#types.apply(result);
  }

  #variableTypes(range: CelType, node: Comprehension): readonly [CelType, CelType] {
    switch (range.kind) {
      case "list":
        return node.variable2 === undefined ? [range.items, DYN] : [INT, range.items];
      case "map":
        return [range.key, range.value];
      case "dyn":
      case "error":
      case "parameter":
        this.#types.isAssignable(DYN, range);
        return [DYN, DYN];
      default:
        this.issues.add(
          node.range.offset,
          `expression of type '${
            formatType(range)
          }' cannot be range of a comprehension (must be list, map, or dynamic)`,
        );
        return [ERROR, ERROR];
    }
  }

  /** Joins the types of two entries. `validators.ts` reports entries of mixed types later. */
  #join(before: CelType | undefined, type: CelType): CelType {
    if (before === undefined) return type;
    return this.#types.isAssignable(before, type) ? mostGeneral(before, type) : DYN;
  }

  #typeInOptional(node: Expression, type: CelType): CelType {
    if (type.kind === "optional") return type.of;
    if (type.kind !== "dyn") this.#mismatch(node, optionalOf(type), type);
    return type;
  }

  #assert(node: Expression, wanted: CelType): void {
    if (!this.#types.isAssignable(wanted, node.type)) this.#mismatch(node, wanted, node.type);
  }

  #mismatch(node: Expression, wanted: CelType, found: CelType): void {
    this.issues.add(node.offset, `expected type '${formatType(wanted)}' but found '${formatType(found)}'`);
  }

  #undeclared(node: Expression, name: string): CelType {
    this.issues.add(node.offset, `undeclared reference to '${name}' (in container '')`);
    return ERROR;
  }

  #lookUp(identifier: string): Resolved | undefined {
    const name = withoutLeadingDot(identifier);
    for (let scope = this.#scope; scope !== undefined; scope = scope.outer) {
      const type = scope.names.get(name);
      if (type !== undefined) return { name, type };
    }
    const variable = this.declarations.variables.get(name);
    if (variable !== undefined) return { name, type: variable };
    const constant = this.declarations.constants.get(name);
    return constant && { name, type: constant.type, constant: constant.value };
  }

  #function(identifier: string): FunctionDeclaration | undefined {
    return this.declarations.functions.get(withoutLeadingDot(identifier));
  }

  #freshParameter(): CelType {
    return parameter(`_var${this.#parameters++}`);
  }

  /** Returns the overload with fresh type parameters. */
  #instantiate(overload: Overload): { readonly parameters: readonly CelType[]; readonly result: CelType } {
    const fresh = new Map<string, CelType>();
    const replace = (type: CelType): CelType => {
      if (type.kind !== "parameter") return withParts(type, replace);
      const known = fresh.get(type.name);
      if (known !== undefined) return known;
      const created = this.#freshParameter();
      fresh.set(type.name, created);
      return created;
    };
    return { result: replace(overload.result), parameters: overload.parameters.map(replace) };
  }
}

interface Resolved {
  readonly name: string;
  readonly type: CelType;
  readonly constant?: Value;
}

function withoutLeadingDot(name: string): string {
  return name.startsWith(".") ? name.slice(1) : name;
}
