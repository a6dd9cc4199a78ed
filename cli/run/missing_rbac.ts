/** Finds RBAC permissions that a user lacks. */
import type { RbacRule } from "@op/sdk/operator";
import type { Forward } from "../proxy/proxy.ts";

const PATH = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

/**
 * The timeout of a request, in milliseconds. After it, the permission counts as granted. If it is
 * missing, the operator reports it later.
 */
const TIMEOUT = 5_000;

/**
 * Returns the RBAC permissions that a user lacks, in the form `list notes.demo.example.com in team
 * (notes: watches its own kind Note)`.
 *
 * @param forward Sends requests as that user.
 * @param permissions The permissions to check.
 * @param namespaces The namespaces that the operator watches. @default {all}
 */
export async function missingRbac(
  forward: Forward,
  permissions: readonly RbacRule[],
  namespaces?: readonly string[],
): Promise<string[]> {
  const checks = permissions.flatMap((permission) =>
    namespacesOf(permission, namespaces).flatMap((namespace) =>
      (permission.resourceNames.length === 0 ? [undefined] : permission.resourceNames).map((name) => ({
        permission,
        namespace,
        name,
      }))
    )
  );
  const answers = await Promise.all(
    checks.map(async (check) => await isAllowed(forward, check) ? [] : [checkText(check)]),
  );
  return answers.flat();
}

interface Check {
  readonly permission: RbacRule;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
}

function namespacesOf(
  { scope, namespaces }: RbacRule,
  watched: readonly string[] | undefined,
): readonly (string | undefined)[] {
  return namespaces ?? (scope === "watched" ? watched : undefined) ?? [undefined];
}

async function isAllowed(forward: Forward, { permission, namespace, name }: Check): Promise<boolean> {
  const [resource = "", subresource] = permission.resource.split("/");
  const resourceAttributes = { group: permission.group, resource, subresource, verb: permission.verb, namespace, name };
  const review = {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SelfSubjectAccessReview",
    spec: { resourceAttributes },
  };
  try {
    const response = await forward({
      method: "POST",
      url: new URL(PATH, "http://apiserver"),
      headers: new Headers({ "content-type": "application/json", accept: "application/json" }),
      body: JSON.stringify(review),
      signal: AbortSignal.timeout(TIMEOUT),
    });
    const answer = await response.json() as { readonly status?: { readonly allowed?: boolean } };
    return !response.ok || answer.status?.allowed !== false;
  } catch {
    return true;
  }
}

function checkText({ permission: { verb, resource, group, part, reason }, namespace, name }: Check): string {
  const [plural, ...rest] = resource.split("/");
  const qualified = [group === "" ? plural : `${plural}.${group}`, ...rest].join("/");
  const scope = (name === undefined ? "" : ` "${name}"`) + (namespace === undefined ? "" : ` in ${namespace}`);
  return `${verb} ${qualified}${scope} (${part ?? "the operator"}: ${reason})`;
}
