/** Kinds with CEL rules, one for each case, because definitions are cluster-scoped. */
import { definition, FRUIT_VERSION } from "../definition.ts";
import type { Recorder } from "../recorder.ts";

export type Schema = Readonly<Record<string, unknown>>;

export const TEXT = { type: "string", maxLength: 50 };
export const COUNT = { type: "integer" };

export function object(properties: Record<string, Schema>, rest: Schema = {}): Schema {
  return { type: "object", properties, ...rest };
}

/** Returns the schema of a list map. */
export function mapList(items: Schema): Schema {
  const type = { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"] };
  return { type: "array", maxItems: 9, ...type, items };
}

export function withRules(schema: Schema, ...rules: (string | Schema)[]): Schema {
  const validations = rules.map((rule) => typeof rule === "string" ? { rule } : rule);
  return { ...schema, "x-kubernetes-validations": validations };
}

/** The kind of a case. Each case has its own, because definitions are cluster-scoped. */
export interface Subject {
  readonly api: Recorder;
  readonly kind: string;
  readonly plural: string;
}

export async function define({ api, kind, plural }: Subject, schema: Schema): Promise<void> {
  await api.quietlyDefine(withStatus(definition(kind, plural, { schema })));
}

export function withStatus<T extends ReturnType<typeof definition>>(given: T): T {
  const versions = given.spec.versions.map((version) => ({ ...version, subresources: { status: {} } }));
  return { ...given, spec: { ...given.spec, versions } };
}

export function path({ api, plural }: Subject, name = ""): string {
  return `/apis/${FRUIT_VERSION}/namespaces/${api.namespace}/${plural}${name === "" ? "" : `/${name}`}`;
}

export function objectOf({ kind }: Subject, name: string, parts: unknown): unknown {
  return { apiVersion: FRUIT_VERSION, kind, metadata: { name }, ...parts as object };
}

/** Tries to create an object with each spec, as a dry run. */
export async function tryEach(subject: Subject, specs: readonly unknown[]): Promise<void> {
  for (const spec of specs) {
    await subject.api.post(`${path(subject)}?dryRun=All`, objectOf(subject, "try", { spec }));
  }
}

/** Creates an object, and tries each change of its spec. */
export async function tryChanges(subject: Subject, from: unknown, changes: readonly unknown[]): Promise<void> {
  await subject.api.quietly("POST", path(subject), objectOf(subject, "a", { spec: from }));
  for (const spec of changes) await subject.api.merge(`${path(subject, "a")}?dryRun=All`, { spec });
}
