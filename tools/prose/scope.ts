/** Selects the files that the prose check covers. */

/**
 * Folders and files whose prose follows docs/contributing/writing.md. The check covers these; add a
 * folder when it is rewritten. Generated files are not checked.
 */
export const COVERED: readonly string[] = [
  "ARCHITECTURE.md",
  "CHANGELOG.md",
  "CODE_OF_CONDUCT.md",
  "CONTRIBUTING.md",
  "README.md",
  "SECURITY.md",
  "benches",
  "cli",
  "docs/contributing",
  "docs/decisions",
  "docs/guides",
  "entry_points",
  "examples",
  "mod.ts",
  "src/apiserver",
  "src/base",
  "src/cel",
  "src/handlers",
  "src/kinds",
  "src/kube",
  "src/manifests",
  "src/openapi",
  "src/operator",
  "src/parts",
  "src/queue",
  "src/resource",
  "src/runtime",
  "src/schema",
  "src/testing",
  "src/watch",
  "templates",
  "tests/cel_core",
  "tests/cel_libraries",
  "tests/clients",
  "tests/compiled",
  "tests/contract",
  "tests/declaration_errors_test.ts",
  "tests/eventually.ts",
  "tests/eventually_test.ts",
  "tests/example_role_test.ts",
  "tests/fixtures",
  "tests/kopf",
  "tests/layers_test.ts",
  "tests/manifest_commands_test.ts",
  "tests/public_api_test.ts",
  "tests/real",
  "tests/release_workflows_test.ts",
  "tests/runtime",
  "tests/schemas",
  "tests/types",
  "tests/upstream",
  "tools",
];

/**
 * Returns whether the prose check covers a file.
 *
 * @param file Its path from the root of the repository.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(isCovered("tools/prose/scope.ts"), true);
 * assert.equal(isCovered("src/kinds/core_v1.gen.ts"), false);
 * ```
 */
export function isCovered(file: string): boolean {
  return !/\.gen\.ts$/.test(file) && COVERED.some((place) => file === place || file.startsWith(`${place}/`));
}
