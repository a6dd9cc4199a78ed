/**
 * Prints warnings about CustomResourceDefinitions, for all commands that print or apply them.
 */
import type { CustomResourceDefinitionManifest } from "@op/sdk/resource";
import { definitionWarnings } from "@op/sdk/validation";
import type { Io } from "../io.ts";

/**
 * Prints warnings about definitions on standard error, one per line.
 *
 * @param definitions The definitions as a cluster will have them, with the conversion that the
 *   operator serves.
 * @param io The terminal.
 */
export function warnOfDefinitions(definitions: readonly unknown[], io: Io): void {
  for (const definition of definitions as readonly CustomResourceDefinitionManifest[]) {
    for (const warning of warningsOf(definition)) io.err(`Warning: ${warning}\n`);
  }
}

function warningsOf(definition: CustomResourceDefinitionManifest): string[] {
  try {
    return definitionWarnings(definition);
  } catch {
    // A definition from a file may be invalid. The API server reports that.
    return [];
  }
}
