/**
 * Parses the query of a connection into its options (`PodExecOptions` and others of
 * `k8s.io/api/core/v1`).
 */
import { own } from "../../base/own.ts";
import { badRequest } from "../wire/status_error.ts";

/** Options of a connection, as webhooks receive them. */
export interface ConnectOptions {
  readonly kind: string;
  readonly apiVersion: "v1";
  readonly [field: string]: unknown;
}

type Read = (values: readonly string[]) => unknown;

const parseFlag: Read = ([first]) => first !== undefined && first !== "0" && first.toLowerCase() !== "false";
const parseText: Read = ([first]) => first ?? "";

const STREAMS = {
  stdin: parseFlag,
  stdout: parseFlag,
  stderr: parseFlag,
  tty: parseFlag,
  container: parseText,
} as const;

/** Parsers of the fields of each kind, in the order of the result. Empty fields are omitted. */
const FIELDS: Readonly<Record<string, Readonly<Record<string, Read>>>> = {
  PodExecOptions: { ...STREAMS, command: (values) => values.length === 0 ? null : values },
  PodAttachOptions: STREAMS,
  PodPortForwardOptions: { ports: parsePorts },
  PodProxyOptions: { path: parseText },
  ServiceProxyOptions: { path: parseText },
  NodeProxyOptions: { path: parseText },
};

/**
 * Parses the options of a connection.
 *
 * @param kind Kind of the options.
 * @param query The query.
 * @param subpath Rest of the path after the subresource, which replaces `path` of the query.
 * @throws {StatusError} If a value has the wrong type.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const query = new URLSearchParams("command=ls&command=-l&tty=true");
 * assert.deepEqual(connectOptions("PodExecOptions", query), {
 *   kind: "PodExecOptions", apiVersion: "v1", tty: true, command: ["ls", "-l"],
 * });
 * ```
 */
export function connectOptions(kind: string, query: URLSearchParams, subpath: string = ""): ConnectOptions {
  const options: Record<string, unknown> = {};
  for (const [name, read] of Object.entries(own(FIELDS, kind) ?? {})) {
    const value = read(name === "path" ? [subpath] : query.getAll(name));
    if (value !== "" && value !== false && value !== undefined) options[name] = value;
  }
  return { kind, apiVersion: "v1", ...options };
}

const MAX_PORT = 65535;

function parsePorts(values: readonly string[]): readonly number[] | undefined {
  if (values.length === 0) return undefined;
  return values.flatMap((each) => each.split(",")).map((part) => {
    const error = (reason: string) =>
      badRequest(`cannot convert to []int32: strconv.ParseUint: parsing ${JSON.stringify(part)}: ${reason}`);
    if (!/^\d+$/.test(part)) throw error("invalid syntax");
    if (Number(part) > MAX_PORT) throw error("value out of range");
    return Number(part);
  });
}
