/**
 * Objects applied one after the other: the runtime skips an apply exactly where a server would
 * change no field.
 */
import assert from "node:assert/strict";
import { type AnyKind, resource, s } from "../../mod.ts";
import type { Client } from "../../entry_points/client.ts";
import { Deployment, NetworkPolicy } from "../../src/kinds/mod.ts";
import { equal } from "../../src/base/json.ts";
import type { KubeObject } from "../../src/resource/kind.ts";
import { isApplied } from "../../src/runtime/applied.ts";

const part = s.object({ name: s.string(), on: s.optional(s.boolean()), weight: s.optional(s.integer()) });

/** A kind whose values the server stores unchanged, including zeros. */
export const Switch = resource({
  group: "pairs.example.com",
  version: "v1",
  kind: "Switch",
  spec: s.object({
    on: s.optional(s.boolean()),
    text: s.optional(s.string()),
    parts: s.optional(s.array(part)),
    keyed: s.optional(s.array(part, { listType: "map", listMapKeys: ["name"] })),
    tls: s.optional(s.object({ strict: s.optional(s.boolean()) })),
    limits: s.optional(s.map(s.string())),
  }),
});

const spec = (spec: object) => ({ spec });

/** Applied in order; each differs from the one before in values that may count as empty. */
const SWITCHES = [
  spec({}),
  spec({ on: false }),
  spec({ on: false, text: "" }),
  spec({ on: false, parts: [{ name: "a" }] }),
  spec({ on: false, parts: [{ name: "a", on: false }] }),
  spec({ on: false, parts: [{ name: "a", on: false, weight: 0 }] }),
  spec({ parts: [] }),
  spec({ parts: [], keyed: [] }),
  spec({ keyed: [{ name: "a" }] }),
  spec({ keyed: [{ name: "a", weight: 0 }] }),
  spec({ tls: {} }),
  spec({ tls: { strict: false } }),
  spec({ tls: { strict: false }, limits: {} }),
  spec({ limits: { go: "1.1" } }),
  spec({ limits: { go: "1.10" } }),
];

const deployment = (pod: object, container: object = {}) => ({
  spec: {
    paused: false,
    minReadySeconds: 0,
    selector: { matchLabels: { app: "a" } },
    template: {
      metadata: { labels: { app: "a" }, annotations: {} },
      spec: { containers: [{ name: "main", image: "main", tty: false, args: [], ...container }], ...pod },
    },
  },
});

const DEPLOYMENTS = [
  deployment({
    hostNetwork: false,
    tolerations: [{ key: "mine", effect: "NoExecute", operator: "Exists", value: "" }],
  }),
  deployment({ tolerations: [{ key: "mine", effect: "NoExecute", operator: "Exists", tolerationSeconds: 0 }] }),
  deployment({ securityContext: {} }, { resources: { limits: { cpu: "1000m" } } }),
  deployment({ securityContext: { runAsUser: 0 } }, { securityContext: {} }),
  deployment({ nodeSelector: {} }, { securityContext: { privileged: false } }),
  deployment({ volumes: [{ name: "v", projected: { sources: [{ configMap: { name: "c", items: [] } }] } }] }),
  deployment({
    volumes: [{ name: "v", projected: { sources: [{ configMap: { name: "c", items: [], optional: false } }] } }],
  }),
];

const policy = (peer: object, more: object = {}) => ({
  spec: { podSelector: {}, ingress: [{ from: [{ podSelector: { matchLabels: { a: "b" } }, ...peer }], ...more }] },
});

const POLICIES = [policy({}), policy({ namespaceSelector: {} }), policy({ namespaceSelector: {} }, { ports: [] })];

const PAIRS: readonly (readonly [kind: AnyKind, wanted: readonly object[]])[] = [
  [Switch, SWITCHES],
  [Deployment, DEPLOYMENTS],
  [NetworkPolicy, POLICIES],
];

const MANAGER = "pairs";

/**
 * Applies them in order.
 *
 * @param client A client of a server that has the kind {@linkcode Switch}.
 */
export async function applyPairs(client: Client): Promise<void> {
  for (const [kind, all] of PAIRS) {
    let live: KubeObject | undefined;
    for (const content of all) {
      const metadata = { name: "a", namespace: "default", labels: {} };
      const wanted = { apiVersion: kind.apiVersion, kind: kind.kind, metadata, ...content } as KubeObject;
      const seemedDone: boolean = live !== undefined && isApplied(wanted, live, MANAGER);
      const after = await client.apply(kind, wanted as never, { manager: MANAGER }) as KubeObject;
      const shown = JSON.stringify(content);
      // Compares the content, since for some kinds a real server increments the generation for an
      // empty list that it does not store.
      const isChanged = !equal(specOf(after), specOf(live));
      assert(!(seemedDone && isChanged), `${kind.kind} would not have been applied: ${shown}`);
      assert(isApplied(wanted, after, MANAGER), `${kind.kind} would be applied again and again: ${shown}`);
      live = after;
    }
  }
}

function specOf(object: KubeObject | undefined): unknown {
  return (object as { spec?: unknown } | undefined)?.spec;
}
