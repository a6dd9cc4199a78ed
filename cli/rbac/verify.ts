/** `op rbac verify`: what an operator needs, against what roles give. */
import type { RbacRule } from "@op/sdk/operator";
import { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from "@op/sdk/kinds";
import { type ClusterOptions, connectCluster } from "../cluster.ts";
import { counted } from "../plural.ts";
import { Failure, UsageError } from "../exit_code.ts";
import { factsOf, NO_IMAGE } from "../generate/generate.ts";
import { type Form, printed } from "../global_options.ts";
import type { Io } from "../io.ts";
import { readObjects } from "../objects.ts";
import type { ProjectOptions } from "../project_file.ts";
import { type Account, type AnyManifest, type GivenVerb, grantsTo, isGiven, unneeded } from "./grants.ts";

/** Options for {@linkcode verifyRbac}. */
export interface VerifyOptions extends ClusterOptions, ProjectOptions {
  /** Files with roles and bindings, or `-` for standard input. */
  readonly file?: readonly string[] | undefined;
  /** Ask the cluster. */
  readonly cluster?: boolean | undefined;
  /** The service account: its name, or its namespace, a colon and its name. */
  readonly as?: string | undefined;
  /** The only namespaces that the operator looks at. */
  readonly namespace?: readonly string[] | undefined;
  /** Fail also where more is given than needed. */
  readonly exact?: boolean | undefined;
  readonly output?: Form | undefined;
}

/** The findings, as `-o json` prints them. */
export interface Findings {
  readonly rights: readonly (RbacRule & { readonly given: boolean })[];
  readonly unneeded: readonly GivenVerb[];
}

/**
 * Tells of each right whether it is given, grouped by the part that needs it, and what is given beyond.
 *
 * @param source The file whose default export is the operator.
 * @param options What to compare with.
 * @param io The terminal and the shell.
 * @throws {Failure} If a right is missing; with `exact`, also if one is given that is not needed.
 */
export async function verifyRbac(source: string, options: VerifyOptions, io: Io): Promise<void> {
  const { file = [], cluster = false, exact = false, namespace: watches, output = "text" } = options;
  if ((file.length > 0) === cluster) {
    throw new UsageError('Cannot verify: say -f FILE ("-" for standard input) or --cluster');
  }
  if (options.as !== undefined) accountOf(options.as, options.as);
  // Before there is any work in it: a pipe into it may have failed.
  const read = cluster ? undefined : await rolesIn(file, io);
  const facts = await factsOf(source, { config: options.config, image: NO_IMAGE }, io);
  const account = accountOf(options.as, facts.name);
  const objects = read ?? await rolesOfCluster(options, io);
  const grants = grantsTo(objects, account);
  const findings: Findings = {
    rights: facts.rights.map((right) => ({
      ...right,
      given: isGiven(right, grants, { watches, own: account.namespace }),
    })),
    unneeded: unneeded(facts.rights, grants),
  };
  io.out(output === "text" ? told(findings) : printed(findings, output));
  const missing = findings.rights.filter(({ given }) => !given);
  if (missing.length > 0) {
    throw new Failure(
      `${missing.length} of ${
        counted(findings.rights.length, "right is", "rights are")
      } missing: apply what "op rbac generate" prints`,
    );
  }
  if (exact && findings.unneeded.length > 0) {
    throw new Failure(`${findings.unneeded.length} verbs are given and not needed: take them away`);
  }
}

function accountOf(as: string | undefined, operator: string): Account {
  const [, namespace, name] = /^(?:system:serviceaccount:)?(?:([^:]+):)?([^:]+)$/.exec(as ?? operator) ?? [];
  if (name !== undefined) return { namespace, name };
  throw new UsageError(`Cannot take "${as}" for a service account: say NAME or NAMESPACE:NAME`);
}

async function rolesIn(files: readonly string[], io: Io): Promise<AnyManifest[]> {
  // Standard input can be read once.
  const each = await Promise.all([...new Set(files)].map(async (file) => {
    const objects = await readObjects(file, io) as unknown as AnyManifest[];
    for (const object of objects) refuseMisshapen(object, file);
    return objects;
  }));
  const objects = each.flat();
  if (objects.length > 0) return objects;
  const shown = [...new Set(files)].map((file) => file === "-" ? "standard input" : `"${file}"`).join(", ");
  throw new Failure(`Cannot verify ${shown}: there is no object in it; hand in what "op rbac generate" prints`);
}

/** What an API server would not take either. */
function refuseMisshapen(object: AnyManifest, file: string): void {
  for (const field of ["rules", "subjects"] as const) {
    if (object[field] === undefined || object[field] === null || Array.isArray(object[field])) continue;
    throw new Failure(
      `Cannot read ${
        file === "-" ? "standard input" : `"${file}"`
      }: ${object.kind} "${object.metadata?.name}" has "${field}" that is no list`,
    );
  }
}

async function rolesOfCluster(options: VerifyOptions, io: Io): Promise<AnyManifest[]> {
  using cluster = await connectCluster(options, io);
  const kinds = [ClusterRole, ClusterRoleBinding, Role, RoleBinding];
  return (await Promise.all(kinds.map((kind) => cluster.client.list(kind)))).flat() as unknown as AnyManifest[];
}

function told({ rights, unneeded }: Findings): string {
  const groups = Map.groupBy(rights, ({ part }) => part);
  const lines = [...groups].flatMap(([part, some]) => [
    part === undefined ? "the operator itself" : `controller "${part}"`,
    ...some.map((right) => `  ${right.given ? "given  " : "MISSING"}  ${line(right)}: ${right.reason}`),
  ]);
  const beyond = unneeded.length === 0 ? [] : [
    "given and not needed",
    ...unneeded.map((given) => `  ${line(given)}: ${given.role}${given.namespace ? ` in ${given.namespace}` : ""}`),
  ];
  return `${[...lines, ...beyond].join("\n")}\n`;
}

/** A right in words. */
export function line({ verb, resource, group }: Pick<RbacRule, "verb" | "resource" | "group">): string {
  return `${verb} ${group === "" ? resource : `${resource} of ${group}`}`;
}
