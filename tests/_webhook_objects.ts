/** Creates the objects that make an API server ask an operator's webhooks, as its manifests have them. */
import assert from "node:assert/strict";
import {
  MutatingWebhookConfiguration,
  Secret,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingWebhookConfiguration,
} from "../src/kinds/mod.ts";
import type { Client } from "../src/kube/client.ts";
import type { Manifest } from "../src/manifests/manifest.ts";
import type { AnyKind } from "../src/resource/kind.ts";

const KINDS: Readonly<Record<string, AnyKind>> = {
  MutatingWebhookConfiguration,
  Secret,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingWebhookConfiguration,
};

/** Creates objects in their order. */
export async function createWebhookObjects(client: Client, manifests: readonly Manifest[]): Promise<void> {
  for (const manifest of manifests) {
    const kind = KINDS[manifest.kind];
    assert(kind, manifest.kind);
    const { namespace } = manifest.metadata;
    await client.create(kind, manifest as never, namespace === undefined ? {} : { namespace });
  }
}
