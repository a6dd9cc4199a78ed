/**
 * Chooses the health port of an operator under `op dev` and `op start`, so that several operators
 * can run on one machine.
 */
import type { OperatorFacts } from "../inspect.ts";
import type { Io } from "../io.ts";

interface Container {
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
}

/**
 * Returns arguments that move the health server to a free port if its port is in use.
 *
 * @param facts The operator's declarations.
 * @param io The terminal and the shell.
 */
export function healthArguments(facts: Pick<OperatorFacts, "manifests">, io: Io): string[] {
  const port = Number(io.env("OP_HEALTH_PORT") || portOf(facts));
  // The operator itself reports an invalid port.
  if (!(port > 0 && port < 65_536) || isFree(port)) return [];
  using listener = Deno.listen({ hostname: ALL_ADDRESSES, port: 0 });
  const free = listener.addr.port;
  io.out(`Port ${port} is in use. Health and metrics are served on port ${free}\n`);
  return [`--health-port=${free}`];
}

const ALL_ADDRESSES = "0.0.0.0";

/** Returns the health port of the Deployment, which has none if health is disabled. */
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
    // The operator reports other errors, such as a port that requires privileges.
    return !(error instanceof Deno.errors.AddrInUse);
  }
}
