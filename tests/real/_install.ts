/** Installs an operator's definitions in a real cluster. */
import type { Operator } from "../../mod.ts";
import { CustomResourceDefinition } from "../../src/kinds/mod.ts";
import type { Client } from "../../src/kube/client.ts";
import { findKind } from "../../src/kube/discovery.ts";
import { watched } from "../_watched.ts";
import { eventually } from "../eventually.ts";

/** Creates the definitions and waits until they are served. */
export async function install(client: Client, operator: Operator): Promise<void> {
  for (const crd of operator.crds()) await client.create(CustomResourceDefinition, crd as never);
  await established(client);
}

/** Waits until the API server serves every version of all definitions, and lists it in discovery. */
export async function established(client: Client): Promise<void> {
  await using definitions = await watched(client, CustomResourceDefinition);
  await definitions.until((all) =>
    all.every(({ status }) =>
      status?.conditions?.some(({ type, status }) => type === "Established" && status === "True")
    )
  );
  // The handler of requests and discovery each follow the condition by a watch of their own.
  for (const { spec: { group, names, versions } } of definitions.values()) {
    for (const { name } of versions.filter(({ served }) => served)) {
      await eventually(() => findKind(client, `${names.plural}.${name}.${group}`));
      await eventually(() => client.raw(`/apis/${group}/${name}/${names.plural}?limit=1`));
    }
  }
}
