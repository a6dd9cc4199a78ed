/**
 * `op rbac verify`: compares the RBAC permissions that an operator needs with those that roles
 * grant.
 */
import type { RbacRule } from "@op/sdk/operator";
import { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from "@op/sdk/kinds";
import { type ClusterOptions, connectCluster } from "../cluster.ts";
import { counted } from "../plural.ts";
import { Failure, UsageError } from "../exit_code.ts";
import { factsOf, NO_IMAGE } from "../generate/generate.ts";
import type { Form } from "../global_options.ts";
import type { Io } from "../io.ts";
import { readObjects } from "../objects.ts";
import type { ProjectOptions } from "../project_file.ts";
import { type Account, type AnyManifest, type GrantedVerb, grantsTo, isGranted, unneeded } from "./grants.ts";
import { printed } from "../yaml.ts";

/** Options for {@linkcode verifyRbac}. */
export interface VerifyOptions extends ClusterOptions, ProjectOptions {
  /** Files with roles and bindings, or `-` for standard input. */
  readonly file?: readonly string[] | undefined;
  /** Read the roles and bindings of the cluster. */
  readonly cluster?: boolean | undefined;
  /** The ServiceAccount, as NAME or NAMESPACE:NAME. */
  readonly as?: string | undefined;
  /** The only namespaces that the operator watches. */
  readonly namespace?: readonly string[] | undefined;
  /** Also fail if roles grant more than the operator needs. */
  readonly exact?: boolean | undefined;
  readonly output?: Form | undefined;
}

/** The result, as `-o json` prints it. */
export interface Findings {
  readonly rules: readonly (RbacRule & { readonly granted: boolean })[];
  readonly unneeded: readonly GrantedVerb[];
}

/**
 * Prints whether each permission is granted, grouped by the part that needs it. Then it prints the
 * granted verbs that are not needed.
 *
 * @param source The file whose default export is the operator.
 * @param options The roles to compare with.
 * @param io The terminal and the shell.
 * @throws {Failure} If a permission is missing, or with `exact`, if a granted one is not needed.
 */
export async function verifyRbac(source: string, options: VerifyOptions, io: Io): Promise<void> {
  const { file = [], cluster = false, exact = false, namespace: watches, output = "text" } = options;
  if ((file.length > 0) === cluster) {
    throw new UsageError('Cannot verify: use either -f with files ("-" for standard input) or --cluster.');
  }
  if (options.as !== undefined) accountOf(options.as, options.as);
  // Roles are read first. If the command that is piped into this one failed, the error must be
  // about the missing input.
  const rolesFromFiles = cluster ? undefined : await rolesInFiles(file, io);
  const facts = await factsOf(source, { config: options.config, image: NO_IMAGE }, io);
  const account = accountOf(options.as, facts.name);
  const objects = rolesFromFiles ?? await rolesOfCluster(options, io);
  const grants = grantsTo(objects, account);
  const findings: Findings = {
    rules: facts.rbac.map((rule) => ({
      ...rule,
      granted: isGranted(rule, grants, { watches, own: account.namespace }),
    })),
    unneeded: unneeded(facts.rbac, grants),
  };
  io.out(output === "text" ? report(findings) : printed(findings, output));
  const missing = findings.rules.filter(({ granted }) => !granted);
  if (missing.length > 0) {
    throw new Failure(
      `${missing.length} of ${
        counted(findings.rules.length, "permission is", "permissions are")
      } missing. Apply the output of "op rbac generate".`,
    );
  }
  if (exact && findings.unneeded.length > 0) {
    throw new Failure(
      `${
        counted(findings.unneeded.length, "granted verb is", "granted verbs are")
      } not needed. Remove them from the roles.`,
    );
  }
}

function accountOf(as: string | undefined, operator: string): Account {
  const [, namespace, name] = /^(?:system:serviceaccount:)?(?:([^:]+):)?([^:]+)$/.exec(as ?? operator) ?? [];
  if (name !== undefined) return { namespace, name };
  throw new UsageError(`Cannot use --as "${as}": it must be NAME or NAMESPACE:NAME.`);
}

async function rolesInFiles(files: readonly string[], io: Io): Promise<AnyManifest[]> {
  // Standard input can be read only once.
  const each = await Promise.all([...new Set(files)].map(async (file) => {
    const objects = await readObjects(file, io) as unknown as AnyManifest[];
    for (const object of objects) checkLists(object, file);
    return objects;
  }));
  const objects = each.flat();
  if (objects.length > 0) return objects;
  const shown = [...new Set(files)].map((file) => file === "-" ? "standard input" : `"${file}"`).join(", ");
  throw new Failure(`Cannot verify ${shown}: it has no objects. Pass the output of "op rbac generate".`);
}

/** Checks that rules and subjects are lists, as an API server does. */
function checkLists(object: AnyManifest, file: string): void {
  for (const field of ["rules", "subjects"] as const) {
    if (object[field] === undefined || object[field] === null || Array.isArray(object[field])) continue;
    throw new Failure(
      `Cannot read ${
        file === "-" ? "standard input" : `"${file}"`
      }: "${field}" of ${object.kind} "${object.metadata?.name}" must be a list.`,
    );
  }
}

async function rolesOfCluster(options: VerifyOptions, io: Io): Promise<AnyManifest[]> {
  using cluster = await connectCluster(options, io);
  const kinds = [ClusterRole, ClusterRoleBinding, Role, RoleBinding];
  return (await Promise.all(kinds.map((kind) => cluster.client.list(kind)))).flat() as unknown as AnyManifest[];
}

function report({ rules, unneeded }: Findings): string {
  const groups = Map.groupBy(rules, ({ part }) => part);
  const lines = [...groups].flatMap(([part, group]) => [
    part === undefined ? "the operator itself" : `part "${part}"`,
    ...group.map((rule) => `  ${rule.granted ? "granted" : "MISSING"}  ${permissionText(rule)}: ${rule.reason}`),
  ]);
  const excess = unneeded.length === 0 ? [] : [
    "granted but not needed",
    ...unneeded.map((verb) =>
      `  ${permissionText(verb)}: ${verb.role}${verb.namespace ? ` in ${verb.namespace}` : ""}`
    ),
  ];
  return `${[...lines, ...excess].join("\n")}\n`;
}

/** Formats a permission: `get pods`, `patch deployments of apps`. */
export function permissionText({ verb, resource, group }: Pick<RbacRule, "verb" | "resource" | "group">): string {
  return `${verb} ${group === "" ? resource : `${resource} of ${group}`}`;
}
