import assert from "node:assert/strict";
import { type HeldFacts, nextStep, USUAL_TIMES } from "./authority.ts";

const DAY = 86_400_000;
const NAMES = ["notes-webhook.team.svc"];
const NOW = 1000 * DAY;

function authority(keyId: string, until: number) {
  return { from: 0, until, names: [], keyId, authorityKeyId: keyId };
}

/** An authority and a certificate by it, made now; with what differs. */
function held(more: Partial<HeldFacts> = {}): HeldFacts {
  return {
    authorities: [authority("one", NOW + 730 * DAY)],
    server: { from: 0, until: NOW + 90 * DAY, names: NAMES, keyId: "server", authorityKeyId: "one" },
    authoritySince: NOW,
    serverSince: NOW,
    ...more,
  };
}

const RENEWAL = NOW + 730 * DAY * 2 / 3;
/** A certificate that is young when the authority is to be renewed. */
const YOUNG = held({ serverSince: RENEWAL - DAY, server: { ...held().server, until: RENEWAL + 89 * DAY } });

const TWO = [authority("two", NOW + 730 * DAY), authority("one", NOW + 100 * DAY)];

for (
  const { name, given, at = NOW, names = NAMES, publishedSince, step } of [
    { name: "begins where there is nothing", given: undefined, step: "begin" },
    { name: "begins anew when the authority is over", given: held(), at: NOW + 731 * DAY, step: "begin" },
    { name: "does nothing while all is young", given: held(), step: "nothing" },
    {
      name: "renews a certificate two thirds into its time",
      given: held(),
      at: NOW + 60 * DAY,
      step: "make a certificate",
    },
    { name: "does nothing a moment before", given: held(), at: NOW + 60 * DAY - 1, step: "nothing" },
    { name: "renews an authority two thirds into its time", given: YOUNG, at: RENEWAL, step: "make an authority" },
    { name: "does nothing about an authority a moment before", given: YOUNG, at: RENEWAL - 1, step: "nothing" },
    { name: "waits while a new authority is not published", given: held({ authorities: TWO }), step: "nothing" },
    {
      name: "waits until clients have heard of a new authority",
      given: held({ authorities: TWO }),
      publishedSince: NOW - USUAL_TIMES.publish + 1,
      step: "nothing",
    },
    {
      name: "makes a certificate by the new authority when clients have heard of it",
      given: held({ authorities: TWO }),
      publishedSince: NOW - USUAL_TIMES.publish,
      step: "make a certificate",
    },
    {
      name: "keeps the old authority while replicas may still show what it signed",
      given: held({ authorities: TWO, server: { ...held().server, authorityKeyId: "two" } }),
      at: NOW + USUAL_TIMES.drop - 1,
      step: "nothing",
    },
    {
      name: "drops the old authority when none can",
      given: held({ authorities: TWO, server: { ...held().server, authorityKeyId: "two" } }),
      at: NOW + USUAL_TIMES.drop,
      step: "drop the authorities before",
    },
    {
      name: "makes a certificate at once that nobody trusts",
      given: held({ server: { ...held().server, authorityKeyId: "gone" } }),
      step: "make a certificate",
    },
    {
      name: "makes a certificate at once that is over",
      given: held({ server: { ...held().server, until: NOW - 1 } }),
      step: "make a certificate",
    },
    {
      name: "makes a certificate at once that is over, also where clients have not heard of the new authority",
      given: held({ authorities: TWO, server: { ...held().server, until: NOW - 1 } }),
      step: "make a certificate",
    },
    {
      name: "makes a certificate at once by whose authority nobody goes any longer",
      given: held({ authorities: [TWO[0]!, authority("one", NOW - 1)] }),
      step: "make a certificate",
    },
    {
      name: "keeps the old authority for that time from the new certificate on, however old the new authority is",
      given: held({
        authorities: TWO,
        authoritySince: NOW - DAY,
        server: { ...held().server, authorityKeyId: "two" },
      }),
      at: NOW + USUAL_TIMES.drop - 1,
      step: "nothing",
    },
    {
      name: "makes a certificate for a name that is new",
      given: held(),
      names: [...NAMES, "notes-webhook.team.svc.cluster.local"],
      step: "make a certificate",
    },
  ]
) {
  Deno.test(`nextStep ${name}`, () => {
    assert.equal(nextStep(given, at, names, USUAL_TIMES, publishedSince).step, step);
  });
}

Deno.test("nextStep is never behind by more than a step: time alone leads from a new authority to the old one's end", () => {
  const { at } = nextStep(held({ authorities: TWO }), NOW, NAMES, USUAL_TIMES, NOW);
  assert.equal(at, NOW + USUAL_TIMES.publish);
});

Deno.test("nextStep asks again when the first of the two is to be renewed", () => {
  assert.equal(nextStep(held(), NOW, NAMES, USUAL_TIMES).at, NOW + 60 * DAY);
  assert.equal(nextStep(YOUNG, RENEWAL - 1, NAMES, USUAL_TIMES).at, RENEWAL);
});
