/** Installs an operator's definitions in a real cluster. */
import type { Operator } from "../../mod.ts";
import { CustomResourceDefinition } from "../../src/kinds/mod.ts";
import type { Client } from "../../src/kube/client.ts";
import { watched } from "../_watched.ts";

/** Creates the definitions and waits until they are served. */
export async function install(client: Client, operator: Operator): Promise<void> {
  for (const crd of operator.crds()) await client.create(CustomResourceDefinition, crd as never);
  await established(client);
}

/** Waits until all definitions that are there are served. */
export async function established(client: Client): Promise<void> {
  await using definitions = await watched(client, CustomResourceDefinition);
  await definitions.until((all) =>
    all.every(({ status }) =>
      status?.conditions?.some(({ type, status }) => type === "Established" && status === "True")
    )
  );
}
