/** RBAC rules of an operator under test. */
import type { RbacRule } from "../manifests/rbac.ts";

/** A rule of a ClusterRole. */
export interface PolicyRule {
  /** RBAC verbs, such as `get`, `list` and `watch`. `*` stands for all. */
  readonly verbs: readonly string[];
  /** API groups. The core group is the empty string. */
  readonly apiGroups?: readonly string[];
  /** Plural names, followed by a slash and the subresource if there is one: `deployments/scale`. */
  readonly resources?: readonly string[];
  /** Names of objects. @default {all} */
  readonly resourceNames?: readonly string[];
  /** Paths that are not resources, such as `/metrics`. */
  readonly nonResourceURLs?: readonly string[];
}

/** An RBAC rule of an operator, and whether a test used it. */
export interface UsedRbacRule extends RbacRule {
  /** Whether the operator sent a request that needs the rule. */
  readonly used: boolean;
}
