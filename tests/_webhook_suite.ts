/** What webhooks do, as a user of a cluster sees it: one suite for every API server that calls them. */
import assert from "node:assert/strict";
import { eventually } from "./eventually.ts";

/** Sends a request to the API server, as its administrator. */
export type Send = (method: string, path: string, body?: unknown, type?: string) => Promise<Answer>;

/** What came back. */
export interface Answer {
  readonly status: number;
  // deno-lint-ignore no-explicit-any -- whatever the server says
  readonly body: any;
  readonly warnings: string | null;
}

type Check = (send: Send) => Promise<void>;

const GADGETS = "/apis/gadgets.example.com/v2/namespaces/default/gadgets";
const OLD_GADGETS = "/apis/gadgets.example.com/v1/namespaces/default/gadgets";
const PODS = "/api/v1/namespaces/default/pods";
const MAPS = "/api/v1/namespaces/default/configmaps";

/** The checks, by what they show. */
export const WEBHOOK_SUITE: Readonly<Record<string, Check>> = {
  "a draft that was changed is what is stored, and what nobody knows survives": async (send) => {
    const extra = { "a/b~c": [1, { deep: null }], plain: 1, large: 2 ** 53 };
    const made = await send("POST", GADGETS, gadget("a", { width: 3, height: 2, owner: " me ", extra }));
    assert.equal(made.status, 201, JSON.stringify(made.body));
    assert.deepEqual(made.body.metadata.labels, { area: "6" });
    assert.deepEqual(made.body.spec, { width: 3, height: 2, owner: "me", replicas: 1, extra });
  },
  "several faults are told at once, each with its field, as the server's own": async (send) => {
    await send("POST", MAPS, { ...type("v1", "ConfigMap", "limits"), data: { width: "50" } });
    const { status, body } = await send("POST", GADGETS, gadget("b", { width: 51, height: 0 }));
    await send("DELETE", `${MAPS}/limits`);
    assert.equal(status, 422);
    assert.equal(body.reason, "Invalid");
    assert.equal(
      body.message,
      'admission webhook "gadget-rules.gadget-operator.gadgets.example.com" denied the request: ' +
        'Gadget.gadgets.example.com "b" is invalid: [spec.width: at most 50, spec.height: at least 1]',
    );
    assert.deepEqual(body.details, {
      name: "b",
      group: "gadgets.example.com",
      kind: "Gadget",
      causes: [
        { reason: "FieldValueInvalid", message: "at most 50", field: "spec.width" },
        { reason: "FieldValueInvalid", message: "at least 1", field: "spec.height" },
      ],
    });
  },
  "a warning refuses nothing": async (send) => {
    const { status, warnings } = await send("POST", `${GADGETS}?dryRun=All`, gadget("c", { width: 101 }));
    assert.equal(status, 201);
    assert.match(warnings ?? "", /that is wide/);
  },
  "a function that fails refuses where the policy says so": async (send) => {
    const { status, body } = await send("POST", GADGETS, gadget("broken", {}));
    assert.equal(status, 500);
    assert.match(
      body.message,
      /^Internal error occurred: failed calling webhook "gadget-rules\..*": failed to call webhook: an error on the server \("the webhook failed\. The operator's log has the error under uid [-0-9a-f]+"\) has prevented the request from succeeding$/,
    );
  },
  "a function that fails is passed over where the policy says so": async (send) => {
    const { status, body } = await send("POST", MAPS, guarded("mood", { mood: "broken" }));
    assert.equal(status, 201);
    assert.deepEqual(body.data, { mood: "broken", seen: "yes" });
  },
  "a webhook of a field is asked when the field is new, changes or goes, and not otherwise": async (send) => {
    const asked = ({ warnings }: Answer) => /the owner: (\w+)/.exec(warnings ?? "")?.[1];
    const refused = await send("POST", GADGETS, gadget("d", { owner: "nobody" }));
    assert.equal(refused.status, 422);
    assert.deepEqual(refused.body.details.causes[0].field, "spec.owner");
    const made = await send("POST", GADGETS, gadget("d", {}));
    assert.deepEqual([made.status, asked(made)], [201, undefined]);
    const owned = await merge(send, `${GADGETS}/d`, { spec: { owner: "me" } });
    assert.deepEqual([owned.status, asked(owned)], [200, "UPDATE"]);
    assert.equal((await merge(send, `${GADGETS}/d`, { spec: { owner: "nobody" } })).status, 422);
    const wider = await merge(send, `${GADGETS}/d`, { spec: { width: 7 } });
    assert.deepEqual([wider.status, asked(wider)], [200, undefined]);
    assert.equal(asked(await send("DELETE", `${GADGETS}/d`)), "DELETE");
    assert.equal(asked(await send("POST", GADGETS, gadget("d", { owner: "me" }))), "CREATE");
    await merge(send, `${GADGETS}/d`, { spec: { owner: null } });
    assert.equal(asked(await send("DELETE", `${GADGETS}/d`)), undefined);
  },
  "the status is asked about by its own": async (send) => {
    await send("POST", GADGETS, gadget("e", {}));
    assert.equal((await merge(send, `${GADGETS}/e/status`, { status: { ready: 1 } })).status, 200);
    const { status, body } = await merge(send, `${GADGETS}/e/status`, { status: { ready: 10 } });
    assert.equal(status, 422);
    assert.equal(body.details.causes[0].field, "status.ready");
  },
  "the scale is asked about as a scale": async (send) => {
    await send("POST", GADGETS, gadget("f", { replicas: 2 }));
    assert.equal((await merge(send, `${GADGETS}/f/scale`, { spec: { replicas: 3 } })).status, 200);
    const { status, body } = await merge(send, `${GADGETS}/f/scale`, { spec: { replicas: 6 } });
    assert.equal(status, 409);
    assert.match(body.message, /denied the request: from 3 to more than 5$/);
  },
  "what is deleted is asked about, with what it was": async (send) => {
    assert.equal((await send("POST", MAPS, guarded("kept", { keep: "yes" }))).status, 201);
    const { status, body } = await send("DELETE", `${MAPS}/kept`);
    assert.equal(status, 423);
    assert.match(body.message, /it is to be kept/);
    await merge(send, `${MAPS}/kept`, { data: { keep: null } });
    assert.equal((await send("DELETE", `${MAPS}/kept`)).status, 200);
  },
  "what labels and conditions leave out is not asked about": async (send) => {
    const plain = await send("POST", MAPS, { ...type("v1", "ConfigMap", "plain"), data: {} });
    assert.equal(plain.body.data?.seen, undefined);
    const system = await send("POST", MAPS, guarded("kube-thing", {}));
    assert.equal(system.body.data?.seen, undefined);
  },
  "a connection is asked about, before anything is looked for": async (send) => {
    const { status, body } = await send("POST", `${PODS}/vault/exec?command=ls`);
    assert.equal(status, 403);
    assert.match(body.message, /denied the request: nobody runs \["ls"\] in it$/);
    const other = await send("POST", `${PODS}/other/exec?command=ls`);
    assert.equal(other.status, 404);
    assert.equal(other.body.message, 'pods "other" not found');
  },
  "an object of one version is read in the other, and its rules hold for both": async (send) => {
    const made = await send("POST", OLD_GADGETS, {
      ...type("gadgets.example.com/v1", "Gadget", "g"),
      spec: { size: "4x5" },
    });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    assert.deepEqual(made.body.metadata.labels, { area: "20" });
    const { body } = await send("GET", `${GADGETS}/g`);
    assert.deepEqual(body.spec, { width: 4, height: 5, replicas: 1 });
    await merge(send, `${OLD_GADGETS}/g`, { spec: { size: "6x7" } });
    assert.equal((await send("GET", `${GADGETS}/g`)).body.spec.height, 7);
    const list = await send("GET", OLD_GADGETS);
    const one = list.body.items.find(({ metadata }: { metadata: { name: string } }) => metadata.name === "g");
    assert.equal(one.spec.size, "6x7");
    assert.equal(one.metadata.uid, made.body.metadata.uid);
  },
  "a conversion that fails says which object, and why": async (send) => {
    const odd = { ...type("gadgets.example.com/v1", "Gadget", "h"), spec: { size: "odd" } };
    const { status, body } = await send("POST", OLD_GADGETS, odd);
    assert.equal(status, 500);
    assert.match(
      body.message,
      /conversion webhook for gadgets\.example\.com\/v1, Kind=Gadget failed: Cannot convert Gadget "default\/h" of gadgets\.example\.com\/v1 to gadgets\.example\.com\/v2: nobody knows how large that is$/,
    );
  },
};

