/** Generated `matchConditions` of webhooks. */

/**
 * Returns the condition for requests that affect a field: they create or delete an object that has
 * the field, or change the field.
 *
 * @param path A path of plain names, such as `.spec.host`.
 */
export function fieldCondition(path: string): string {
  const steps = path.split(".").slice(1).map((name) => `[?${JSON.stringify(name)}]`).join("");
  return `request.operation == "DELETE" ? oldObject${steps}.hasValue() : ` +
    `request.operation == "UPDATE" ? object${steps} != oldObject${steps} : object${steps}.hasValue()`;
}

/**
 * Returns the condition that excludes the requests of a user.
 *
 * @param user The user's name.
 */
export function otherUsersCondition(user: string): string {
  return `request.userInfo.username != ${JSON.stringify(user)}`;
}

/**
 * The names of the conditions that webhook options generate. They are added to the user's own
 * conditions.
 */
export const RESERVED_CONDITIONS: Readonly<Record<"field" | "ignoreOwnRequests", string>> = {
  field: "field",
  ignoreOwnRequests: "others",
};
