/**
 * Checks the objects that a controller reconciles against their types. API servers return objects
 * that were stored under an earlier schema unchanged, so a required field may be missing, or a
 * value may have another type.
 *
 * Only required fields and types are checked. Bounds, patterns and rules are not part of the types,
 * and API servers tolerate old values that violate them.
 */
import { isObject } from "../base/json.ts";
import type { ObjectKey } from "../watch/key.ts";
import { keyOf } from "../watch/key.ts";
import type { InformerCache } from "../watch/informer_cache.ts";
import { PermanentError } from "../parts/outcome.ts";
import type { AnyKind, KubeObject } from "../resource/kind.ts";
import type { JsonSchema } from "../schema/json_schema.ts";

/**
 * Thrown inside the runtime for an object that does not match the type of its kind, so it is not
 * reconciled.
 */
export class InvalidObjectError extends PermanentError {
  override name = "InvalidObjectError";
  override readonly code = "InvalidObject";

  /**
   * @param message What is wrong.
   * @param isKnown Whether it was reported before and has not changed since.
   */
  constructor(message: string, readonly isKnown: boolean) {
    super(message);
  }
}

/** Checks the objects of a controller's kind. Each version of an object is checked once. */
export class ObjectShape {
  readonly #check: Check | undefined;
  readonly #kindName: string;
  /**
   * Valid objects. An informer replaces an object when it changes, so an entry never becomes stale.
   */
  readonly #valid = new WeakSet<KubeObject>();
  /** Reported errors of invalid objects. */
  readonly #reported = new Map<ObjectKey, string>();

