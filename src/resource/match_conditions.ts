/** `matchConditions` of webhooks: those that are written here. */

/**
 * The condition under which a request is about a field: a new object that has it, an object that goes and had it, a change of it.
 *
 * @param path A path of plain names, such as `.spec.host`.
 */
export function fieldCondition(path: string): string {
  const steps = path.split(".").slice(1).map((name) => `[?${JSON.stringify(name)}]`).join("");
  return `request.operation == "DELETE" ? oldObject${steps}.hasValue() : ` +
    `request.operation == "UPDATE" ? object${steps} != oldObject${steps} : object${steps}.hasValue()`;
}
