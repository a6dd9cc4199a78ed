/** Selects the parts of an operator by their type. */
import type { Controller, Part } from "./controller.ts";
import type { Conversion } from "./conversion.ts";
import type { Webhook } from "./webhook.ts";

/** Parts by key. */
export type Parts = Readonly<Record<string, Part>>;

/** Returns the controllers with their keys. */
export function controllersOf(parts: Parts): [key: string, Controller][] {
  return Object.entries(parts).flatMap(([key, part]) => part.part === "controller" ? [[key, part]] : []);
}

/** Returns the webhooks with their keys. */
export function webhooksOf(parts: Parts): [key: string, Webhook][] {
  return Object.entries(parts).flatMap(([key, part]) => part.part === "webhook" ? [[key, part]] : []);
}

/** Returns the conversions with their keys. */
export function conversionsOf(parts: Parts): [key: string, Conversion][] {
  return Object.entries(parts).flatMap(([key, part]) => part.part === "conversion" ? [[key, part]] : []);
}

/** Returns whether the API server calls one of the parts: a webhook or a conversion. */
export function needsWebhookServer(parts: Parts): boolean {
  return Object.values(parts).some(({ part }) => part === "webhook" || part === "conversion");
}
