/** What an operator under test may do, and what of it a test used. */
import type { RbacRule } from "../manifests/rbac.ts";

/** A rule of a ClusterRole. */
export interface PolicyRule {
  /** In the words of RBAC: `get`, `list`, `watch` and so on; `*` for all. */
  readonly verbs: readonly string[];
  /** Groups of the API; an empty text for the core group. */
  readonly apiGroups?: readonly string[];
  /** Plural names, with a subresource behind a slash: `deployments/scale`. */
  readonly resources?: readonly string[];
  /** Names of objects. @default {all} */
  readonly resourceNames?: readonly string[];
  /** Paths that are no resources, such as `/metrics`. */
  readonly nonResourceURLs?: readonly string[];
}

/** A right of an operator, and whether a test used it. */
export interface UsedRight extends RbacRule {
  /** Whether a test did what it allows. */
  readonly used: boolean;
}
