import assert from "node:assert/strict";
import { type CertificateSetFacts, DEFAULT_TIMES, nextStep } from "./authority.ts";

const DAY = 86_400_000;
const NAMES = ["notes-webhook.team.svc"];
const NOW = 1000 * DAY;

function authority(keyId: string, until: number) {
  return { from: 0, until, names: [], keyId, authorityKeyId: keyId };
}

/**
 * Returns an authority and a certificate that it issued at {@linkcode NOW}, with some values
 * replaced.
 */
function stored(changes: Partial<CertificateSetFacts> = {}): CertificateSetFacts {
  return {
    authorities: [authority("one", NOW + 730 * DAY)],
    server: { from: 0, until: NOW + 90 * DAY, names: NAMES, keyId: "server", authorityKeyId: "one" },
    authoritySince: NOW,
    serverSince: NOW,
    ...changes,
  };
}

const RENEWAL = NOW + 730 * DAY * 2 / 3;
/** An authority that is due for renewal, and a server certificate that is one day old then. */
const YOUNG = stored({ serverSince: RENEWAL - DAY, server: { ...stored().server, until: RENEWAL + 89 * DAY } });

const TWO = [authority("two", NOW + 730 * DAY), authority("one", NOW + 100 * DAY)];

for (
  const { name, given, at = NOW, names = NAMES, publishedSince, step } of [
    { name: "creates all if there are no certificates", given: undefined, step: "create all" },
    { name: "creates all when the authority has expired", given: stored(), at: NOW + 731 * DAY, step: "create all" },
    { name: "waits while all certificates are new", given: stored(), step: "wait" },
    {
      name: "renews a certificate after two thirds of its validity",
      given: stored(),
      at: NOW + 60 * DAY,
      step: "issue a certificate",
    },
    {
      name: "does not renew a certificate one millisecond earlier",
      given: stored(),
      at: NOW + 60 * DAY - 1,
      step: "wait",
    },
    { name: "adds an authority after two thirds of its validity", given: YOUNG, at: RENEWAL, step: "add an authority" },
    { name: "does not add an authority one millisecond earlier", given: YOUNG, at: RENEWAL - 1, step: "wait" },
    { name: "waits while a new authority is not published", given: stored({ authorities: TWO }), step: "wait" },
    {
      name: "waits until API servers have had time to read a new authority",
      given: stored({ authorities: TWO }),
      publishedSince: NOW - DEFAULT_TIMES.publish + 1,
      step: "wait",
    },
    {
      name: "issues a certificate when API servers have had time to read the new authority",
      given: stored({ authorities: TWO }),
      publishedSince: NOW - DEFAULT_TIMES.publish,
      step: "issue a certificate",
    },
    {
      name: "retains the old authority while replicas may still use a certificate that it issued",
      given: stored({ authorities: TWO, server: { ...stored().server, authorityKeyId: "two" } }),
      at: NOW + DEFAULT_TIMES.drop - 1,
      step: "wait",
    },
    {
      name: "drops the old authority when no replica can use a certificate that it issued",
      given: stored({ authorities: TWO, server: { ...stored().server, authorityKeyId: "two" } }),
      at: NOW + DEFAULT_TIMES.drop,
      step: "drop old authorities",
    },
    {
      name: "replaces a certificate of an unknown authority at once",
      given: stored({ server: { ...stored().server, authorityKeyId: "gone" } }),
      step: "issue a certificate",
    },
    {
      name: "replaces an expired certificate at once",
      given: stored({ server: { ...stored().server, until: NOW - 1 } }),
      step: "issue a certificate",
    },
    {
      name: "replaces an expired certificate at once, even if the new authority is not published",
      given: stored({ authorities: TWO, server: { ...stored().server, until: NOW - 1 } }),
      step: "issue a certificate",
    },
    {
      name: "replaces a certificate of an expired authority at once",
      given: stored({ authorities: [TWO[0]!, authority("one", NOW - 1)] }),
      step: "issue a certificate",
    },
    {
      name:
        "retains the old authority for the same time after a new certificate, regardless of the age of the new authority",
      given: stored({
        authorities: TWO,
        authoritySince: NOW - DAY,
        server: { ...stored().server, authorityKeyId: "two" },
      }),
      at: NOW + DEFAULT_TIMES.drop - 1,
      step: "wait",
    },
    {
      name: "issues a certificate if a name was added",
      given: stored(),
      names: [...NAMES, "notes-webhook.team.svc.cluster.local"],
      step: "issue a certificate",
    },
  ]
) {
  Deno.test(`nextStep ${name}`, () => {
    assert.equal(nextStep(given, at, names, DEFAULT_TIMES, publishedSince).step, step);
  });
}

Deno.test("nextStep returns the time of the next step when a new authority is published", () => {
  const { at } = nextStep(stored({ authorities: TWO }), NOW, NAMES, DEFAULT_TIMES, NOW);
  assert.equal(at, NOW + DEFAULT_TIMES.publish);
});

Deno.test("nextStep returns the earlier renewal time of authority and certificate", () => {
  assert.equal(nextStep(stored(), NOW, NAMES, DEFAULT_TIMES).at, NOW + 60 * DAY);
  assert.equal(nextStep(YOUNG, RENEWAL - 1, NAMES, DEFAULT_TIMES).at, RENEWAL);
});