  /**
   * @param kind The controller's kind. The objects of built-in kinds have no schema here, so all of
   * them are valid.
   * @param cache The informer cache of the kind. When it drops an object, the object's reported
   * errors are removed.
   */
  constructor(kind: AnyKind, cache: InformerCache) {
    this.#check = checkOf(kind);
    this.#kindName = `${kind.kind} of ${kind.apiVersion}`;
    cache.listen(({ before, after }) => {
      if (after === undefined && this.#reported.size > 0) this.#reported.delete(keyOf(before!.metadata));
    });
  }

  /**
   * Throws if an object must not be reconciled.
   *
   * @param object The object.
   * @throws {InvalidObjectError} If a required field is missing, or a value is of the wrong type.
   */
  checkValid(object: KubeObject): void {
    if (this.#check === undefined || this.#valid.has(object)) return;
    const errors = new SchemaErrors();
    this.#check(object, errors);
    const key = keyOf(object.metadata);
    if (errors.count === 0) {
      this.#valid.add(object);
      this.#reported.delete(key);
      return;
    }
    const message = `The object is not a valid ${this.#kindName}: ${errors}. Correct the object: ` +
      "it is reconciled again when it changes.";
    // An object that was deleted and created again is another object.
    const report = `${object.metadata.uid} ${message}`;
    const isKnown = this.#reported.get(key) === report;
    this.#reported.set(key, report);
    throw new InvalidObjectError(message, isKnown);
  }
}

/** Checks a value and adds its errors. */
type Check = (value: unknown, errors: SchemaErrors) => void;

// An invalid status must not prevent the operator from writing a new one.
const UNCHECKED: readonly string[] = ["apiVersion", "kind", "metadata", "status"];

function checkOf({ version, crd }: AnyKind): Check | undefined {
  const schema = crd?.spec.versions.find(({ name }) => name === version)?.schema.openAPIV3Schema;
  if (schema === undefined) return undefined;
  const isChecked = (name: string): boolean => !UNCHECKED.includes(name);
  const properties = Object.entries(schema.properties ?? {}).filter(([name]) => isChecked(name));
  return objectCheck(schema.required?.filter(isChecked) ?? [], properties, undefined);
}

/** Compiles a schema to a check. Returns `undefined` if the schema accepts any value. */
function compiled(schema: JsonSchema): Check | undefined {
  const check = ofType(schema);
  if (check === undefined || schema.nullable !== true) return check;
  return (value, errors) => {
    if (value !== null) check(value, errors);
  };
}

function ofType(schema: JsonSchema): Check | undefined {
  if (schema["x-kubernetes-int-or-string"] === true) {
    return scalar("an integer or a string", (value) => typeof value === "string" || Number.isInteger(value));
  }
  const { type, items, additionalProperties } = schema;
  switch (type) {
    case "string":
      return scalar("a string", (value) => typeof value === "string");
    case "boolean":
      return scalar("a boolean", (value) => typeof value === "boolean");
    case "number":
      return scalar("a number", (value) => typeof value === "number");
    case "integer":
      return scalar("an integer", Number.isInteger);
    case "array":
      return listCheck(items === undefined ? undefined : compiled(items));
    case "object":
      return objectCheck(
        schema.required ?? [],
        Object.entries(schema.properties ?? {}),
        isObject(additionalProperties) ? compiled(additionalProperties) : undefined,
      );
    default:
      return undefined;
  }
}

function scalar(expected: string, is: (value: unknown) => boolean): Check {
  return (value, errors) => {
    if (!is(value)) errors.wrongType(expected, value);
  };
}

function listCheck(item: Check | undefined): Check {
  return (value, errors) => {
    if (!Array.isArray(value)) return errors.wrongType("a list", value);
    if (item === undefined) return;
    for (let i = 0; i < value.length; i++) {
      errors.enter(i);
      item(value[i], errors);
      errors.leave();
    }
  };
}

function objectCheck(
  required: readonly string[],
  properties: readonly (readonly [string, JsonSchema])[],
  rest: Check | undefined,
): Check {
  const checks = new Map(properties.map(([name, schema]) => [name, compiled(schema)]));
  return (value, errors) => {
    if (!isObject(value)) return errors.wrongType("an object", value);
    for (const name of required) {
      if (!Object.hasOwn(value, name)) errors.missing(name);
    }
    // Iterates over the object's fields: schemas such as a Pod's have far more properties than
    // objects.
    for (const name of Object.keys(value)) {
      const check = checks.has(name) ? checks.get(name) : rest;
      if (check === undefined) continue;
      errors.enter(name);
      check(value[name], errors);
      errors.leave();
    }
  };
}

// Maximum number of errors in a message. For further errors, the message has their number.
const MAX_ERRORS = 5;

/** Collects the errors of an object, with the path of the value that is being checked. */
class SchemaErrors {
  count = 0;
  readonly #errors: string[] = [];
  readonly #path: (string | number)[] = [];

  enter(step: string | number): void {
    this.#path.push(step);
  }

  leave(): void {
    this.#path.pop();
  }

  missing(name: string): void {
    this.#add([...this.#path, name], "is required and missing");
  }

  wrongType(expected: string, value: unknown): void {
    this.#add(this.#path, `must be ${expected}, not ${typeOf(value)}`);
  }

  /** Adds an error. Values are not quoted, because they may be secret. */
  #add(path: readonly (string | number)[], error: string): void {
    if (++this.count <= MAX_ERRORS) this.#errors.push(`${printPath(path)} ${error}`);
  }

  toString(): string {
    const more = this.count > MAX_ERRORS ? `, and ${this.count - MAX_ERRORS} more` : "";
    return `${this.#errors.join(", ")}${more}`;
  }
}

function printPath(path: readonly (string | number)[]): string {
  return path.map((step, i) => {
    if (typeof step === "number") return `[${step}]`;
    if (!/^[A-Za-z_][\w-]*$/.test(step)) return `[${JSON.stringify(step)}]`;
    return i === 0 ? step : `.${step}`;
  }).join("");
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "number" && !Number.isInteger(value)) return "a fraction";
  return {
    object: "an object",
    string: "a string",
    boolean: "a boolean",
    number: "a number",
  }[typeof value as string] ??
    typeof value;
}
