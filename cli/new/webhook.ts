/** `op new webhook`: adds an admission webhook to a project. */
import { join, resolve } from "node:path";
import * as builtin from "@op/sdk/kinds";
import type { AnyKind } from "@op/sdk";
import { type SourceFile, sourceFile } from "../deno.ts";
import { Failure, UsageError } from "../exit_code.ts";
import { inspect, type OperatorFacts } from "../inspect.ts";
import type { Io } from "../io.ts";
import { byNearness } from "../internal/mod.gen.ts";
import { partKey } from "./controller.ts";
import { exists } from "./atomic_folder.ts";
import { type KindNames, namesOf } from "./kind_names.ts";
import { type AddOptions, addToProject, specifierOf } from "./project.ts";
import { subjectOf } from "./webhook_subject.ts";
import { webhookTestText, webhookText, type WebhookType } from "./webhook_text.ts";

/** Options for {@linkcode newWebhook}. */
export interface NewWebhookOptions extends AddOptions {
  readonly kind: string;
  readonly apiVersion: string;
  /** The API group. @default {the only group with a kind of that name} */
  readonly group?: string | undefined;
  /** `validation` or `mutation`. */
  readonly type: string;
  /** The module that exports the kind. @default {KIND/VERSION.ts} */
  readonly module?: string | undefined;
  /** The key in the operator's parts. @default {derived from the kind and the type} */
  readonly part?: string | undefined;
}

const TYPES: readonly WebhookType[] = ["validation", "mutation"];

/**
 * Adds a webhook to a project.
 *
 * @param file The file whose default export is the operator.
 * @param options The kind and the type.
 * @param io The terminal and the shell.
 * @throws {UsageError} If the type is unknown, or the kind ambiguous.
 * @throws {Failure} If the kind is unknown, or a file would be overwritten.
 */
export async function newWebhook(file: string, options: NewWebhookOptions, io: Io): Promise<void> {
  const type = TYPES.find((one) => one === options.type);
  if (type === undefined) {
    throw new UsageError(
      `Cannot add a webhook: unknown type "${options.type}". Did you mean "${
        byNearness(options.type, TYPES)[0]
      }"? Use ${TYPES.join(" or ")}.`,
    );
  }
  const main = await sourceFile(file, io);
  const facts = await inspect(main.url, main.folder, file, io);
  const names = kindOf(options, facts, file);
  if (names.group === "admissionregistration.k8s.io") {
    throw new UsageError(
      `Cannot add a webhook for "${names.kind}": API servers do not call webhooks for admission configurations.`,
    );
  }
  const key = partKey(options.part ?? `${names.camel}${type === "validation" ? "Validation" : "Mutation"}`);
  const module = names.isBuiltin ? "@op/sdk/kinds" : await moduleOf(names, options.module, main, io);
  const path = join(main.folder, names.folder, `${type}.ts`);
  const from = names.isBuiltin ? module : specifierOf(module, path);
  const subject = subjectOf(names, facts);
  const webhook = { names, key, from };
  const files = new Map([[`${type}.ts`, webhookText(type, webhook)]]);
  if (subject !== undefined) files.set(`${type}_test.ts`, webhookTestText(type, webhook, subject.object));
  const part = { key, from: `./${names.folder}/${type}.ts` };
  const paths = await addToProject(main, { part, folder: names.folder, files }, options, io);
  io.out(`Created webhook "${key}" of ${names.kind}:\n\n${paths.map((path) => `  ${path}\n`).join("")}`);
  const [problem] = subject?.errors ?? [];
  if (problem !== undefined) {
    io.err(
      `Warning: the object in ${names.folder}/${type}_test.ts does not follow the rules of its kind (${problem}). Correct it.\n`,
    );
  }
  io.out(`\nNext, edit ${names.folder}/${type}.ts, then:\n\n  deno task generate\n  deno task test\n`);
}

/** Finds a kind among those of the operator, then among those of Kubernetes. */
function kindOf({ kind, apiVersion, group }: NewWebhookOptions, facts: OperatorFacts, file: string): KindNames {
  const declared = [...facts.crds, ...facts.externalCrds];
  const own = declared.filter(({ spec }) => spec.names.kind === kind && (group === undefined || spec.group === group));
  const others = (Object.values(builtin) as unknown as Partial<AnyKind>[]).filter((one) =>
    one.kind === kind && one.apiVersion !== undefined && (group === undefined || one.group === group)
  );
  const groups = own.length > 0 ? own.map(({ spec }) => spec.group) : others.map(({ group }) => group ?? "");
  if (groups.length > 1) {
    throw new UsageError(
      `Cannot add a webhook for "${kind}": several groups have that kind. Add --group ${groups.join(" or ")}.`,
    );
  }
  const [only] = groups;
  if (only === undefined) {
    const known = declared.map(({ spec }) => spec.names.kind);
    const near = byNearness(kind, known)[0];
    const hint = near === undefined ? "" : ` Did you mean "${near}"?`;
    throw new Failure(
      `Cannot add a webhook for "${kind}": neither the operator in "${file}" nor Kubernetes has that kind.${hint}`,
    );
  }
  const versions = own.flatMap(({ spec }) => spec.versions.map(({ name }) => name));
  if (own.length > 0 && !versions.includes(apiVersion)) {
    throw new Failure(
      `Cannot add a webhook for "${kind}": its versions are ${versions.join(", ")}. Use --api-version ${versions[0]}.`,
    );
  }
  const [definition] = own;
  const [other] = others.filter(({ version }) => version === apiVersion);
  const plural = definition?.spec.names.plural ?? other?.plural;
  if (plural === undefined) {
    throw new Failure(
      `Cannot add a webhook for "${kind}": in Kubernetes it has version ${others[0]?.version}. Use --api-version ${
        others[0]?.version
      }.`,
    );
  }
  return namesOf({ kind, apiVersion, group: only }, plural, definition === undefined);
}

async function moduleOf(names: KindNames, module: string | undefined, main: SourceFile, io: Io): Promise<string> {
  const path = module === undefined
    ? join(main.folder, names.folder, `${names.apiVersion}.ts`)
    : resolve(io.cwd, module);
  if (await exists(path)) return path;
  throw new Failure(
    `Cannot add a webhook for "${names.kind}": "${
      module ?? `${names.folder}/${names.apiVersion}.ts`
    }" does not exist. Name the module that exports the kind with --module.`,
  );
}
