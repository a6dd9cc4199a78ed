/**
 * The RBAC roles of an operator in a memory cluster, by default those that are generated from its
 * declarations. Records which rules it uses and which requests the roles reject.
 */
import { nearest } from "../base/nearest.ts";
import { isOfResource } from "../apiserver/access/attributes.ts";
import type { AccessDeniedError } from "../apiserver/access/denial.ts";
import type { User } from "../apiserver/access/user.ts";
import { ClusterRole, ClusterRoleBinding, Role, RoleBinding, ServiceAccount } from "../kinds/mod.ts";
import { isStatus } from "../kube/api_error.ts";
import type { Client } from "../kube/client.ts";
import { installOf } from "../manifests/install.ts";
import type { Manifest } from "../manifests/manifest.ts";
import type { RbacRule } from "../manifests/rbac.ts";
import { accessManifests } from "../manifests/roles.ts";
import type { OperatorDefinition } from "../operator/operator_definition.ts";
import { describeRule } from "../parts/rbac.ts";
import type { AnyKind, Input } from "../resource/kind.ts";
import type { RequestRecord } from "./request_log.ts";
import type { PolicyRule, UsedRbacRule } from "./rbac.ts";
import { SettleError } from "./settle_error.ts";

const NAMESPACE = "default";

const KINDS: Readonly<Record<string, AnyKind>> = { ClusterRole, ClusterRoleBinding, Role, RoleBinding, ServiceAccount };

/** Options for {@linkcode OperatorRoles}. */
export interface OperatorRolesOptions {
  /** Namespaces that the operator watches; `undefined` for all. */
  readonly watches: readonly string[] | undefined;
  /** Names of permissions to remove, such as `patch configmaps`. */
  readonly without: readonly string[];
  /** Rules that replace the generated ones. */
  readonly rules: readonly PolicyRule[] | undefined;
}

/** A permission that a request needs. */
interface NeededPermission {
  readonly verb: string;
  readonly resource: string;
  readonly group: string;
  readonly namespace: string | undefined;
}

/** The roles of an operator under test. */
export class OperatorRoles {
  /** Service account of the operator. */
  readonly user: User;
  /** Number of requests that the roles rejected. */
  rejected = 0;
  readonly #operator: OperatorDefinition;
  readonly #client: Client;
  /** The generated rules. */
  readonly #rules: readonly RbacRule[];
  readonly #used = new Set<RbacRule>();
  /** Manifests whose namespace does not exist yet. */
  #pending: readonly Manifest[];
  /** Permissions that rejected requests needed, by name and namespace. */
  readonly #missing = new Map<string, NeededPermission>();
  readonly #reported = new Set<string>();

  /**
   * @param operator The operator.
   * @param client An administrator's client.
   * @param options Which roles to create.
   * @throws {TypeError} If `without` names a permission that the operator does not declare.
   */
  constructor(operator: OperatorDefinition, client: Client, { watches, without, rules }: OperatorRolesOptions) {
    this.#operator = operator;
    this.#client = client;
    this.#rules = operator.rbac();
    const names = this.#rules.map(describeRule);
    for (const name of without) if (!names.includes(name)) throwUnknownName(name, names);
    const install = installOf(operator, {
      namespace: NAMESPACE,
      image: "none",
      policies: operator.config?.policies ?? [],
      ...(watches === undefined ? {} : { watchNamespaces: watches }),
    });
    const granted = this.#rules.filter((rule) => !without.includes(describeRule(rule)));
    this.#pending = rules === undefined
      ? accessManifests(operator.name, granted, install)
      : clusterRole(operator.name, rules);
    const groups = ["system:serviceaccounts", `system:serviceaccounts:${NAMESPACE}`, "system:authenticated"];
    this.user = { name: `system:serviceaccount:${NAMESPACE}:${operator.name}`, groups };
  }