/**
 * Waits until the server asks: it hears of a configuration a moment later.
 *
 * @param send Sends a request.
 */
export async function untilAsked(send: Send): Promise<void> {
  const asked = async (path: string, body: unknown, isAsked: (answer: Answer) => boolean): Promise<void> => {
    await eventually(async () => {
      const answer = await send("POST", `${path}?dryRun=All`, body);
      assert(isAsked(answer), JSON.stringify(answer));
    });
  };
  await asked(GADGETS, gadget("probe", { owner: "nobody" }), ({ status }) => status === 422);
  await asked(GADGETS, gadget("probe", {}), ({ status, body }) => status === 201 && body.metadata.labels?.area === "1");
  await asked(MAPS, guarded("probe", {}), ({ body }) => body.data?.seen === "yes");
  const old = { ...type("gadgets.example.com/v1", "Gadget", "probe"), spec: {} };
  await asked(OLD_GADGETS, old, ({ status }) => status === 201);
}

function merge(send: Send, path: string, patch: unknown): Promise<Answer> {
  return send("PATCH", path, patch, "application/merge-patch+json");
}

function type(apiVersion: string, kind: string, name: string) {
  return { apiVersion, kind, metadata: { name } };
}

function gadget(name: string, spec: Record<string, unknown>) {
  return { ...type("gadgets.example.com/v2", "Gadget", name), spec };
}

function guarded(name: string, data: Record<string, string>) {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, labels: { guarded: "yes" } }, data };
}
