/** Webhooks that check shops before they are stored and namespaces before they are deleted. */
import { access, deny, webhook } from "@op/sdk";
import { Namespace } from "@op/sdk/kinds";
import { Shop } from "./shop.ts";

/** Converts hosts to lowercase, and rejects changes of a host and hosts that another shop uses. */
export const shopRules = webhook(Shop, {
  uses: [access(Shop, "list")],

  mutate(shop) {
    shop.spec.host = shop.spec.host.toLowerCase();
  },

  async validate(shop, { old, list, warn, audit }) {
    if (old !== undefined && old.spec.host !== shop.spec.host) {
      throw deny("the host of a shop cannot change", { field: "spec.host" });
    }
    const shops = await list(Shop, { namespace: "*" });
    const other = shops.find(({ metadata, spec }) =>
      spec.host === shop.spec.host && metadata.uid !== shop.metadata.uid
    );
    if (other !== undefined) {
      throw deny(`"${shop.spec.host}" is the host of shop "${other.metadata.name}"`, { field: "spec.host" });
    }
    if (shop.spec.tier === "free") warn("a free shop sleeps after an hour");
    audit("tier", shop.spec.tier);
  },
});

/**
 * Rejects the deletion of a protected namespace that has shops. The label selects the namespaces.
 */
export const namespaceRules = webhook(Namespace, {
  operations: ["DELETE"],
  objectSelector: { matchLabels: { "shop.example.com/protected": "true" } },
  uses: [access(Shop, "list")],
  failurePolicy: "Fail",

  async validate({ metadata }, { list }) {
    const shops = await list(Shop, { namespace: metadata.name });
    if (shops.length > 0) throw deny(`the namespace has shops: ${shops.length}`, { status: 409 });
  },
});
