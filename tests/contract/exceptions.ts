/**
 * Where the server in the process may answer differently from the real one, and why. All of them
 * are here.
 */

/** A difference that is allowed. */
export interface Exception {
  readonly area: string;
  readonly name: string;
  /** Which places of the transcript, such as `steps[2].body.message`. @default {all of the case} */
  readonly path?: RegExp;
  readonly reason: string;
}

/** All exceptions. One that is no longer needed fails the suite. */
export const EXCEPTIONS: readonly Exception[] = [
  {
    area: "discovery",
    name: "names the versions of the core group",
    path: /serverAddress$/,
    reason: "a function has no address of its own",
  },
  {
    area: "discovery",
    name: "tells its version",
    path: /body\.(compiler|gitCommit|goVersion|platform)$/,
    reason: "it was not built by Go, nor for a platform",
  },
  {
    area: "patches",
    name: "a merge patch of a ConfigMap",
    path: /^steps\[1\].*message$/,
    reason: "the message quotes the patched object with the real server's order of fields, which comes from Go's types",
  },
  {
    area: "admission",
    name: "what a mutating webhook adds is cut to the schema",
    path: /^steps\[2\].*unknown$/,
    reason:
      "what a webhook adds is cut to the schema at once, not only when it is stored: validating webhooks do not see it",
  },
  {
    area: "hostile input",
    name: "numbers that are too large",
    path: /^steps\[13\].*message$/,
    reason: "of a whole number beyond 2^53 the last digits are lost: JavaScript reads it as a double",
  },
  {
    area: "openapi",
    name: "the schemas beside that of a custom kind",
    path: /DeleteOptions\.x-kubernetes-group-version-kind/,
    reason:
      "beside a custom kind the real server names the DeleteOptions of all groups, also of those that it does not serve",
  },
  {
    area: "jobs",
    name: "a job's template does not change",
    path: /message$/,
    reason: "the message quotes the template in the form of Go's own types",
  },
  {
    area: "pods",
    name: "the rest of a pod's spec does not change",
    path: /message$/,
    reason: "the message ends with the difference, in the form of Go's own types",
  },
];
