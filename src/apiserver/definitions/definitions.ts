/**
 * Serves the kinds of CustomResourceDefinitions. When a definition is deleted, deletes all objects
 * of its kind.
 */
import type { Core } from "../core/core.ts";
import { isFinished } from "../core/persist.ts";
import { deleteObject } from "../core/remove.ts";
import { keyOfObject } from "../objects/key.ts";
import { CLEANUP, DEFINITIONS, type ServedKind } from "../objects/kinds.ts";
import { type StoredObject, withMetadata } from "../objects/objects.ts";
import type { Change } from "../objects/store.ts";
import { type DeclaredConversion, WebhookConverter } from "../webhooks/conversion.ts";
import { kindsOf, specOf, updateDefinitionStatus } from "./crd.ts";

/** Serves the kinds of all definitions in the store. */
export class Definitions {
  /** The kinds of each definition, by its name. */
  #served = new Map<string, readonly ServedKind[]>();
  /** The converter of each definition, by its name, with the JSON of its settings. */
  #converters = new Map<string, { readonly declared: string; readonly converter: WebhookConverter }>();
  readonly #core: Core;
  constructor(core: Core) {
    this.#core = core;
    core.store.listen((change) => this.#onChange(change));
  }

  #onChange({ type, collection, key, object }: Change): void {
    if (collection === DEFINITIONS) {
      this.#serve(key, type === "DELETED" ? undefined : object);
      if (type !== "DELETED") this.#enqueue(object);
      // The deleted definition may have used names that other definitions declare.
      if (type === "DELETED") { for (const other of this.#core.store.list(DEFINITIONS)) this.#enqueue(other); }
    } else if (type === "DELETED") {
      const kind = this.#core.kinds.ofCollection(collection);
      if (kind === undefined || kind.isBuiltin) return;
      const definition = this.#core.store.get(DEFINITIONS, `${kind.plural}.${kind.group}`);
      if (definition?.metadata.deletionTimestamp !== undefined) this.#enqueue(definition);
    }
  }

  /**
   * Returns the same converter for the same settings, so that cached conversions survive a change
   * of the definition's status.
   */
  #converter(key: string, conversion: DeclaredConversion): WebhookConverter {
    const declared = JSON.stringify(conversion);
    const known = this.#converters.get(key);
    if (known?.declared === declared) return known.converter;
    const { caller, uid } = this.#core;
    const converter = new WebhookConverter(conversion, caller, uid);
    this.#converters.set(key, { declared, converter });
    return converter;
  }

  #enqueue(definition: StoredObject): void {
    const key = keyOfObject(definition);
    this.#core.background.add(`definition ${key}`, () => this.#process(key));
  }

  #serve(key: string, definition: StoredObject | undefined): void {
    const before = this.#served.get(key) ?? [];
    const next = definition === undefined ? [] : kindsOf(definition, (conversion) => this.#converter(key, conversion));
    const isServed = (kind: ServedKind) =>
      next.some(({ version, plural }) => version === kind.version && plural === kind.plural);
    for (const kind of before) if (!isServed(kind)) this.#core.kinds.delete(kind);
    for (const kind of next) this.#core.kinds.set(kind);
    const [first] = next;
    if (before.length === 0 && first !== undefined) this.#core.store.beginHistory(first.collection);
    if (next.length === 0) this.#served.delete(key);
    else this.#served.set(key, next);
  }

  #process(key: string): void {
    const definition = this.#core.store.get(DEFINITIONS, key);
    if (definition === undefined) return;
    if (definition.metadata.deletionTimestamp === undefined) return updateDefinitionStatus(this.#core, key);
    this.#cleanUp(key, definition);
  }

  /** Deletes the objects of a kind, and then its definition. */
  #cleanUp(key: string, definition: StoredObject): void {
    const { group, names } = specOf(definition);
    const collection = `${group}/${names.plural}`;
    const kind = this.#core.kinds.ofCollection(collection);
    if (kind !== undefined) {
      for (const object of this.#core.store.list(collection)) {
        if (object.metadata.deletionTimestamp !== undefined) continue;
        deleteObject(this.#core, kind, object.metadata.namespace, object.metadata.name, { dryRun: false });
      }
      if (this.#core.store.list(collection).length > 0) return;
    }
    const finalizers = definition.metadata.finalizers?.filter((each) => each !== CLEANUP) ?? [];
    const next = withMetadata(definition, { finalizers: finalizers.length === 0 ? undefined : finalizers });
    if (isFinished(next)) this.#core.store.delete(DEFINITIONS, key);
    else if (definition.metadata.finalizers?.includes(CLEANUP)) this.#core.store.put(DEFINITIONS, key, next);
  }
}
