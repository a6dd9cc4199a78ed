/** The roles under which an operator runs in a memory cluster: those made from its declarations. What it uses of them is noted, and what it is refused. */
import { nearest } from "../base/nearest.ts";
import type { User } from "../apiserver/access/user.ts";
import { ClusterRole, ClusterRoleBinding, Role, RoleBinding, ServiceAccount } from "../kinds/mod.ts";
import { isStatus } from "../kube/api_error.ts";
import type { Client } from "../kube/client.ts";
import { installOf } from "../manifests/install.ts";
import type { Manifest } from "../manifests/manifest.ts";
import type { RbacRule } from "../manifests/rbac.ts";
import { accessManifests } from "../manifests/roles.ts";
import type { Operator } from "../operator/operator_value.ts";
import { describeRule } from "../parts/rbac.ts";
import type { AnyKind, Input } from "../resource/kind.ts";
import type { RequestRecord } from "./request_log.ts";
import type { PolicyRule, UsedRight } from "./rights.ts";

const NAMESPACE = "default";

const KINDS: Readonly<Record<string, AnyKind>> = { ClusterRole, ClusterRoleBinding, Role, RoleBinding, ServiceAccount };

/** How an operator's roles are made. */
export interface OperatorRolesOptions {
  /** The only namespaces that it looks at. */
  readonly watches: readonly string[] | undefined;
  /** Rights that are left out, in words. */
  readonly without: readonly string[];
  /** Rules in place of those made from the declarations. */
  readonly rules: readonly PolicyRule[] | undefined;
}

interface Refusal {
  readonly verb: string;
  readonly resource: string;
  readonly group: string;
  readonly namespace: string | undefined;
}

/** The roles of an operator under test. */
export class OperatorRoles {
  /** As whom it runs. */
  readonly user: User;
  /** Number of requests that the roles rejected. */
  rejected = 0;
  readonly #operator: Operator;
  readonly #client: Client;
  readonly #rights: readonly RbacRule[];
  readonly #used = new Set<RbacRule>();
  /** Roles of namespaces that are not there yet. */
  #waiting: readonly Manifest[];
  readonly #refusals = new Map<string, Refusal>();
  readonly #reported = new Set<string>();

  /**
   * @param operator The operator.
   * @param client An administrator's.
   * @param options How its roles are made.
   * @throws {TypeError} If a right is to be left out that it does not have.
   */
  constructor(operator: Operator, client: Client, { watches, without, rules }: OperatorRolesOptions) {
    this.#operator = operator;
    this.#client = client;
    this.#rights = operator.rbac();
    const words = this.#rights.map(describeRule);
    for (const word of without) {
      if (!words.includes(word)) refuseWord(word, words);
    }
    const install = installOf(operator, {
      namespace: NAMESPACE,
      image: "none",
      policies: operator.config?.policies ?? [],
      ...(watches === undefined ? {} : { watchNamespaces: watches }),
    });
    const given = this.#rights.filter((right) => !without.includes(describeRule(right)));
    this.#waiting = rules === undefined
      ? accessManifests(operator.name, given, install)
      : explicit(operator.name, rules);
    const groups = ["system:serviceaccounts", `system:serviceaccounts:${NAMESPACE}`, "system:authenticated"];
    this.user = { name: `system:serviceaccount:${NAMESPACE}:${operator.name}`, groups };
  }

