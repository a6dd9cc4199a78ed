/** RBAC rules of an operator under test. */
import type { RbacRule } from "../manifests/rbac.ts";

export type { PolicyRule } from "../kinds/rbac_v1.gen.ts";

/** An RBAC rule of an operator, and whether a test used it. */
export interface UsedRbacRule extends RbacRule {
  /** Whether the operator sent a request that needs the rule. */
  readonly used: boolean;
}
