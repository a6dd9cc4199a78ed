/** What one controller's runs share: its names, the client, the live copies. */
import type { Clock } from "../base/clock.ts";
import type { Client } from "../kube/client.ts";
import type { Controller } from "../parts/controller.ts";
import type { AnyKind, KubeObject } from "../resource/kind.ts";
import type { Informer } from "../watch/informer.ts";
import { keyOf } from "../watch/key.ts";
import type { Informers } from "./informers.ts";
import type { Logger } from "./logger.ts";
import { fieldManager, finalizerName } from "./names.ts";
import type { Verdicts } from "./verdicts.ts";

/** What one controller's runs share. */
export interface Scope {
  /** The controller's key among the parts. */
  readonly part: string;
  readonly controller: Controller;
  readonly client: Client;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly informers: Informers;
  /** What the operator's controllers last found, for the condition that they share. */
  readonly verdicts: Verdicts;
  /** Marks this controller's writes, so that they do not wake it. */
  readonly writer: symbol;
  readonly manager: string;
  readonly finalizer: string;
}

/** Makes the scope of a controller. */
export function scopeOf(
  operator: string,
  part: string,
  controller: Controller,
  shared: Pick<Scope, "client" | "clock" | "random" | "log" | "informers" | "verdicts">,
): Scope {
  const { kind } = controller;
  return {
    ...shared,
    part,
    controller,
    log: shared.log.with({ controller: part, controllerGroup: kind.group, controllerKind: kind.kind }),
    writer: Symbol(part),
    manager: fieldManager(operator, part),
    finalizer: finalizerName(operator, part, controller),
  };
}

/**
 * The live copy of a kind, where the controller declares one (its own kind, `owns`, `reads`) and it covers the namespace: an operator of one
 * namespace sees no events of another.
 */
export function informerOf(
  { controller, informers }: Scope,
  kind: AnyKind,
  namespace: string | undefined,
): Informer | undefined {
  if (!informers.covers(namespace)) return undefined;
  return isWatched({ controller }, kind) ? informers.of(kind) : undefined;
}

/** Whether a controller watches a kind: its own, `owns`, `reads`. */
export function isWatched({ controller }: Pick<Scope, "controller">, kind: AnyKind): boolean {
  return [controller.kind, ...controller.owns, ...controller.reads].some((declared) =>
    declared.kind === kind.kind && declared.apiVersion === kind.apiVersion
  );
}

/**
 * Sends a write; where there is a live copy, its answer is taken in, so that reads show it at once and the writer is not woken by it.
 *
 * @param scope The controller's.
 * @param kind The kind of what is written.
 * @param metadata Its name and namespace, where they are known before.
 * @param send Sends it.
 */
export async function write(
  scope: Scope,
  kind: AnyKind,
  metadata: { readonly name?: string | undefined; readonly namespace?: string | undefined },
  send: () => Promise<KubeObject>,
): Promise<KubeObject> {
  const informer = informerOf(scope, kind, metadata.namespace);
  if (informer === undefined) return await send();
  return await informer.write(keyOf({ name: metadata.name ?? "", namespace: metadata.namespace }), scope.writer, send);
}

/**
 * Sends a deletion; where there is a live copy, what is gone by it is gone from there at once, and the writer is not woken by it.
 *
 * @param scope The controller's.
 * @param kind The kind of what is deleted.
 * @param metadata Its name and namespace.
 * @param send Sends it; answers the object where it stays for now.
 */
export async function remove(
  scope: Scope,
  kind: AnyKind,
  metadata: { readonly name: string; readonly namespace?: string | undefined },
  send: () => Promise<KubeObject | undefined>,
): Promise<void> {
  const informer = informerOf(scope, kind, metadata.namespace);
  if (informer === undefined) return void await send();
  await informer.remove(keyOf(metadata), scope.writer, send);
}
