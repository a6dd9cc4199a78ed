/**
 * Rejects the status of a kind that the controller may not write. The compiler rejects it too; this
 * is for programs that were not type-checked.
 */
import { isOwnKind } from "../resource/ownership.ts";
import type { Controller } from "./controller.ts";

/**
 * Throws unless the controller writes the status of its kind.
 *
 * @param controller The controller.
 * @param call The function that was called, for the error message: `status()`.
 * @throws {TypeError} If the kind has no status subresource, or others define it and the controller
 *   does not have `writesStatus: true`.
 */
export function checkWritesStatus(
  { kind, writesStatus }: Pick<Controller, "kind" | "writesStatus">,
  call: string,
): void {
  if (writesStatus) return;
  if (isOwnKind(kind)) {
    throw new TypeError(
      `${call} for ${kind.kind}: the kind has no status subresource. Set "status" (or "status: true") in resource(), or change the object with patch().`,
    );
  }
  throw new TypeError(
    `${call} for ${kind.kind}: ${kind.apiVersion} ${kind.kind} is ${
      kind.external ? "an external" : "a built-in"
    } kind, so its status is not this operator's. Set "writesStatus: true" on the controller if the operator implements the kind; otherwise use events or log.`,
  );
}
