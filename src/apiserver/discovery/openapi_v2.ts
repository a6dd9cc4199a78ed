/** OpenAPI v2, which clients use if v3 does not have a kind: all definitions, without paths. */
import { version } from "../../openapi/kubernetes.gen.ts";
import type { Core } from "../core/core.ts";
import { openApiDocument, openApiPaths } from "./openapi.ts";

/** The media type that kubectl requests. */
export const OPENAPI_V2_PROTOBUF = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

const REFERENCE = /"#\/components\/schemas\//g;

/** Returns `/openapi/v2` as JSON. */
export async function openApiV2(core: Core): Promise<unknown> {
  const definitions: Record<string, unknown> = {};
  for (const path of openApiPaths(core)) {
    const document = await openApiDocument(core, path) as
      | { components: { schemas: Record<string, unknown> } }
      | undefined;
    const text = JSON.stringify(document?.components.schemas ?? {}).replaceAll(REFERENCE, '"#/definitions/');
    Object.assign(definitions, JSON.parse(text));
  }
  return { swagger: "2.0", info: { title: "Kubernetes", version }, paths: {}, definitions };
}

/**
 * Returns `/openapi/v2` as protobuf (`github.com/google/gnostic-models/openapiv2`), without
 * definitions, which kubectl reads from v3.
 */
export function openApiV2Head(): Uint8Array {
  const text = (field: number, value: string) => part(field, new TextEncoder().encode(value));
  return Uint8Array.from([
    ...text(1, "2.0"),
    ...part(2, [...text(1, "Kubernetes"), ...text(2, version)]),
    ...part(8, []),
  ]);
}

/**
 * Encodes a length-delimited field. The protobuf library is not loaded for a message this small.
 */
function part(field: number, bytes: Iterable<number>): number[] {
  const content = [...bytes];
  return [field << 3 | 2, content.length, ...content];
}
