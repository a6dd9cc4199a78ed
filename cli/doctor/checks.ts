/** The checks of `op doctor` on what an operator declares: definitions, rights, the Deployment, the Lease, finalizers. */
import { type AnyKind, ApiError, type KubeObject } from "@op/sdk";
import type { RbacRule } from "@op/sdk/operator";
import { CustomResourceDefinition, Deployment, Lease, ServiceAccount, SubjectAccessReview } from "@op/sdk/kinds";
import { type Cluster, servedKind } from "../cluster.ts";
import { collectableKinds } from "../cluster_scan.ts";
import { definitionChanges } from "../crd/definition_changes.ts";
import type { Definition } from "../definitions/definition.ts";
import type { OperatorFacts } from "../inspect.ts";
import { accountOf } from "../run/install.ts";
import { electionLease } from "../run/running_operator.ts";
import { foreignHeld } from "../deploy/foreign_finalizers.ts";
import { conflictReport, conflictsIn, liveOf } from "../deploy/ownership.ts";
import { type PlainObject, shown } from "../objects.ts";
import { counted } from "../plural.ts";
import { type Finding, findings } from "./finding.ts";

/** Versions of Kubernetes that the SDK is tried on: older ones may lack what it asks for. */
const OLDEST_MINOR = 33;

/** The server answers, and is one that the SDK knows. */
export async function server({ client, url }: Cluster): Promise<Finding[]> {
  const { good, doubtful } = findings("server");
  const { gitVersion, major, minor } = await client.raw<{ gitVersion: string; major: string; minor: string }>(
    "/version",
  );
  const told = `${url} is Kubernetes ${gitVersion}`;
  const isOld = Number(major) === 1 && Number.parseInt(minor) < OLDEST_MINOR;
  return [isOld ? doubtful(`${told}; the SDK is tried on 1.${OLDEST_MINOR} and later`) : good(told)];
}

/** Whether anything of the operator is in the cluster. */
export async function isInstalled(cluster: Cluster, { manifests }: OperatorFacts): Promise<boolean> {
  const { crd, namespace, rbac, manager, webhook } = manifests;
  const objects = [...crd, ...namespace, ...rbac, ...manager, ...webhook] as unknown as PlainObject[];
  return (await Promise.all(objects.map((object) => liveOf(cluster, object)))).some((live) => live !== undefined);
}

/** The objects of the operator's name belong to this operator, and not to another one of the same name. */
export async function identity(cluster: Cluster, { name, id, manifests }: OperatorFacts): Promise<Finding[]> {
  const { good, wrong, doubtful } = findings("identity");
  const objects = Object.values(manifests).flat() as unknown as PlainObject[];
  const conflicts = await conflictsIn(cluster, objects);
  if (conflicts.length > 0) {
    const report = await conflictReport(cluster, conflicts, objects);
    return [wrong(`${report.replaceAll("\n", " ")} op deploy and op uninstall refuse to change them.`)];
  }
  if (id !== undefined) return [good(`no object of "${name}" belongs to another operator; the ID is "${id}"`)];
  return [
    doubtful(
      `"${name}" has no ID: another operator of this name is recognized by its kinds only. Add to operator.toml: ` +
        `[project] id = "${crypto.randomUUID()}"`,
    ),
  ];
}

/** The definitions are there, served, and what is declared. Of external kinds the declared version must be served. */
export async function definitions(
  cluster: Cluster,
  { crds, externalCrds, reconciled }: OperatorFacts,
): Promise<Finding[]> {
  const { client } = cluster;
  const { good, wrong, doubtful } = findings("kinds");
  const external = await Promise.all(externalCrds.map((crd) => externalDefinition(cluster, crd)));
  if (crds.length === 0) return [good("the operator declares none of its own"), ...external];
  const own = (await Promise.all(crds.map(async (crd): Promise<Finding[]> => {
    const { name } = crd.metadata;
    const live = await present(() => client.get(CustomResourceDefinition, name));
    if (live === undefined) {
      const told = `${name} is not installed: op deploy, or op crds | kubectl apply -f -`;
      return [reconciled.includes(name) ? wrong(told) : doubtful(told)];
    }
    const established = live.status?.conditions?.find(({ type }) => type === "Established");
    if (established?.status !== "True") {
      return [wrong(`${name} is not served: ${established?.message ?? "no reason is told"}`)];
    }
    const changes = definitionChanges([live as unknown as Definition], [crd as unknown as Definition]);
    const stored = (live.status?.storedVersions ?? []).filter((version) =>
      !crd.spec.versions.some(({ name }) => name === version)
    );
    return [
      changes.length === 0 ? good(`${name} is what the operator declares`) : wrong(
        `${name} differs in ${counted(changes.length, "place")}: ${
          changes.slice(0, 3).map(({ version, path, told }) => [version, path, told].filter(Boolean).join(" ")).join(
            "; ",
          )
        }`,
      ),
      ...(stored.length === 0
        ? []
        : [doubtful(`${name} still has objects stored as ${stored.join(", ")}, which is not declared any more`)]),
    ];
  }))).flat();
  return [...own, ...external];
}

