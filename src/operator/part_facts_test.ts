import assert from "node:assert/strict";
import type { OperatorFacts } from "../../cli/inspect.ts";
import { ConfigMap, Secret } from "../kinds/mod.ts";
import { controller } from "../parts/controller.ts";
import { webhook } from "../parts/webhook.ts";
import { resource } from "../resource/resource.ts";
import { s } from "../schema/mod.ts";
import { factsOf, type PartFacts } from "./part_facts.ts";

const names = { group: "notes.example.com", version: "v1", spec: s.object({ text: s.string() }) };
const Note = resource({ ...names, kind: "Note" });
const Page = resource({ ...names, group: "pages.example.com", kind: "Page", external: true });

Deno.test("factsOf returns the kinds and finalizers of controllers, and all external definitions", () => {
  const functions = { reconcile() {}, cleanup() {} };
  const parts = {
    notes: controller(Note, { finalizer: "notes.example.com/files", owns: [ConfigMap], ...functions }),
    pages: controller(Page, functions),
    secrets: controller(Secret, { reconcile() {} }),
    noteRules: webhook(Note, { reads: [Page], validate() {} }),
  };
  assert.deepEqual(factsOf(parts), {
    externalCrds: [Page.crd],
    controllers: ["notes", "pages", "secrets"],
    controlled: [
      { group: "notes.example.com", kind: "Note" },
      { group: "pages.example.com", kind: "Page" },
      { group: "", kind: "Secret" },
    ],
    reconciled: ["notes.notes.example.com", "pages.pages.example.com"],
    finalizers: ["notes.example.com/files"],
    foreignFinalized: [{ apiVersion: "pages.example.com/v1", kind: "Page" }],
  });
});

// Types: `op` adds these facts to its own.
((facts: PartFacts) => facts) satisfies (facts: PartFacts) => Pick<OperatorFacts, keyof PartFacts>;
