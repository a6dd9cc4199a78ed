/**
 * Takes over webhooks and conversions that `op dev` redirected to itself. This is necessary because
 * a conversion can call only one webhook.
 */
import { NAME_LABEL } from "../internal/mod.gen.ts";
import type { CustomResourceDefinitionManifest } from "@op/sdk/resource";
import type { Cluster } from "../cluster.ts";
import { Failure } from "../exit_code.ts";
import type { Io } from "../io.ts";
import type { PlainObject } from "../objects.ts";
import { devSession, shownSession } from "../run/dev_lease.ts";
import { registeredIn, type Registration, unregister } from "../run/webhook_registration.ts";
import { objectCount } from "./ownership.ts";

/** Options for {@linkcode takeBackFromDev}. */
export interface TakeBackOptions {
  readonly dryRun?: boolean | undefined;
  /** Whether to take over from an `op dev` that still runs. */
  readonly takeBack?: boolean | undefined;
}

/**
 * Takes over the webhooks and conversions that an `op dev` has redirected to itself, if that `op
 * dev` has ended.
 *
 * @param cluster The cluster.
 * @param objects The objects to apply.
 * @param options Whether this is a dry run, and whether to take over from a running `op dev`.
 * @param io The terminal and the shell.
 * @returns In a dry run, the definitions whose conversion would be taken over; otherwise an empty
 *   set.
 * @throws {Failure} If a running `op dev` serves the conversion of a definition among the objects.
 */
export async function takeBackFromDev(
  cluster: Cluster,
  objects: readonly PlainObject[],
  { dryRun = false, takeBack = false }: TakeBackOptions,
  io: Io,
): Promise<ReadonlySet<string>> {
  const crd = objects.filter(({ kind }) =>
    kind === "CustomResourceDefinition"
  ) as unknown as CustomResourceDefinitionManifest[];
  const names = new Set(
    objects.filter(({ kind }) => kind === "ServiceAccount").flatMap(({ metadata }) =>
      metadata.labels?.[NAME_LABEL] ?? []
    ),
  );
  const unvalidated = new Set<string>();
  // If only definitions are applied, the operator's name is unknown, and there are no webhooks.
  for (const name of names.size === 0 ? [""] : names) {
    const operator = { name, manifests: { crd } };
    const registrations = await registeredIn(cluster, operator);
    if (registrations.length === 0) continue;
    const session = await sessionOf(cluster, registrations);
    const converted = registrations.flatMap(({ definition }) => definition ?? []);
    const shown = registrations.map((one) => one.shown);
    if (session?.isAlive && !takeBack) {
      if (converted.length > 0) throw await conversionInUse(cluster, name, converted, shownSession(session));
      io.err(`Warning: ${shownSession(session)} also serves ${shown.join(" and ")}\n`);
      continue;
    }
    const holder = session === undefined ? 'an "op dev" that has ended' : shownSession(session);
    if (!dryRun) await unregister(cluster, operator);
    for (const one of shown) io.out(`${dryRun ? "would take over" : "took over"} ${one} from ${holder}\n`);
    if (dryRun) { for (const definition of converted) unvalidated.add(definition); }
  }
  return unvalidated;
}

async function sessionOf(cluster: Cluster, registrations: readonly Registration[]) {
  const lease = registrations.find(({ lease }) => lease !== undefined)?.lease;
  return lease === undefined ? undefined : await devSession(cluster, lease, Date.now());
}

async function conversionInUse(
  cluster: Cluster,
  name: string,
  definitions: readonly string[],
  session: string,
): Promise<Failure> {
  const converted = await Promise.all(
    definitions.map(async (definition) => `${definition} (${await objectCount(cluster, definition)})`),
  );
  return new Failure(
    `Cannot deploy "${name}": ${session} serves the conversion of ${converted.join(", ")}. No object was changed. ` +
      `End it with Ctrl-C and deploy again, or add --take-back to redirect the conversion to the deployed operator.`,
  );
}
