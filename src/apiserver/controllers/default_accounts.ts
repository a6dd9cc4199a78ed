/**
 * The controller of the service account `default` in each namespace
 * (`k8s.io/kubernetes/pkg/controller/serviceaccount`).
 */
import type { Core } from "../core/core.ts";
import { createObject } from "../core/persist.ts";
import { keyOf } from "../objects/key.ts";
import { NAMESPACES } from "./namespaces.ts";

const ACCOUNTS = "/serviceaccounts";
const NAME = "default";

/**
 * Creates the account in each existing and future namespace, and again when it is deleted.
 *
 * @param core The server, with its kinds and namespaces.
 */
export function createDefaultAccounts(core: Core): void {
  for (const { metadata } of core.store.list(NAMESPACES)) createAccount(core, metadata.name);
  core.store.listen(({ type, collection, object: { metadata } }) => {
    const isNewNamespace = collection === NAMESPACES && type === "ADDED";
    const isDeletedAccount = collection === ACCOUNTS && type === "DELETED" && metadata.name === NAME;
    const namespace = isNewNamespace ? metadata.name : isDeletedAccount ? metadata.namespace : undefined;
    if (namespace === undefined) return;
    core.background.add(`default account of ${namespace}`, () => createAccount(core, namespace));
  });
}

function createAccount(core: Core, namespaceName: string): void {
  const kind = core.kinds.ofCollection(ACCOUNTS);
  const namespace = core.store.get(NAMESPACES, namespaceName);
  if (kind === undefined || namespace === undefined || namespace.metadata.deletionTimestamp !== undefined) return;
  if (core.store.get(ACCOUNTS, keyOf(namespaceName, NAME)) !== undefined) return;
  const { object } = kind.rules.decode({ apiVersion: "v1", kind: "ServiceAccount", metadata: { name: NAME } });
  createObject(core, kind, object, { namespace: namespaceName, dryRun: false });
}
