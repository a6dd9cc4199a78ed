/** The image of an operator's executable, as configured in `operator.toml`. */

/** The parts of an image's name. */
export interface ImageParts {
  /** The registry: a host, with a path if needed. @default {none} */
  readonly registry?: string;
  /** The repository. @default {the operator's name} */
  readonly repository?: string;
  /**
   * The tag: a string that may contain `$PROJECT_VERSION` and `$TAG_OR_SHORT_COMMIT_SHA`. @default
   * {"$PROJECT_VERSION"}
   */
  readonly tag?: string;
  /** A prefix of the tag, such as `v`. @default {""} */
  readonly tagPrefix?: string;
  /** A suffix of the tag, such as `-debug`. @default {""} */
  readonly tagSuffix?: string;
}

/**
 * The placeholder in a tag for the Git tag of the current commit, or its short hash if it has none.
 */
export const COMMIT = "$TAG_OR_SHORT_COMMIT_SHA";

const VERSION = "$PROJECT_VERSION";

// Valid references, from github.com/distribution/reference.
const NAME = /^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*$/;
const REGISTRY = /^[A-Za-z0-9][-A-Za-z0-9.]*(?::\d+)?(?:\/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*$/;
const TAG = /^\w[\w.-]{0,127}$/;

/**
 * Returns whether the image reference depends on the current commit.
 *
 * @param parts The parts of the reference.
 */
export function isOfCommit({ tag = "" }: ImageParts): boolean {
  return tag.includes(COMMIT);
}

/**
 * Returns the full image reference.
 *
 * @param parts The parts of the reference.
 * @param operator The operator's name and version, and the string for the commit if the tag
 *   contains its placeholder.
 * @throws {TypeError} If the reference is invalid, or the commit is required and missing.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const parts = { registry: "registry.example.com/team", tagPrefix: "v" };
 * const image = imageOf(parts, { name: "shop", version: "1.2.0" });
 * assert.equal(image, "registry.example.com/team/shop:v1.2.0");
 * ```
 */
export function imageOf(
  parts: ImageParts,
  operator: { readonly name: string; readonly version: string; readonly commit?: string | undefined },
): string {
  const { registry, repository = operator.name, tag = VERSION, tagPrefix = "", tagSuffix = "" } = parts;
  const reject = (part: string, value: string, advice: string): never => {
    throw new TypeError(`Image of operator "${operator.name}": the ${part} "${value}" ${advice}`);
  };
  if (registry !== undefined && !REGISTRY.test(registry)) {
    reject("registry", registry, 'is invalid. Use a host, with a path if needed: "registry.example.com/team".');
  }
  if (!NAME.test(repository)) {
    reject(
      "repository",
      repository,
      'is invalid. Use lowercase letters and digits, separated by "/", ".", "_" or "-".',
    );
  }
  if (isOfCommit(parts) && operator.commit === undefined) {
    reject(
      "tag",
      tag,
      `contains ${COMMIT}, but no commit is given. Set "image", or generate the manifests with the op CLI.`,
    );
  }
  // The build metadata of a version starts with a plus sign, which is not allowed in tags.
  const middle = tag.replaceAll(COMMIT, operator.commit ?? "").replaceAll(VERSION, operator.version);
  const whole = `${tagPrefix}${middle}${tagSuffix}`.replaceAll("+", "_");
  if (!TAG.test(whole)) {
    const placeholders = whole.includes("$") ? ` The placeholders are ${VERSION} and ${COMMIT}.` : "";
    reject("tag", whole, `is invalid. Use at most 128 letters, digits, ".", "_" and "-".${placeholders}`);
  }
  return `${registry === undefined ? "" : `${registry}/`}${repository}:${whole}`;
}