async function externalDefinition(cluster: Cluster, { metadata, spec }: ExternalCrd): Promise<Finding> {
  const { good, wrong } = findings("kinds");
  const versions = spec.versions.map(({ name }) => name);
  const served = await Promise.all(
    versions.map((version) => servedKind(cluster, { apiVersion: `${spec.group}/${version}`, kind: spec.names.kind })),
  );
  const missing = versions.filter((_, i) => served[i] === undefined);
  if (missing.length < versions.length) return good(`${metadata.name}, which is external, is served`);
  return wrong(
    `${metadata.name}, which is external, is not served in ${
      missing.join(", ")
    }: install the project that it belongs to`,
  );
}

type ExternalCrd = OperatorFacts["externalCrds"][number];

/** The service account may do what the parts ask for. */
export async function permissions(
  { client }: Cluster,
  facts: OperatorFacts,
  watches: readonly string[] | undefined,
): Promise<Finding[]> {
  const { good, wrong } = findings("permissions");
  const { user, namespace, name } = accountOf(facts);
  // Roles may be bound to an account that does not exist; nothing runs as it.
  if (await present(() => client.get(ServiceAccount, name, { namespace })) === undefined) {
    return [
      wrong(
        `ServiceAccount ${namespace}/${name} is not installed, so that the operator has none of its ${
          counted(facts.rights.length, "permission")
        }: op deploy`,
      ),
    ];
  }
  const answers = await Promise.all(
    facts.rights.flatMap((right) =>
      placesOf(right, namespace, watches).map(async (place) => {
        const { status } = await client.create(SubjectAccessReview, {
          spec: { user, groups: groupsOf(namespace), resourceAttributes: attributesOf(right, place) },
        });
        return { right, isGiven: status?.allowed === true };
      })
    ),
  );
  const missing = answers.filter(({ isGiven }) => !isGiven);
  if (missing.length === 0) return [good(`${user} has all ${counted(facts.rights.length, "right")}`)];
  return missing.map(({ right: { verb, resource, group, part, reason } }) =>
    wrong(
      `${user} may not ${verb} ${qualified(resource, group)} (${
        part ?? "the operator"
      }: ${reason}): op deploy, or op rbac generate`,
    )
  );
}

/** As kubectl names it: `websites.demo.example.com/status`. */
function qualified(resource: string, group: string): string {
  const [name, ...parts] = resource.split("/");
  return [group === "" ? name : `${name}.${group}`, ...parts].join("/");
}

function placesOf(
  { scope, namespaces }: RbacRule,
  own: string,
  watches: readonly string[] | undefined,
): readonly (string | undefined)[] {
  if (namespaces !== undefined) return namespaces;
  return scope === "cluster" ? [undefined] : scope === "own" ? [own] : watches ?? [undefined];
}

function groupsOf(namespace: string): string[] {
  return ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"];
}