  /** Makes the roles; those of a namespace that is not there wait for it. */
  async install(): Promise<void> {
    const waiting: Manifest[] = [];
    for (const manifest of this.#waiting) {
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
        waiting.push(manifest);
      }
    }
    this.#waiting = waiting;
  }

  /** A namespace was made: roles may have waited for it. */
  async namespaceMade(): Promise<void> {
    if (this.#waiting.length > 0) await this.install();
  }

  /** Notes what a request of the operator came to. */
  async note(record: RequestRecord, response: Response): Promise<void> {
    const { group = "", resource, subresource, namespace } = record;
    if (resource === undefined) return;
    if (response.status === 403) {
      const { message } = await response.clone().json() as { readonly message?: string };
      const refusals = this.#refusalsIn(message ?? "", record);
      this.rejected += refusals.length;
      for (const refusal of refusals) this.#noteRefusal(refusal);
      return;
    }
    const whole = subresource === undefined ? resource : `${resource}/${subresource}`;
    // Whether a kind is listed or streamed is the server's to say; what a patch makes needs both rights.
    const verbs = record.verb === "watch"
      ? ["watch", "list"]
      : response.status === 201
      ? [record.verb, "create"]
      : [record.verb];
    this.#use({ verbs, group, resource: whole, namespace });
    for (const owner of this.#blockedOwners(record)) this.#use({ ...owner, verbs: [owner.verb] });
  }

  /** The right to block the deletion of the owners that a write names, where they are the operator's own kinds. */
  #blockedOwners({ body, namespace }: RequestRecord): Refusal[] {
    return blockingOwners(body).flatMap(({ apiVersion, kind: name }) => {
      const owner = Object.values(this.#operator.parts).find(({ kind }) =>
        kind.apiVersion === apiVersion && kind.kind === name
      );
      if (owner === undefined) return [];
      const { group, plural } = owner.kind;
      return [{ verb: "update", group, resource: `${plural}/finalizers`, namespace }];
    });
  }

  #use(
    { verbs, group, resource, namespace }: Omit<Refusal, "verb"> & { readonly verbs: readonly string[] },
  ): void {
    for (const right of this.#rights) {
      if (right.group !== group || right.resource !== resource || !verbs.includes(right.verb)) continue;
      if (namespace === undefined || (right.namespaces?.includes(namespace) ?? true)) this.#used.add(right);
    }
  }

  /** Roles refuse in these words, and who checks owners in those; what else is answered 403 has its own. */
  #refusalsIn(message: string, record: RequestRecord): Refusal[] {
    if (message.includes("cannot set blockOwnerDeletion if an ownerReference refers to")) {
      return this.#blockedOwners(record);
    }
    if (message.includes("cannot set an ownerRef on a resource you can't delete")) {
      const { group = "", resource = "", namespace } = record;
      return [{ verb: "delete", group, resource, namespace }];
    }
    const who = `User ${JSON.stringify(this.user.name)} cannot `;
    const start = message.indexOf(who);
    if (start === -1) return [];
    const [, verb, resource, group, namespace] =
      /^(\S+) resource "([^"]*)" in API group "([^"]*)" (?:at the cluster scope|in the namespace "([^"]*)")/.exec(
        message.slice(start + who.length),
      ) ?? [];
    if (verb === undefined || resource === undefined || group === undefined) return [];
    return [{ verb, resource, group, namespace }];
  }

  #noteRefusal(refusal: Refusal): void {
    const { namespace } = refusal;
    // Before the namespace is there its roles are not either; a cluster would refuse it likewise.
    if (this.#waiting.some(({ metadata }) => metadata.namespace === namespace)) return;
    this.#refusals.set(describeRule(refusal) + (namespace ?? ""), refusal);
  }

  /** What was refused since it was last asked, as an error. */
  takeRefusals(): Error | undefined {
    const fresh = [...this.#refusals].filter(([key]) => !this.#reported.has(key));
    for (const [key] of fresh) this.#reported.add(key);
    if (fresh.length === 0) return undefined;
    const lines = fresh.map(([, refusal]) => this.#line(refusal));
    return new Error(
      `Cannot go on: the roles of operator "${this.#operator.name}" refused it:\n  ${lines.join("\n  ")}\n` +
        'A test that means it says refusals: "allow"',
    );
  }

  #line(refusal: Refusal): string {
    const { verb, group, resource, namespace } = refusal;
    const where = namespace === undefined ? "in the whole cluster" : `in namespace "${namespace}"`;
    const needed = this.#rights.filter((right) =>
      right.verb === verb && right.group === group && right.resource === resource
    );
    const missing = `missing line: ${describeRule(refusal)} ${where}`;
    if (needed.length === 0) {
      return `${missing}: nothing declares it: add the kind to "owns", "reads" or "uses", or the rule to generate.rbac.policies`;
    }
    const reasons = needed.map(({ part, reason }) => `${part === undefined ? "the operator" : part} ${reason}`);
    return `${missing} (${reasons.join("; ")})`;
  }

  /** Each right, and whether it was used. */
  usage(): readonly UsedRight[] {
    return this.#rights.map((right) => ({ ...right, used: this.#used.has(right) }));
  }
}

function refuseWord(word: string, words: readonly string[]): never {
  const meant = nearest(word, words);
  const hint = meant === undefined ? `there is ${words.join(", ")}` : `did you mean "${meant}"?`;
  throw new TypeError(`Cannot leave out the right "${word}": the operator has none of that name: ${hint}`);
}

/** Given rules, as a ClusterRole that is the operator's. */
function explicit(name: string, rules: readonly PolicyRule[]): Manifest[] {
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
