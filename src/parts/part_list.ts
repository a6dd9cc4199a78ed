/** The parts of an operator by what they are. */
import type { Controller, Part } from "./controller.ts";
import type { Conversion } from "./conversion.ts";
import type { Webhook } from "./webhook.ts";

/** Parts by their keys. */
export type Parts = Readonly<Record<string, Part>>;

/** The controllers, with their keys. */
export function controllersOf(parts: Parts): [key: string, Controller][] {
  return Object.entries(parts).flatMap(([key, part]) => part.part === "controller" ? [[key, part]] : []);
}

/** The webhooks, with their keys. */
export function webhooksOf(parts: Parts): [key: string, Webhook][] {
  return Object.entries(parts).flatMap(([key, part]) => part.part === "webhook" ? [[key, part]] : []);
}

/** The conversions, with their keys. */
export function conversionsOf(parts: Parts): [key: string, Conversion][] {
  return Object.entries(parts).flatMap(([key, part]) => part.part === "conversion" ? [[key, part]] : []);
}

/** Whether any part is called by the API server, so that there must be a server for it. */
export function isCalled(parts: Parts): boolean {
  return Object.values(parts).some(({ part }) => part === "webhook" || part === "conversion");
}