  /** Creates the roles. A role whose namespace does not exist yet is created with the namespace. */
  async install(): Promise<void> {
    const pending: Manifest[] = [];
    for (const manifest of this.#pending) {
      const { namespace } = manifest.metadata;
      const kind = KINDS[manifest.kind]!;
      try {
        await this.#client.create(
          kind,
          manifest as unknown as Input<typeof kind>,
          namespace === undefined ? {} : { namespace },
        );
      } catch (error) {
        if (!isStatus(error, 404)) throw error;
        pending.push(manifest);
      }
    }
    this.#pending = pending;
  }

  /** Creates the roles of a namespace that was just created. */
  async onNamespaceCreated(): Promise<void> {
    if (this.#pending.length > 0) await this.install();
  }

  /** Records the permission that a request of the operator lacked. */
  noteDenied({ user, attributes }: AccessDeniedError): void {
    // A request that impersonates another user does not use the operator's roles.
    if (user.name !== this.user.name || !isOfResource(attributes)) return;
    const { verb, group, resource, subresource, namespace } = attributes;
    this.rejected++;
    this.#noteMissing({
      verb,
      group,
      resource: subresource === "" ? resource : `${resource}/${subresource}`,
      namespace: namespace === "" ? undefined : namespace,
    });
  }

  /** Records which rules a request of the operator used. */
  noteUse(record: RequestRecord, response: Response): void {
    const { group = "", resource, subresource, namespace } = record;
    if (resource === undefined || response.status === 403) return;
    const resourceName = subresource === undefined ? resource : `${resource}/${subresource}`;
    // A watch may also need `list`, because it can send the existing objects first. A patch that
    // creates an object needs both permissions.
    const verbs = record.verb === "watch"
      ? ["watch", "list"]
      : response.status === 201
      ? [record.verb, "create"]
      : [record.verb];
    this.#use({ verbs, group, resource: resourceName, namespace });
    for (const owner of this.#blockedOwners(record)) this.#use({ ...owner, verbs: [owner.verb] });
  }

  /**
   * Returns the permissions to block the deletion of the owners that a write names, if a controller
   * has their kind.
   */
  #blockedOwners({ body, namespace }: RequestRecord): NeededPermission[] {
    return blockingOwners(body).flatMap(({ apiVersion, kind: name }) => {
      const owner = [...this.#operator.units.controllers.values()].find(({ kind }) =>
        kind.apiVersion === apiVersion && kind.kind === name
      );
      if (owner === undefined) return [];
      const { group, plural } = owner.kind;
      return [{ verb: "update", group, resource: `${plural}/finalizers`, namespace }];
    });
  }

  #use(
    { verbs, group, resource, namespace }: Omit<NeededPermission, "verb"> & { readonly verbs: readonly string[] },
  ): void {
    for (const rule of this.#rules) {
      if (rule.group !== group || rule.resource !== resource || !verbs.includes(rule.verb)) continue;
      if (namespace === undefined || (rule.namespaces?.includes(namespace) ?? true)) this.#used.add(rule);
    }
  }

  #noteMissing(needed: NeededPermission): void {
    const { namespace } = needed;
    // Until the namespace exists, its roles do not either. A real cluster rejects such requests,
    // too.
    if (this.#pending.some(({ metadata }) => metadata.namespace === namespace)) return;
    this.#missing.set(describeRule(needed) + (namespace ?? ""), needed);
  }

  /**
   * Returns an error with the permissions that were missing since the last call; `undefined` if
   * there were none.
   */
  takeMissing(): SettleError | undefined {
    const unreported = [...this.#missing].filter(([key]) => !this.#reported.has(key));
    for (const [key] of unreported) this.#reported.add(key);
    if (unreported.length === 0) return undefined;
    const missing = unreported.map(([, needed]) => needed);
    return new SettleError(
      "MissingPermissions",
      missing.map(describeNeeded),
      `Operator "${this.#operator.name}" lacks RBAC permissions:\n` +
        missing.map((needed) => `  ${describeNeeded(needed)} ${this.#explanation(needed)}\n`).join("") +
        'If the test expects this, pass { forbiddenRequests: "allow" }',
    );
  }

  #explanation({ verb, group, resource }: NeededPermission): string {
    const declared = this.#rules.filter((rule) =>
      rule.verb === verb && rule.group === group && rule.resource === resource
    );
    if (declared.length === 0) {
      return '(not declared: add the kind to "owns", "reads" or "uses", or the rule to generate.rbac.policies)';
    }
    const reasons = declared.map(({ part, reason }) => `${part ?? "the operator"} ${reason}`);
    return `(${reasons.join("; ")})`;
  }

  /** Returns each rule, and whether it was used. */
  usage(): readonly UsedRbacRule[] {
    return this.#rules.map((rule) => ({ ...rule, used: this.#used.has(rule) }));
  }
}

function describeNeeded(needed: NeededPermission): string {
  const { namespace } = needed;
  return `${describeRule(needed)} ${namespace === undefined ? "in the whole cluster" : `in namespace "${namespace}"`}`;
}

function throwUnknownName(name: string, names: readonly string[]): never {
  const similar = nearest(name, names);
  const hint = similar === undefined ? `Its permissions are: ${names.join(", ")}` : `Did you mean "${similar}"?`;
  throw new TypeError(`memoryCluster(): rbac.without: the operator does not declare "${name}". ${hint}`);
}

/** Returns a service account and a ClusterRole that grants it the rules. */
function clusterRole(name: string, rules: readonly PolicyRule[]): Manifest[] {
  const rbac = "rbac.authorization.k8s.io";
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace: NAMESPACE } },
    { apiVersion: `${rbac}/v1`, kind: "ClusterRole", metadata: { name }, rules },
    {
      apiVersion: `${rbac}/v1`,
      kind: "ClusterRoleBinding",
      metadata: { name },
      roleRef: { apiGroup: rbac, kind: "ClusterRole", name },
      subjects: [{ kind: "ServiceAccount", name, namespace: NAMESPACE }],
    },
  ];
}

interface Reference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly blockOwnerDeletion?: boolean;
}

function blockingOwners(body: unknown): Reference[] {
  const { metadata } = (typeof body === "object" && body !== null ? body : {}) as {
    readonly metadata?: { readonly ownerReferences?: readonly Reference[] };
  };
  return (metadata?.ownerReferences ?? []).filter(({ blockOwnerDeletion }) => blockOwnerDeletion === true);
}
