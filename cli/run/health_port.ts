/** The port where an operator serves its health under `op dev` and `op start`: a second operator on this machine must not fail because the first one uses the port. */
import type { OperatorFacts } from "../inspect.ts";
import type { Io } from "../io.ts";

interface Container {
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
}

/**
 * Returns arguments that have an operator serve its health on a free port if the usual one is in use.
 *
 * @param facts The operator's own account.
 * @param io The terminal and the shell.
 */
export function healthArguments(facts: Pick<OperatorFacts, "manifests">, io: Io): string[] {
  const port = Number(io.env("OP_HEALTH_PORT") || portOf(facts));
  // Where it is no port, the operator itself says so.
  if (!(port > 0 && port < 65_536) || isFree(port)) return [];
  using listener = Deno.listen({ hostname: ALL_ADDRESSES, port: 0 });
  const free = listener.addr.port;
  io.out(`Port ${port} is in use: health and metrics are served on port ${free}\n`);
  return [`--health-port=${free}`];
}

const ALL_ADDRESSES = "0.0.0.0";

/** Operators without health have none in their Deployment either. */
function portOf({ manifests: { manager } }: Pick<OperatorFacts, "manifests">): number | undefined {
  const deployment = manager.find(({ kind }) => kind === "Deployment") as
    | { readonly spec?: { readonly template?: { readonly spec?: { readonly containers?: readonly Container[] } } } }
    | undefined;
  const ports = (deployment?.spec?.template?.spec?.containers ?? []).flatMap(({ ports = [] }) => ports);
  return ports.find(({ name }) => name === "health")?.containerPort;
}

function isFree(port: number): boolean {
  try {
    Deno.listen({ hostname: ALL_ADDRESSES, port }).close();
    return true;
  } catch (error) {
    // A port that may not be used at all is for the operator to report.
    return !(error instanceof Deno.errors.AddrInUse);
  }
}
