import assert from "node:assert/strict";
import { type Sbom, sbom, type SbomFacts } from "./sbom.ts";

const SHA512 = "VY7zV7bWKdAsf46epowVKidolEfMKw/FoHo2xYVDVzLj/hiP5qDL3nXqJt6seZClRYfG+uzAPFQBZBlj07wO5A==";
const SHA256 = "a".repeat(64);

const FACTS: SbomFacts = {
  operator: { name: "shop", version: "1.2.0" },
  sha256: "b".repeat(64),
  runtime: "2.9.6",
  tool: "0.1.0",
  sources: ["main.ts", "npm:yaml@2.9.1/dist/index.js", "@op/sdk@0.1.0/mod.ts", "jsr:@std/async@1.0.5/delay.ts"],
  lock: JSON.stringify({
    version: "5",
    specifiers: { "jsr:@std/async@^1": "1.0.5", "jsr:@std/assert@^1": "1.0.0", "npm:yaml@2.9.1": "2.9.1" },
    jsr: {
      "@std/async@1.0.5": { integrity: SHA256, dependencies: ["jsr:@std/assert@^1"] },
      "@std/assert@1.0.0": { integrity: SHA256 },
    },
    npm: {
      "yaml@2.9.1": { integrity: `sha512-${SHA512}`, dependencies: ["@types/node"] },
      "@types/node@24.2.0": { integrity: `sha512-${SHA512}`, dependencies: ["ajv@8.0.0_peer@1.0.0"] },
      "ajv@8.0.0_peer@1.0.0": { integrity: `sha512-${SHA512}`, dependencies: ["peer"] },
      "ajv@8.0.0_peer@2.0.0": { integrity: `sha512-${SHA512}`, dependencies: ["peer"] },
      "peer@1.0.0": { integrity: `sha512-${SHA512}` },
    },
  }),
};

Deno.test("sbom lists each package of the lock file once, with its checksum and whether the executable contains it", () => {
  const lines = sbom(FACTS).components.map(({ "bom-ref": ref, scope, hashes = [] }) =>
    `${ref} ${scope} ${hashes.map(({ alg, content }) => `${alg} ${content.length * 4}`).join()}`.trim()
  );
  assert.deepEqual(lines, [
    "deno@2.9.6 required",
    "@op/sdk@0.1.0 required",
    "pkg:jsr/%40std/assert@1.0.0 excluded SHA-256 256",
    "pkg:jsr/%40std/async@1.0.5 required SHA-256 256",
    "pkg:npm/%40types/node@24.2.0 excluded SHA-512 512",
    "pkg:npm/ajv@8.0.0 excluded SHA-512 512",
    "pkg:npm/peer@1.0.0 excluded SHA-512 512",
    "pkg:npm/yaml@2.9.1 required SHA-512 512",
  ]);
});

Deno.test("sbom lists dependencies only between its components", () => {
  const bill = sbom(FACTS);
  const edges = bill.dependencies.flatMap(({ ref, dependsOn }) =>
    dependsOn.map((dependency) => `${ref} -> ${dependency}`)
  );
  assert.deepEqual(edges, [
    "shop@1.2.0 -> deno@2.9.6",
    "shop@1.2.0 -> @op/sdk@0.1.0",
    "shop@1.2.0 -> pkg:jsr/%40std/async@1.0.5",
    "shop@1.2.0 -> pkg:npm/yaml@2.9.1",
    "pkg:jsr/%40std/async@1.0.5 -> pkg:jsr/%40std/assert@1.0.0",
    "pkg:npm/%40types/node@24.2.0 -> pkg:npm/ajv@8.0.0",
    "pkg:npm/ajv@8.0.0 -> pkg:npm/peer@1.0.0",
    "pkg:npm/yaml@2.9.1 -> pkg:npm/%40types/node@24.2.0",
  ]);
  assertShape(bill);
});

Deno.test("sbom has the same serial number only for equal content", () => {
  assert.deepEqual(sbom(FACTS), sbom({ ...FACTS }));
  assert.notEqual(sbom(FACTS).serialNumber, sbom({ ...FACTS, sha256: "c".repeat(64) }).serialNumber);
});

Deno.test("sbom lists the packages of the sources if the program has no lock file", () => {
  const bill = sbom({ ...FACTS, lock: "{}" });
  assert.deepEqual(bill.components.map(({ "bom-ref": ref }) => ref), [
    "deno@2.9.6",
    "@op/sdk@0.1.0",
    "pkg:jsr/%40std/async@1.0.5",
    "pkg:npm/yaml@2.9.1",
  ]);
  assertShape(bill);
});

const COMPONENT_KEYS = ["type", "bom-ref", "group", "name", "version", "scope", "hashes", "purl"];

/** Asserts that a bill follows the schema of CycloneDX 1.6, as far as `sbom` uses it. */
export function assertShape(bill: Sbom): void {
  assert.deepEqual(Object.keys(bill).sort(), [
    "$schema",
    "bomFormat",
    "components",
    "dependencies",
    "metadata",
    "serialNumber",
    "specVersion",
    "version",
  ]);
  assert.deepEqual([bill.bomFormat, bill.specVersion, bill.version], ["CycloneDX", "1.6", 1]);
  assert.match(bill.serialNumber, /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/);
  const all = [...bill.metadata.tools.components, bill.metadata.component, ...bill.components];
  for (const component of all) {
    assert.deepEqual(Object.keys(component).filter((key) => !COMPONENT_KEYS.includes(key)), []);
    assert(["application", "library", "platform"].includes(component.type));
    assert(component.name !== "" && component.version !== "" && component["bom-ref"] !== "", component["bom-ref"]);
    assert([undefined, "required", "excluded"].includes(component.scope));
    for (const { alg, content } of component.hashes ?? []) {
      assert.match(content, alg === "SHA-256" ? /^[0-9a-f]{64}$/ : /^[0-9a-f]{128}$/);
    }
    if (component.purl !== undefined) assert.match(component.purl, /^pkg:[a-z]+\/(%40)?[^@\s]+@[^@\s]+$/);
  }
  const refs = [bill.metadata.component, ...bill.components].map((component) => component["bom-ref"]);
  assert.equal(new Set(refs).size, refs.length, "two components have the same reference");
  assert.deepEqual(
    bill.dependencies.map(({ ref }) => ref).sort(),
    refs.filter((ref) => !ref.startsWith("deno@")).sort(),
  );
  for (const { dependsOn } of bill.dependencies) {
    assert.equal(new Set(dependsOn).size, dependsOn.length);
    for (const ref of dependsOn) assert(refs.includes(ref), ref);
  }
}
