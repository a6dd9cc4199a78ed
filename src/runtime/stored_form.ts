/**
 * Compares values as they are applied with values as API servers store them. Built-in kinds are
 * structs in Go: a quantity is stored in canonical form, and empty or zero values may be dropped.
 * Without this module, an unchanged object would be applied again and again.
 */
import { equal, isObject } from "../base/json.ts";
import { own } from "../base/own.ts";
import { Quantity } from "../base/quantity.ts";
import { kinds, types } from "../openapi/stored_forms.gen.ts";
import type { KubeObject } from "../resource/kind.ts";

/**
 * The form in which API servers store a value:
 *
 * - `as sent`: unchanged, like all values of a custom kind. `false` differs from an omitted field.
 * - `value`: a value of a built-in kind. An empty list and `null` are dropped.
 * - `not zero`: like `value`, but `false`, 0 and "" are dropped too.
 * - `quantity`: in canonical form, so that "1000m" becomes "1".
 * - {@linkcode ObjectForm}, {@linkcode MapForm}: nested values have their own forms.
 *
 * The form of a list is the form of its items.
 */
export type StoredForm = "as sent" | "value" | "not zero" | "quantity" | ObjectForm | MapForm;

/** Form of an object: the forms of its fields. Other fields have the form `value`. */
interface ObjectForm {
  readonly fields: ReadonlyMap<string, StoredForm>;
}

/** Form of a map, which is dropped if it is empty: the form of its values. */
interface MapForm {
  readonly values: StoredForm;
}

/**
 * Returns the form in which API servers store the objects of a kind.
 *
 * @param object An object with `apiVersion` and `kind`.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const form = storedForm({ apiVersion: "v1", kind: "LimitRange" });
 * const max = ["spec", "limits", "max"].reduce(formInside, form);
 * assert(isSameValue({ cpu: "1000m" }, { cpu: "1" }, max));
 * ```
 */
export function storedForm({ apiVersion, kind }: Pick<KubeObject, "apiVersion" | "kind">): StoredForm {
  const type = kindTypes().get(`${apiVersion} ${kind}`);
  return type === undefined ? "as sent" : formOf(type);
}

/** The generated data, split when it is first used. It is constant, so it cannot become stale. */
const split: { kinds?: ReadonlyMap<string, string>; types?: readonly string[] } = {};

/** Returns the types of kinds, by `apiVersion` and kind with a space in between. */
function kindTypes(): ReadonlyMap<string, string> {
  return split.kinds ??= new Map(
    kinds.split("\n").flatMap((line) => {
      const [apiVersion, ...entries] = line.split(" ");
      return entries.map((entry) => {
        const [kind, type = ""] = entry.split("=");
        return [`${apiVersion} ${kind}`, type] as const;
      });
    }),
  );
}

/** Returns the fields of a type. */
function fieldsOf(type: string): string {
  return (split.types ??= types.split("\n"))[Number(type)] ?? "";
}

/**
 * Parsed forms by their text, which is a number for a type. Entries cannot become stale, since the
 * generated data is constant.
 */
const forms = new Map<string, StoredForm>([["q", "quantity"], ["=", "as sent"], ["", "value"]]);

/** Parses a form of the generated data. */
function formOf(text: string): StoredForm {
  const known = forms.get(text);
  if (known !== undefined) return known;
  if (text.startsWith("%")) {
    const form: StoredForm = { values: formOf(text.slice(1)) };
    forms.set(text, form);
    return form;
  }
  const form = new TypeForm(text);
  forms.set(text, form);
  return form;
}

/**
 * Form of a type, whose fields are parsed on demand: operators use few types, which may be
 * recursive.
 */
class TypeForm implements ObjectForm {
  /** Number of the type. */
  readonly #type: string;
  #fields: ReadonlyMap<string, StoredForm> | undefined;

  constructor(type: string) {
    this.#type = type;
  }

