/** Lines of a watch that no server in its right mind sends. */
import type { WatchEvent } from "../kube/calls.ts";
import type { AnyKind } from "../resource/kind.ts";

// What an event must say of its object. What has no identity cannot be held: it would be the owner of things, and nobody could tell whether it is
// another of its name.
const IDENTITY = ["name", "uid", "resourceVersion"] as const;
const VERSION = ["resourceVersion"] as const;

/**
 * Refuses it.
 *
 * @throws {SyntaxError} If a line of a watch does not say what its object is.
 */
export function refuseGarbage({ kind }: AnyKind, { type, object }: WatchEvent): void {
  const metadata = (object as WatchEvent["object"] | undefined)?.metadata;
  const missing = (type === "BOOKMARK" ? VERSION : IDENTITY).find((name) => !isText(metadata?.[name]));
  if (missing === undefined) return;
  throw new SyntaxError(`Cannot watch ${kind}: a line of type "${type}" has no metadata.${missing}`);
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}
