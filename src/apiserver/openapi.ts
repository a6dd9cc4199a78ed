/** OpenAPI v3 documents, as far as kubectl reads them. */
import type { Core } from "./core.ts";
export function openApiIndex(_core: Core): unknown {
  return { paths: {} };
}
export function openApiDocument(_core: Core, _path: string): unknown {
  return undefined;
}
