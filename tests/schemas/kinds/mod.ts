/** Realistic kinds, each with an example object. Together they use all features of kinds. */
import type { CustomResourceDefinitionManifest } from "../../../src/resource/mod.ts";
import { Backup, backup } from "./backup.ts";
import { Database, database } from "./database.ts";
import { Palette, palette, Sketch, sketch } from "./palette.ts";
import { Route, route, RouteV1Beta1 } from "./route.ts";
import { Tenant, tenant } from "./tenant.ts";
import { Workflow, workflow } from "./workflow.ts";

/** A kind, its source text, and an example object. */
export interface ExampleKind {
  readonly name: string;
  readonly crd: CustomResourceDefinitionManifest;
  /** The text of its module. */
  readonly source: string;
  /** The version of the example. */
  readonly version: string;
  readonly example: {
    readonly metadata?: { readonly name?: string | undefined } | undefined;
    readonly [key: string]: unknown;
  };
}

function exampleKind(
  file: string,
  { kind, crd }: { readonly kind: string; readonly crd: CustomResourceDefinitionManifest },
  { version }: { readonly version: string },
  example: ExampleKind["example"],
): ExampleKind {
  const source = Deno.readTextFileSync(new URL(file, import.meta.url));
  return { name: kind, crd, source, version, example };
}

/** Returns the kinds. */
export function exampleKinds(): readonly ExampleKind[] {
  return [
    exampleKind("database.ts", Database, Database, database),
    exampleKind("route.ts", Route, RouteV1Beta1, route),
    exampleKind("backup.ts", Backup, Backup, backup),
    exampleKind("tenant.ts", Tenant, Tenant, tenant),
    exampleKind("workflow.ts", Workflow, Workflow, workflow),
    exampleKind("palette.ts", Palette, Palette, palette),
    exampleKind("palette.ts", Sketch, Sketch, sketch),
  ];
}
