/**
 * Validation of ConfigMaps and Secrets: keys, size, and the keys that a type of Secret requires
 * (`k8s.io/kubernetes/pkg/apis/core/validation`).
 */
import { isObject } from "../../base/json.ts";
import { own } from "../../base/own.ts";
import { type FieldError, invalid, required, tooLong } from "../../schema/field_error.ts";
import type { StoredObject } from "../objects/objects.ts";
import { jsonError } from "../wire/body.ts";
import { jsonTypeName } from "../wire/go_value.ts";

// The limit for the data of both kinds, in bytes.
const MAX_SIZE = 1024 * 1024;
const MAX_KEY_LENGTH = 253;

/** Returns the errors of the data of a ConfigMap. */
export function configMapErrors(object: StoredObject): FieldError[] {
  const [data, binary] = [stringMap(object.data), stringMap(object.binaryData)];
  const errors = [
    ...Object.keys(data).flatMap((key) => [
      ...keyErrors("data", key),
      ...own(binary, key) === undefined ? [] : [invalid(`data[${key}]`, key, "duplicate of key present in binaryData")],
    ]),
    ...Object.keys(binary).flatMap((key) => keyErrors("binaryData", key)),
  ];
  const size = sizeOf(Object.values(data), bytes) + sizeOf(Object.values(binary), encodedBytes);
  return size > MAX_SIZE ? [...errors, tooLong("[]", MAX_SIZE)] : errors;
}

/** Returns the errors of the data of a Secret. */
export function secretErrors(object: StoredObject): FieldError[] {
  const data = stringMap(object.data);
  const errors = Object.keys(data).flatMap((key) => keyErrors("data", key));
  if (sizeOf(Object.values(data), encodedBytes) > MAX_SIZE) errors.push(tooLong("data", MAX_SIZE));
  return [...errors, ...typeErrors(object, data)];
}

const ACCOUNT = "kubernetes.io/service-account.name";

function typeErrors({ type, metadata }: StoredObject, data: Readonly<Record<string, string>>): FieldError[] {
  const missing = (key: string) => own(data, key) === undefined ? [required(`data[${key}]`)] : [];
  switch (type) {
    case "kubernetes.io/service-account-token":
      return own(metadata.annotations, ACCOUNT) ? [] : [required(`metadata.annotations[${ACCOUNT}]`)];
    case "kubernetes.io/dockercfg":
      return missing(".dockercfg").concat(jsonErrors(data, ".dockercfg"));
    case "kubernetes.io/dockerconfigjson":
      return missing(".dockerconfigjson").concat(jsonErrors(data, ".dockerconfigjson"));
    case "kubernetes.io/basic-auth": {
      const errors = [...missing("username"), ...missing("password")];
      return errors.length === 2 ? errors : [];
    }
    case "kubernetes.io/ssh-auth":
      return own(data, "ssh-privatekey") ? [] : [required("data[ssh-privatekey]")];
    case "kubernetes.io/tls":
      return [...missing("tls.crt"), ...missing("tls.key")];
    default:
      return [];
  }
}

/** Checks that a value is a JSON object. */
function jsonErrors(data: Readonly<Record<string, string>>, key: string): FieldError[] {
  const value = own(data, key);
  if (value === undefined) return [];
  const text = atob(value);
  const error = (reason: string) => [invalid(`data[${key}]`, "<secret contents redacted>", reason)];
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return error(jsonError(text));
  }
  if (isObject(parsed) || parsed === null) return [];
  return error(`json: cannot unmarshal ${jsonTypeName(parsed)} into Go value of type map[string]interface {}`);
}

const KEY_RULE = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or " +
  "'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

function keyErrors(field: string, key: string): FieldError[] {
  const errors: string[] = [];
  if (key.length > MAX_KEY_LENGTH) errors.push(`must be no more than ${MAX_KEY_LENGTH} characters`);
  if (!/^[-._a-zA-Z0-9]+$/.test(key)) errors.push(KEY_RULE);
  if (key === "." || key === "..") errors.push(`must not be '${key}'`);
  else if (key.startsWith("..")) errors.push("must not start with '..'");
  return errors.map((reason) => invalid(`${field}[${key}]`, key, reason));
}

function stringMap(value: unknown): Readonly<Record<string, string>> {
  return isObject(value) ? value as Record<string, string> : {};
}

function sizeOf(values: readonly string[], size: (value: string) => number): number {
  return values.reduce((sum, value) => sum + size(value), 0);
}

/** Returns the length of a string in bytes. */
function bytes(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** Returns the number of bytes that a base64 string encodes. */
function encodedBytes(text: string): number {
  return Math.floor(text.length / 4) * 3 - (text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0);
}
