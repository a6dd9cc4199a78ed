/** Names of properties in CEL rules (`k8s.io/apiserver/pkg/cel`, Escape). */

/** Reserved words of CEL, which cannot be used as names. */
export const RESERVED_NAMES: ReadonlySet<string> = new Set(
  ("true false null in as break const continue else for function if import let loop package namespace return var " +
    "void while").split(" "),
);

const ESCAPED: { readonly [text: string]: string } = {
  "__": "__underscores__",
  ".": "__dot__",
  "-": "__dash__",
  "/": "__slash__",
};

const UNESCAPED: { readonly [word: string]: string } = { underscores: "__", dot: ".", dash: "-", slash: "/" };

/**
 * Returns the name of a property in a CEL rule: `a-b` is `self.a__dash__b`.
 *
 * @param property The property's name.
 * @returns The identifier, or `undefined` if CEL cannot spell the name.
 */
export function celName(property: string): string | undefined {
  if (RESERVED_NAMES.has(property)) return `__${property}__`;
  if (!/^[A-Za-z_./-][A-Za-z0-9_./-]*$/.test(property)) return undefined;
  return property.replaceAll(/__|[./-]/g, (text) => ESCAPED[text]!);
}

/**
 * Returns the property that a name in a CEL rule refers to.
 *
 * @param name The name, such as `a__dash__b`.
 * @returns The property, such as `a-b`, or `undefined` if the escape sequence is unknown.
 */
export function propertyName(name: string): string | undefined {
  let isKnown = true;
  const property = name.replaceAll(/__([^_]+)__/g, (text, word: string) => {
    const unescaped = UNESCAPED[word];
    if (unescaped !== undefined) return unescaped;
    // A reserved word is escaped as a whole or not at all.
    if (!RESERVED_NAMES.has(word) || text !== name) isKnown = false;
    return word;
  });
  return isKnown ? property : undefined;
}

/**
 * Returns the path of a property of `self` for a rule's `fieldPath`.
 *
 * @param property The property's name.
 */
export function fieldPath(property: string): string {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(property) ? `.${property}` : `['${property}']`;
}
