/** What an operator under test may do, and what of it a test used. */
import type { Right } from "../manifests/rights.ts";

/** A rule of a ClusterRole. */
export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

/** A right of an operator, and whether a test used it. */
export interface UsedRight extends Right {
  readonly used: boolean;
}