function attributesOf({ group, resource, verb, names }: RbacRule, namespace: string | undefined) {
  const [plural = "", subresource] = resource.split("/");
  return {
    group,
    resource: plural,
    verb,
    ...(subresource === undefined ? {} : { subresource }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(names[0] === undefined ? {} : { name: names[0] }),
  };
}

/** The Deployment is there, and its pods run. */
export async function workload({ client }: Cluster, { manifests, name }: OperatorFacts): Promise<Finding[]> {
  const { good, wrong, doubtful } = findings("deployment");
  const wanted = manifests.manager.filter(({ kind }) => kind === "Deployment");
  return await Promise.all(wanted.map(async ({ metadata }) => {
    const { namespace = "" } = metadata;
    const live = await present(() => client.get(Deployment, metadata.name, { namespace }));
    if (live === undefined) {
      return doubtful(`${namespace}/${metadata.name} is not there: "${name}" runs elsewhere, or not at all`);
    }
    const { replicas = 1 } = live.spec ?? {};
    const { availableReplicas = 0, conditions = [] } = live.status ?? {};
    const told = `${namespace}/${metadata.name}: ${availableReplicas} of ${replicas} replicas are available`;
    if (replicas > 0 && availableReplicas >= replicas) return good(told);
    const why = conditions.find(({ type, status }) =>
      (type === "ReplicaFailure" && status === "True") || (type === "Available" && status === "False")
    );
    return wrong(`${told}${why?.message === undefined ? "" : `: ${why.message}`}`);
  }));
}

/** Somebody leads, and is alive. */
export async function leader({ client }: Cluster, facts: OperatorFacts, now: number): Promise<Finding[]> {
  const { good, wrong, doubtful } = findings("leader");
  const place = electionLease(facts);
  if (place === undefined) return [good("the operator elects none")];
  const { name, namespace } = place;
  const lease = await present(() => client.get(Lease, name, { namespace }));
  if (lease === undefined) return [doubtful(`there is no Lease ${namespace}/${name}: nobody has led yet`)];
  const { holderIdentity, renewTime, leaseDurationSeconds = 15 } = lease.spec ?? {};
  if (!holderIdentity) return [doubtful(`Lease ${namespace}/${name} is free: nobody leads`)];
  const age = Math.round((now - Date.parse(String(renewTime))) / 1000);
  if (age > leaseDurationSeconds) {
    return [
      wrong(
        `${holderIdentity} holds Lease ${namespace}/${name}, and did not renew it for ${age} s, though it is good for ${leaseDurationSeconds} s: does it still run?`,
      ),
    ];
  }
  return [good(`${holderIdentity} leads, and renewed ${Math.max(age, 0)} s ago`)];
}

/** No object has waited for long to be cleaned up. */
export async function finalizers(
  cluster: Cluster,
  facts: OperatorFacts,
  now: number,
  patience: number,
): Promise<Finding[]> {
  const { crds, reconciled, name, finalizers: own } = facts;
  const { good, wrong } = findings("finalizers");
  const kinds = crds.filter(({ metadata }) => reconciled.includes(metadata.name));
  const lists = await Promise.all(kinds.map(async ({ spec }) => {
    const version = spec.versions.find(({ storage }) => storage)?.name ?? "";
    const kind = await servedKind(cluster, { apiVersion: `${spec.group}/${version}`, kind: spec.names.kind });
    return kind === undefined ? [] : await cluster.client.list(kind);
  }));
  const all = lists.flat() as KubeObject[];
  const stuck = all.filter(({ metadata: { deletionTimestamp } }) =>
    deletionTimestamp !== undefined && now - Date.parse(deletionTimestamp) > patience
  );
  const left = await leftFinding(cluster, facts);
  if (stuck.length === 0) return [good(`of ${counted(all.length, "object")} none has waited for long to go`), ...left];
  return [
    ...left,
    ...stuck.map(({ kind, metadata }) => {
      const held = metadata.finalizers ?? [];
      const isOurs = held.some((one) => own.includes(one) || (one.split("/")[1] ?? "").startsWith(`${name}.`));
      const since = Math.round((now - Date.parse(metadata.deletionTimestamp!)) / 1000);
      const what = isOurs ? "see the operator's log for why its cleanup does not end" : "others must take it off";
      return wrong(
        `${kind} ${
          metadata.namespace === undefined ? "" : `${metadata.namespace}/`
        }${metadata.name} is to go for ${since} s, held by ${held.join(", ")}: ${what}`,
      );
    }),
  ];
}

/** Finalizers on objects of kinds that no controller of the operator has any more: nobody would ever remove them. */
async function leftFinding(cluster: Cluster, facts: OperatorFacts): Promise<Finding[]> {
  const { wrong } = findings("finalizers");
  const isControlled = ({ group, kind }: AnyKind) =>
    facts.controlled.some((one) => one.group === group && one.kind === kind);
  const kinds = (await collectableKinds(cluster)).filter((kind) => !isControlled(kind));
  const held = await foreignHeld(cluster, facts, kinds);
  if (held.length === 0) return [];
  const some = held.slice(0, 3).map(({ object }) => shown(object)).join(", ");
  return [
    wrong(
      `${
        counted(held.length, "object has", "objects have")
      } finalizers of controllers that "${facts.name}" does not have ` +
        `any more (${some}${held.length > 3 ? ` and ${held.length - 3} more` : ""}) and cannot be deleted: ` +
        `op deploy --release-finalizers removes them without a cleanup`,
    ),
  ];
}

/** An object; nothing where there is none. */
export async function present<T>(get: () => Promise<T>): Promise<T | undefined> {
  try {
    return await get();
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}
