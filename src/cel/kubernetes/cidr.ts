/** Networks such as `10.0.0.0/8` (`k8s.io/apiserver/pkg/cel/library/cidr.go`). */
import { IpNetwork } from "../../base/ip_address.ts";
import { quoted } from "../../base/quoted.ts";
import { addRanges, exactly, type Range, scaleRange, sizeRange } from "../cost.ts";
import type { Library } from "../library.ts";
import type { Outcome } from "../outcome.ts";
import { type Costs, READING, readingCost, TRAVERSAL } from "../traversal.ts";
import { BOOL, type CelType, INT, opaque, STRING, typeOf } from "../type.ts";
import { CelError, OpaqueValue, TypeValue, type Value } from "../value.ts";
import { isParsable, parseOperand } from "./_parsing.ts";
import { IP, IpValue, parseIp } from "./ip.ts";

const CIDR: CelType = opaque("net.CIDR");

/** A network as a value. */
export class CidrValue extends OpaqueValue {
  readonly type: CelType = CIDR;
  override readonly goType = "cel.CIDR";
  /** In significant bytes. */
  override readonly size: number;

  constructor(readonly network: IpNetwork) {
    super();
    this.size = Math.ceil(network.bits / 8);
  }

  equals(other: Value): boolean {
    if (!(other instanceof CidrValue)) throw new CelError("no such overload");
    return this.network.equals(other.network);
  }
}

/** The library: `cidr`, `isCIDR`, and the functions of a network. */
export const CIDRS: Library = {
  name: "kubernetes.net.cidr",
  constants: [{ name: "net.CIDR", type: typeOf(CIDR), value: new TypeValue(CIDR) }],
  functions: [
    {
      name: "cidr",
      cost: READING.cost,
      overloads: [{
        id: "string_to_cidr",
        isMember: false,
        parameters: [STRING],
        result: CIDR,
        call: (text) => parseCidr(text as string),
        estimate: READING.estimate,
      }],
    },
    {
      name: "isCIDR",
      cost: READING.cost,
      overloads: [{
        id: "is_cidr",
        isMember: false,
        parameters: [STRING],
        result: BOOL,
        call: (text) => isParsable(() => readNetwork(text as string)),
        estimate: READING.estimate,
      }],
    },
    {
      name: "string",
      overloads: [{
        id: "cidr_to_string",
        isMember: false,
        parameters: [CIDR],
        result: STRING,
        call: (value) => networkOf(value).toString(),
      }],
    },
    {
      name: "containsIP",
      cost: ([network, other], _, overload) =>
        comparisonCost(network!) + (overload === "cidr_contains_ip_string" ? readingCost(other!) : 0),
      overloads: [
        {
          id: "cidr_contains_ip_string",
          isMember: true,
          parameters: [CIDR, STRING],
          result: BOOL,
          call: (value, text) => networkOf(value).contains(addressIn(text as string).address),
          estimate: comparisonEstimate({ isParsed: true, isMasked: false }),
        },
        {
          id: "cidr_contains_ip_ip",
          isMember: true,
          parameters: [CIDR, IP],
          result: BOOL,
          call: (value, other) => networkOf(value).contains((other as IpValue).address),
          estimate: comparisonEstimate({ isParsed: false, isMasked: false }),
        },
      ],
    },
    {
      name: "containsCIDR",
      cost: ([network, other], _, overload) =>
        comparisonCost(network!) + readingCost(network!) + 1 +
        (overload === "cidr_contains_cidr_string" ? readingCost(other!) : 0),
      overloads: [
        {
          id: "cidr_contains_cidr_string",
          isMember: true,
          parameters: [CIDR, STRING],
          result: BOOL,
          call: (value, text) => contains(networkOf(value), parseCidr(text as string).network),
          estimate: comparisonEstimate({ isParsed: true, isMasked: true }),
        },
        {
          id: "cidr_contains_cidr",
          isMember: true,
          parameters: [CIDR, CIDR],
          result: BOOL,
          call: (value, other) => contains(networkOf(value), networkOf(other)),
          estimate: comparisonEstimate({ isParsed: false, isMasked: true }),
        },
      ],
    },
    {
      name: "ip",
      overloads: [{
        id: "cidr_ip",
        isMember: true,
        parameters: [CIDR],
        result: IP,
        call: (value) => new IpValue(networkOf(value).address),
        cost: () => 1,
      }],
    },
    {
      name: "prefixLength",
      overloads: [{
        id: "cidr_prefix_length",
        isMember: true,
        parameters: [CIDR],
        result: INT,
        call: (value) => BigInt(networkOf(value).bits),
      }],
    },
    {
      name: "masked",
      overloads: [{
        id: "cidr_masked",
        isMember: true,
        parameters: [CIDR],
        result: CIDR,
        call: (value) => new CidrValue(networkOf(value).masked()),
      }],
    },
  ],
};

function networkOf(value: Value | undefined): IpNetwork {
  return (value as CidrValue).network;
}

function contains(network: IpNetwork, other: IpNetwork): boolean {
  return network.overlaps(other) && network.bits <= other.bits;
}

function parseCidr(text: string): CidrValue {
  const message = (error: string) => `network address parse error during conversion from string: ${error}`;
  return new CidrValue(parseOperand(() => readNetwork(text), message));
}

function readNetwork(text: string): IpNetwork {
  const network = parseNetwork(text);
  if (network.address.isMapped) throw new SyntaxError(`IPv4-mapped IPv6 address ${quoted(text)} is not allowed`);
  return network;
}

function parseNetwork(text: string): IpNetwork {
  try {
    return IpNetwork.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // The server repeats this prefix in its final message.
    throw new SyntaxError(`network address parse error during conversion from string: ${error.message}`);
  }
}

/** The server's error for an invalid address does not contain the details. */
function addressIn(text: string): IpValue {
  try {
    return parseIp(text);
  } catch (error) {
    throw error instanceof CelError ? new CelError("no such overload", { cause: error }) : error;
  }
}

/** An address has 4 or 16 bytes. */
const ADDRESS: Range = { min: 4, max: 16 };

/** Returns the cost of comparing a network with an address, proportional to the network's size. */
function comparisonCost(network: Outcome): number {
  return readingCost(network, 2);
}

/**
 * Estimates the cost of a comparison. It is higher if the other operand is parsed first or the
 * network is masked.
 */
function comparisonEstimate({ isParsed, isMasked }: { isParsed: boolean; isMasked: boolean }): Costs["estimate"] {
  return ([, other]) => {
    let cost = scaleRange(addRanges(ADDRESS, ADDRESS), TRAVERSAL);
    if (isMasked) cost = addRanges(addRanges(cost, scaleRange(ADDRESS, TRAVERSAL)), exactly(1));
    if (isParsed) cost = addRanges(cost, scaleRange(sizeRange(other!), TRAVERSAL));
    return { cost };
  };
}
