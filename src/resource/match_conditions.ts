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

/**
 * The condition under which a request is not a user's.
 *
 * @param user The user's name.
 */
export function othersCondition(user: string): string {
  return `request.userInfo.username != ${JSON.stringify(user)}`;
}

/** How the conditions are called that options of a webhook stand for. They stand among those that are written by hand. */
export const CONDITION_OF: Readonly<Record<"field" | "exceptOwn", string>> = { field: "field", exceptOwn: "others" };
