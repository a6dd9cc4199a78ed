/**
 * All differences between the in-process server and the real one that are allowed, each with its
 * reason.
 */

/** An allowed difference. */
export interface Exception {
  readonly area: string;
  readonly name: string;
  /**
   * Pattern of the paths in the transcript that may differ, such as `steps[2].body.message`.
   * @default {all paths of the case}
   */
  readonly path?: RegExp;
  readonly reason: string;
}

/** All exceptions. The suite fails if one is no longer needed. */
export const EXCEPTIONS: readonly Exception[] = [
  {
    area: "discovery",
    name: "names the versions of the core group",
    path: /serverAddress$/,
    reason: "the in-process server has no address",
  },
  {
    area: "discovery",
    name: "reports its version",
    path: /body\.(compiler|gitCommit|goVersion|platform)$/,
    reason: "the in-process server was not built by Go",
  },
  {
    area: "patches",
    name: "a merge patch of a ConfigMap",
    path: /^steps\[1\].*message$/,
    reason: "the message quotes the patched object with the real server's order of fields, which comes from Go's types",
  },
  {
    area: "admission",
    name: "unknown fields from a mutating webhook are pruned",
    path: /^steps\[2\].*unknown$/,
    reason:
      "fields that a webhook adds are pruned at once, not only when the object is stored: validating webhooks do not see them",
  },
  {
    area: "hostile input",
    name: "numbers that are too large",
    path: /^steps\[13\].*message$/,
    reason: "JavaScript reads integers as doubles, so those beyond 2^53 lose their last digits",
  },
  {
    area: "openapi",
    name: "other schemas in the document of a custom kind",
    path: /DeleteOptions\.x-kubernetes-group-version-kind/,
    reason:
      "in the document of a custom kind, the real server names the DeleteOptions of all groups, including those that it does not serve",
  },
  {
    area: "jobs",
    name: "the template of a job is immutable",
    path: /message$/,
    reason: "the message quotes the template as Go prints it",
  },
  {
    area: "pods",
    name: "immutable fields of a pod",
    path: /message$/,
    reason: "the message ends with the difference as Go prints it",
  },
];
