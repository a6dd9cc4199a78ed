/** Installs an operator's definitions in a real cluster. */
import type { Operator } from "../../mod.ts";
import { CustomResourceDefinition } from "../../src/kinds/mod.ts";
import type { Client } from "../../src/kube/client.ts";
import { watched } from "../_watched.ts";

/** Creates the definitions and waits until they are served. */
export async function install(client: Client, operator: Operator): Promise<void> {
  const crds = operator.crds();
  for (const crd of crds) await client.create(CustomResourceDefinition, crd as never);
  await using definitions = await watched(client, CustomResourceDefinition);
  await definitions.until((all) =>
    crds.every(({ metadata }) => {
      const { status } = all.find((one) => one.metadata.name === metadata.name) ?? {};
      return status?.conditions?.some(({ type, status }) => type === "Established" && status === "True") ?? false;
    })
  );
}
