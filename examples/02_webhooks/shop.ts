/** A kind in two versions: v1 has the address in one string, v2 has its parts. */
import { conversion, type Infer, resource, s } from "@op/sdk";

const names = { group: "shop.example.com", kind: "Shop" } as const;

export const ShopV1 = resource({
  ...names,
  version: "v1",
  spec: s.object({
    host: s.string(),
    /** Street and town, with a comma between them. */
    address: s.string({ pattern: "^[^,]+, [^,]+$" }),
    tier: s.string({ enum: ["free", "paid"], default: "free" }),
  }),
});

export const Shop = resource({
  ...names,
  version: "v2",
  spec: s.object({
    host: s.string(),
    address: s.object({ street: s.string({ pattern: "^[^,]+$" }), town: s.string({ pattern: "^[^,]+$" }) }),
    tier: s.string({ enum: ["free", "paid"], default: "free" }),
  }),
  versions: [ShopV1],
});
export type Shop = Infer<typeof Shop>;

/** Converts in both directions without loss: a test tries a thousand generated shops. */
export const shopV1 = conversion(ShopV1, Shop, {
  up({ spec: { address, ...spec } }) {
    const [street = "", town = ""] = address.split(", ");
    return { spec: { ...spec, address: { street, town } } };
  },
  down: ({ spec: { address, ...spec } }) => ({ spec: { ...spec, address: `${address.street}, ${address.town}` } }),
});
