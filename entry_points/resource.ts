/**
 * Kinds: `resource()` and the types that it uses.
 *
 * @example The definition of a kind
 * ```ts
 * import assert from "node:assert/strict";
 * import { s } from "@op/sdk";
 * import { type CustomResourceDefinitionManifest, resource } from "@op/sdk/resource";
 *
 * const Note = resource({
 *   group: "demo.example.com",
 *   version: "v1",
 *   kind: "Note",
 *   spec: s.object({ text: s.string() }),
 * });
 * const definition: CustomResourceDefinitionManifest = Note.crd!;
 * assert.equal(definition.metadata.name, "notes.demo.example.com");
 * ```
 *
 * @module
 */
export { Quantity, type QuantityFormat } from "../src/base/quantity.ts";
export type { InferSchema, InputSchema, JsonSchema, Schema } from "../src/schema/mod.ts";
export { type Resource, resource, type ResourceOptions } from "../src/resource/mod.ts";
export type {
  AnyKind,
  Condition,
  CustomResourceDefinitionManifest,
  DefinitionVersion,
  Infer,
  Input,
  Kind,
  KubeObject,
  ManagedFields,
  ObjectMeta,
  ObjectMetaInput,
  OwnerReference,
  WebhookConversion,
} from "../src/resource/kind.ts";
