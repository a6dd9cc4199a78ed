/**
 * The functions of Kubernetes' authorizer (k8s.io/apiserver, pkg/cel/library/authz.go). They are
 * only declared, so that type errors in rules that call a function of the same name match the
 * server's. Rules of a schema have no authorizer variable to call them on.
 */
import type { FunctionDeclaration } from "../function.ts";
import type { Library } from "../library.ts";
import { BOOL, type CelType, opaque, STRING } from "../type.ts";
import { CelError, type Value } from "../value.ts";

const AUTHORIZER = opaque("kubernetes.authorization.Authorizer");
const PATH_CHECK = opaque("kubernetes.authorization.PathCheck");
const GROUP_CHECK = opaque("kubernetes.authorization.GroupCheck");
const RESOURCE_CHECK = opaque("kubernetes.authorization.ResourceCheck");
const DECISION = opaque("kubernetes.authorization.Decision");

/** The declarations. */
export const AUTHORIZER_LIBRARY: Library = {
  name: "kubernetes.authz",
  functions: [
    declaration("path", PATH_CHECK, [AUTHORIZER, STRING]),
    declaration("group", GROUP_CHECK, [AUTHORIZER, STRING]),
    declaration("serviceAccount", AUTHORIZER, [AUTHORIZER, STRING, STRING]),
    declaration("resource", RESOURCE_CHECK, [GROUP_CHECK, STRING]),
    declaration("subresource", RESOURCE_CHECK, [RESOURCE_CHECK, STRING]),
    declaration("namespace", RESOURCE_CHECK, [RESOURCE_CHECK, STRING]),
    declaration("name", RESOURCE_CHECK, [RESOURCE_CHECK, STRING]),
    declaration("fieldSelector", RESOURCE_CHECK, [RESOURCE_CHECK, STRING]),
    declaration("labelSelector", RESOURCE_CHECK, [RESOURCE_CHECK, STRING]),
    declaration("check", DECISION, [PATH_CHECK, STRING], [RESOURCE_CHECK, STRING]),
    declaration("errored", BOOL, [DECISION]),
    declaration("error", STRING, [DECISION]),
    declaration("allowed", BOOL, [DECISION]),
    declaration("reason", STRING, [DECISION]),
  ],
};

function declaration(name: string, result: CelType, ...signatures: (readonly CelType[])[]): FunctionDeclaration {
  return {
    name,
    overloads: signatures.map((parameters, i) => ({
      id: `authorizer_${name}_${i}`,
      isMember: true,
      parameters,
      result,
      call: notImplemented,
    })),
  };
}

function notImplemented(): Value {
  throw new CelError("no such overload");
}
