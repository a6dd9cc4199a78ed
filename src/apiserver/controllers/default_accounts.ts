/** The service account "default" that each namespace has, as the controller of service accounts makes it (`k8s.io/kubernetes/pkg/controller/serviceaccount`). */
import type { Core } from "../core/core.ts";
import { createObject } from "../core/persist.ts";
import { keyOf } from "../objects/key.ts";
import { NAMESPACES } from "./namespaces.ts";

const ACCOUNTS = "/serviceaccounts";
const NAME = "default";

/**
 * Gives each namespace its account, those to come too, and makes it anew where somebody deletes it.
 *
 * @param core The server, with its kinds and namespaces.
 */
export function giveDefaultAccounts(core: Core): void {
  for (const { metadata } of core.store.list(NAMESPACES)) giveAccount(core, metadata.name);
  core.store.listen(({ type, collection, object: { metadata } }) => {
    const isNew = collection === NAMESPACES && type === "ADDED";
    const isGone = collection === ACCOUNTS && type === "DELETED" && metadata.name === NAME;
    const namespace = isNew ? metadata.name : isGone ? metadata.namespace : undefined;
    if (namespace === undefined) return;
    core.background.add(`default account of ${namespace}`, () => giveAccount(core, namespace));
  });
}

function giveAccount(core: Core, namespace: string): void {
  const kind = core.kinds.ofCollection(ACCOUNTS);
  const home = core.store.get(NAMESPACES, namespace);
  if (kind === undefined || home === undefined || home.metadata.deletionTimestamp !== undefined) return;
  if (core.store.get(ACCOUNTS, keyOf(namespace, NAME)) !== undefined) return;
  const { object } = kind.rules.decode({ apiVersion: "v1", kind: "ServiceAccount", metadata: { name: NAME } });
  createObject(core, kind, object, { namespace, dryRun: false });
}
