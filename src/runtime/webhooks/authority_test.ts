import assert from "node:assert/strict";
import { type HeldFacts, nextStep, USUAL_TIMES } from "./authority.ts";

const DAY = 86_400_000;
const NAMES = ["notes-webhook.team.svc"];
const NOW = 1000 * DAY;

function authority(keyId: string, until: number) {
  return { from: 0, until, names: [], keyId, authorityKeyId: keyId };
}

/** Returns an authority and a certificate that it issued now, with some values replaced. */
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
/** A certificate that is new when the authority must be renewed. */
const YOUNG = held({ serverSince: RENEWAL - DAY, server: { ...held().server, until: RENEWAL + 89 * DAY } });

const TWO = [authority("two", NOW + 730 * DAY), authority("one", NOW + 100 * DAY)];

for (
  const { name, given, at = NOW, names = NAMES, publishedSince, step } of [
    { name: "creates all if there are no certificates", given: undefined, step: "create all" },
    { name: "creates all when the authority has expired", given: held(), at: NOW + 731 * DAY, step: "create all" },
    { name: "waits while all certificates are new", given: held(), step: "wait" },
    {
      name: "renews a certificate after two thirds of its validity",
      given: held(),
      at: NOW + 60 * DAY,
      step: "issue a certificate",
    },
    {
      name: "does not renew a certificate one millisecond earlier",
      given: held(),
      at: NOW + 60 * DAY - 1,
      step: "wait",
    },
    { name: "adds an authority after two thirds of its validity", given: YOUNG, at: RENEWAL, step: "add an authority" },
    { name: "does not add an authority one millisecond earlier", given: YOUNG, at: RENEWAL - 1, step: "wait" },
    { name: "waits while a new authority is not published", given: held({ authorities: TWO }), step: "wait" },
    {
      name: "waits until API servers have had time to read a new authority",
      given: held({ authorities: TWO }),
      publishedSince: NOW - USUAL_TIMES.publish + 1,
      step: "wait",
    },
    {
      name: "issues a certificate when API servers have had time to read the new authority",
      given: held({ authorities: TWO }),
      publishedSince: NOW - USUAL_TIMES.publish,
      step: "issue a certificate",
    },
    {
      name: "keeps the old authority while replicas may still use a certificate of it",
      given: held({ authorities: TWO, server: { ...held().server, authorityKeyId: "two" } }),
      at: NOW + USUAL_TIMES.drop - 1,
      step: "wait",
    },
    {
      name: "drops the old authority when no replica can use a certificate of it",
      given: held({ authorities: TWO, server: { ...held().server, authorityKeyId: "two" } }),
      at: NOW + USUAL_TIMES.drop,
      step: "drop old authorities",
    },
    {
      name: "replaces a certificate of an unknown authority at once",
      given: held({ server: { ...held().server, authorityKeyId: "gone" } }),
      step: "issue a certificate",
    },
    {
      name: "replaces an expired certificate at once",
      given: held({ server: { ...held().server, until: NOW - 1 } }),
      step: "issue a certificate",
    },
    {
      name: "replaces an expired certificate at once, even if the new authority is not published",
      given: held({ authorities: TWO, server: { ...held().server, until: NOW - 1 } }),
      step: "issue a certificate",
    },
    {
      name: "replaces a certificate of an expired authority at once",
      given: held({ authorities: [TWO[0]!, authority("one", NOW - 1)] }),
      step: "issue a certificate",
    },
    {
      name: "keeps the old authority from the time of the new certificate, however old the new authority is",
      given: held({
        authorities: TWO,
        authoritySince: NOW - DAY,
        server: { ...held().server, authorityKeyId: "two" },
      }),
      at: NOW + USUAL_TIMES.drop - 1,
      step: "wait",
    },
    {
      name: "makes a certificate for a name that is new",
      given: held(),
      names: [...NAMES, "notes-webhook.team.svc.cluster.local"],
      step: "issue a certificate",
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