  get fields(): ReadonlyMap<string, StoredForm> {
    return this.#fields ??= new Map(
      fieldsOf(this.#type).split(" ").map((field) => {
        const end = field.indexOf("=");
        return end === -1 ? [field, "not zero"] : [field.slice(0, end), formOf(field.slice(end + 1))];
      }),
    );
  }
}

/**
 * Returns the form of a field of an object or of a value in a map.
 *
 * @param form Form of the object or map.
 * @param name Name of the field, or the key.
 */
export function formInside(form: StoredForm, name: string): StoredForm {
  if (typeof form === "string") return form === "as sent" ? form : "value";
  return "values" in form ? form.values : form.fields.get(name) ?? "value";
}

/**
 * Returns whether a value in the cluster equals an applied value, apart from the form in which it
 * is stored.
 *
 * @param wanted The applied value, which is owned as a whole.
 * @param live The value in the cluster.
 * @param form The form in which API servers store it.
 */
export function isSameValue(wanted: unknown, live: unknown, form: StoredForm): boolean {
  // The field is recorded as owned but missing, so the API server dropped it. If another client had
  // removed it, the record would be gone too.
  if (live === undefined) return wanted === undefined || isEmpty(wanted) || (form !== "as sent" && isZero(wanted));
  return isSameInside(wanted, live, form);
}

/** Like {@linkcode isSameValue}, for nested values, for which no ownership is recorded. */
function isSameInside(wanted: unknown, live: unknown, form: StoredForm): boolean {
  if (form === "as sent" || wanted === live) return equal(wanted, live);
  if (form === "quantity") return isSameQuantity(wanted, live);
  if (Array.isArray(wanted) && Array.isArray(live)) {
    return wanted.length === live.length && wanted.every((item, i) => isSameInside(item, live[i], form));
  }
  if (!isObject(wanted) || !isObject(live)) return equal(wanted, live);
  return Object.keys(live).every((name) => own(wanted, name) !== undefined || live[name] === undefined) &&
    Object.keys(wanted).every((name) => {
      const [value, stored, inner] = [wanted[name], own(live, name), formInside(form, name)];
      if (value === undefined) return stored === undefined;
      return stored === undefined ? isDropped(value, inner) : isSameInside(value, stored, inner);
    });
}

/** Empty objects are not dropped: `emptyDir: {}` and `namespaceSelector: {}` have a meaning. */
function isDropped(value: unknown, form: StoredForm): boolean {
  if (form === "as sent") return false;
  if (isZero(value)) return form === "not zero";
  const isMap = typeof form === "object" && "values" in form;
  return value === null || (Array.isArray(value) && value.length === 0) || (isMap && isEmpty(value));
}

function isZero(value: unknown): boolean {
  return value === false || value === 0 || value === "";
}

function isSameQuantity(wanted: unknown, live: unknown): boolean {
  if (typeof live !== "string" || (typeof wanted !== "string" && typeof wanted !== "number")) {
    return equal(wanted, live);
  }
  try {
    return Quantity.parse(String(wanted)).compare(Quantity.parse(live)) === 0;
  } catch {
    return false;
  }
}

/**
 * Returns whether a value is `null`, an empty list or an empty object.
 *
 * @param value The value.
 */
export function isEmpty(value: unknown): boolean {
  return value === null ||
    (Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0);
}

/**
 * Returns an object as it is stored: `stringData` of a Secret is written as `data`, and API servers
 * never return it. It is the only field of built-in kinds that is write-only.
 *
 * @param object The object to apply.
 */
export function stored<Wanted extends Partial<KubeObject>>(object: Wanted): Wanted {
  if (object.kind !== "Secret" || object.apiVersion !== "v1") return object;
  const { stringData, ...rest } = object as Wanted & {
    readonly stringData?: Record<string, string>;
    readonly data?: object;
  };
  if (stringData === undefined) return object;
  const encoded = Object.entries(stringData).map(([name, text]) => [name, base64(text)]);
  return { ...rest, data: { ...rest.data, ...Object.fromEntries(encoded) } } as unknown as Wanted;
}

function base64(text: string): string {
  return btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(""));
}
