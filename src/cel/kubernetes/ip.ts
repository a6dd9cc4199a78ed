/** IP addresses (`k8s.io/apiserver/pkg/cel/library/ip.go`). */
import { IpAddress } from "../../base/ip_address.ts";
import { quoted } from "../../base/quoted.ts";
import type { FunctionDeclaration } from "../function.ts";
import type { Library } from "../library.ts";
import { READING, readingTimes } from "../traversal.ts";
import { BOOL, type CelType, INT, opaque, STRING, typeOf } from "../type.ts";
import { CelError, OpaqueValue, TypeValue, type Value } from "../value.ts";
import { isParsable, parseOperand } from "./_parsing.ts";

/** The type of addresses. */
export const IP: CelType = opaque("net.IP");

/** An address as a value. */
export class IpValue extends OpaqueValue {
  readonly type: CelType = IP;
  override readonly goType = "cel.IP";
  override readonly size: number;

  constructor(readonly address: IpAddress) {
    super();
    this.size = address.bytes.length;
  }

  equals(other: Value): boolean {
    if (!(other instanceof IpValue)) throw new CelError("no such overload");
    return this.address.equals(other.address);
  }
}

/** The library: `ip`, `isIP`, `ip.isCanonical` and the functions of an address. */
export const IPS: Library = {
  name: "kubernetes.net.ip",
  constants: [{ name: "net.IP", type: typeOf(IP), value: new TypeValue(IP) }],
  functions: [
    {
      name: "ip",
      cost: READING.cost,
      overloads: [{
        id: "string_to_ip",
        isMember: false,
        parameters: [STRING],
        result: IP,
        call: (text) => parseIp(text as string),
        estimate: READING.estimate,
      }],
    },
    {
      name: "isIP",
      cost: READING.cost,
      overloads: [{
        id: "is_ip",
        isMember: false,
        parameters: [STRING],
        result: BOOL,
        call: (text) => isParsable(() => readAddress(text as string)),
        estimate: READING.estimate,
      }],
    },
    {
      name: "ip.isCanonical",
      cost: readingTimes(2).cost,
      overloads: [{
        id: "ip_is_canonical",
        isMember: false,
        parameters: [STRING],
        result: BOOL,
        call: (text) => parseIp(text as string).address.toString() === text,
        estimate: readingTimes(2).estimate,
      }],
    },
    {
      name: "string",
      overloads: [{
        id: "ip_to_string",
        isMember: false,
        parameters: [IP],
        result: STRING,
        call: (value) => (value as IpValue).address.toString(),
      }],
    },
    getter("family", "family", INT, ({ family }) => BigInt(family)),
    getter("isUnspecified", "is_unspecified", BOOL, ({ isUnspecified }) => isUnspecified),
    getter("isLoopback", "is_loopback", BOOL, ({ isLoopback }) => isLoopback),
    getter("isLinkLocalMulticast", "is_link_local_multicast", BOOL, (address) => address.isLinkLocalMulticast),
    getter("isLinkLocalUnicast", "is_link_local_unicast", BOOL, (address) => address.isLinkLocalUnicast),
    getter("isGlobalUnicast", "is_global_unicast", BOOL, ({ isGlobalUnicast }) => isGlobalUnicast),
  ],
};

/**
 * Parses an address.
 *
 * @param text The address.
 * @throws {CelError} If CEL does not accept it.
 */
export function parseIp(text: string): IpValue {
  return new IpValue(parseOperand(() => readAddress(text)));
}

function readAddress(text: string): IpAddress {
  const address = parseAddress(text);
  if (address.zone !== "") throw new SyntaxError(`IP address ${quoted(text)} with zone value is not allowed`);
  if (address.isMapped) throw new SyntaxError(`IPv4-mapped IPv6 address ${quoted(text)} is not allowed`);
  return address;
}

function parseAddress(text: string): IpAddress {
  try {
    return IpAddress.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new SyntaxError(`IP Address ${quoted(text)} parse error during conversion from string: ${error.message}`);
  }
}

function getter(
  name: string,
  id: string,
  result: CelType,
  read: (address: IpAddress) => Value,
): FunctionDeclaration {
  const call = (value?: Value) => read((value as IpValue).address);
  return { name, overloads: [{ id: `ip_${id}`, isMember: true, parameters: [IP], result, call }] };
}
