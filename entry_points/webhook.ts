/**
 * Admission and conversion webhooks: `webhook()`, `conversion()`, `deny()` and the types that they
 * use.
 *
 * @example A function that validates
 * ```ts
 * import { resource, s, webhook } from "@op/sdk";
 * import { type ReviewedObject, deny, type ValidateResult } from "@op/sdk/webhook";
 *
 * const Note = resource({
 *   group: "demo.example.com",
 *   version: "v1",
 *   kind: "Note",
 *   spec: s.object({ text: s.string() }),
 * });
 *
 * const noteRules = webhook(Note, { validate: (note) => checkText(note) });
 *
 * function checkText({ spec }: ReviewedObject<typeof Note>): ValidateResult {
 *   if (!spec.text.includes("secret")) return;
 *   return deny("text must not contain secrets", { field: "spec.text" });
 * }
 * ```
 *
 * @module
 */
export type { Duration } from "../src/base/duration.ts";
export type { FieldError, FieldErrorReason } from "../src/schema/mod.ts";
export type { AnyKind, Infer, Input, Kind, KubeObject } from "../src/resource/kind.ts";
export type { Access, Verb } from "../src/parts/access.ts";
export { type Conversion, conversion, type ConversionOptions, type ConvertedObject } from "../src/parts/conversion.ts";
export { type Denial, deny, type DenyOptions } from "../src/parts/denial.ts";
export type { ListOptions, Log, NamespaceOptions } from "../src/parts/context.ts";
export type { SandboxPermissionName, SandboxPermissions } from "../src/parts/sandbox.ts";
export type { LabelSelector } from "../src/parts/selectors.ts";
export {
  type Webhook,
  webhook,
  type WebhookFactory,
  type WebhookFilters,
  type WebhookOptions,
} from "../src/parts/webhook.ts";
export type {
  AdmissionRequest,
  GroupVersionKind,
  GroupVersionResource,
  MutableObject,
  MutateResult,
  Operation,
  ReviewedObject,
  UserInfo,
  ValidateResult,
  WebhookContext,
} from "../src/parts/webhook_context.ts";
