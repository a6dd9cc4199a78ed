/** Realistic kinds, each with an object. Together they use all features of kinds. */
import type { CustomResourceDefinitionManifest } from "../../../src/resource/mod.ts";
import { Backup, backup } from "./backup.ts";
import { Database, database } from "./database.ts";
import { Palette, palette, Sketch, sketch } from "./palette.ts";
import { Route, route, RouteV1Beta1 } from "./route.ts";
import { Tenant, tenant } from "./tenant.ts";
import { Workflow, workflow } from "./workflow.ts";

/** A kind, its source text, and an object. */
export interface UsedKind {
  readonly name: string;
  readonly crd: CustomResourceDefinitionManifest;
  /** The text of its module. */
  readonly source: string;
  /** The version in which the object is written. */
  readonly version: string;
  readonly example: {
    readonly metadata?: { readonly name?: string | undefined } | undefined;
    readonly [key: string]: unknown;
  };
}

function used(
  file: string,
  { kind, crd }: { readonly kind: string; readonly crd: CustomResourceDefinitionManifest },
  { version }: { readonly version: string },
  example: UsedKind["example"],
): UsedKind {
  const source = Deno.readTextFileSync(new URL(file, import.meta.url));
  return { name: kind, crd, source, version, example };
}

/** Returns all kinds. */
export function usedKinds(): readonly UsedKind[] {
  return [
    used("database.ts", Database, Database, database),
    used("route.ts", Route, RouteV1Beta1, route),
    used("backup.ts", Backup, Backup, backup),
    used("tenant.ts", Tenant, Tenant, tenant),
    used("workflow.ts", Workflow, Workflow, workflow),
    used("palette.ts", Palette, Palette, palette),
    used("palette.ts", Sketch, Sketch, sketch),
  ];
}
