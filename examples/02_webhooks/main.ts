/** The operator: webhooks and a conversion, and no controller. */
import { operator } from "@op/sdk";
import { namespaceRules, shopRules } from "./rules.ts";
import { shopV1 } from "./shop.ts";

const op = operator({ name: "shop-operator", version: "0.1.0", parts: { shopRules, namespaceRules, shopV1 } });
export default op;
if (import.meta.main) await op.main();
