/** Settings with which the contract suite starts and calls its servers. */
import type { Apiserver } from "../../src/apiserver/mod.ts";

/** Controllers of kube-controller-manager whose work the in-process API server does itself. */
export const PREPARED_CONTROLLERS: readonly string[] = [
  "garbage-collector-controller",
  "namespace-controller",
  "clusterrole-aggregation-controller",
];

/**
 * Returns a function that sends requests to an in-process server. Requests without a token act as
 * an administrator, as with the real server.
 */
export function asAdministrator(server: Apiserver): (request: Request) => Promise<Response> {
  const user = { name: "admin", groups: ["system:masters", "system:authenticated"] };
  return (request) => server.fetch(request, request.headers.has("authorization") ? {} : { user });
}
