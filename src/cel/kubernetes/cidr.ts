/** Networks such as `10.0.0.0/8` (`k8s.io/apiserver/pkg/cel/library/cidr.go`). */
import { IpNetwork } from "../../base/ip_address.ts";
import { quoted } from "../../base/quoted.ts";
import { addRanges, exactly, type Range, scaleRange, sizeRange } from "../cost.ts";
import type { Library } from "../library.ts";
import { sizeOf } from "../runtime_type.ts";
import { BOOL, type CelType, INT, opaque, STRING, typeOf } from "../type.ts";
import { CelError, OpaqueValue, TypeValue, type Value } from "../value.ts";
import { type Costs, READING, TRAVERSAL } from "./_costs.ts";
import { parsed, parses } from "./_parsing.ts";
import { IP, IpValue, parseIp } from "./ip.ts";

const CIDR: CelType = opaque("net.CIDR");

/** A network as a value. */
export class CidrValue extends OpaqueValue {
  readonly type: CelType = CIDR;
  /** Of the bytes that count. */
  override readonly size: number;

  constructor(readonly network: IpNetwork) {
    super();
    this.size = Math.ceil(network.bits / 8);
  }

  equals(other: OpaqueValue): boolean {
    if (!(other instanceof CidrValue)) throw new CelError("no such overload");
    return this.network.equals(other.network);
  }
}

/** `cidr`, `isCIDR`, and what is in a network. */
export const CIDRS: Library = {
  name: "kubernetes.net.cidr",
  constants: [{ name: "net.CIDR", type: typeOf(CIDR), value: new TypeValue(CIDR) }],
  functions: [
    {
      name: "cidr",
      overloads: [{
        id: "string_to_cidr",
        isMember: false,
        parameters: [STRING],
        result: CIDR,
        call: (text) => parseCidr(text as string),
        ...READING,
      }],
    },
    {
      name: "isCIDR",
      overloads: [{
        id: "is_cidr",
        isMember: false,
        parameters: [STRING],
        result: BOOL,
        call: (text) => parses(() => readNetwork(text as string)),
        ...READING,
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
      overloads: [
        {
          id: "cidr_contains_ip_string",
          isMember: true,
          parameters: [CIDR, STRING],
          result: BOOL,
          call: (value, text) => networkOf(value).contains(addressIn(text as string).address),
          ...comparing({ isParsed: true, isMasked: false }),
        },
        {
          id: "cidr_contains_ip_ip",
          isMember: true,
          parameters: [CIDR, IP],
          result: BOOL,
          call: (value, other) => networkOf(value).contains((other as IpValue).address),
          ...comparing({ isParsed: false, isMasked: false }),
        },
      ],
    },
    {
      name: "containsCIDR",
      overloads: [
        {
          id: "cidr_contains_cidr_string",
          isMember: true,
          parameters: [CIDR, STRING],
          result: BOOL,
          call: (value, text) => contains(networkOf(value), parseCidr(text as string).network),
          ...comparing({ isParsed: true, isMasked: true }),
        },
        {
          id: "cidr_contains_cidr",
          isMember: true,
          parameters: [CIDR, CIDR],
          result: BOOL,
          call: (value, other) => contains(networkOf(value), networkOf(other)),
          ...comparing({ isParsed: false, isMasked: true }),
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
  const message = (fault: string) => `network address parse error during conversion from string: ${fault}`;
  return new CidrValue(parsed(() => readNetwork(text), message));
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
    // Said twice in the end: so the server has it.
    throw new SyntaxError(`network address parse error during conversion from string: ${error.message}`);
  }
}

/** What a server says of a text that is no address here tells nothing of it. */
function addressIn(text: string): IpValue {
  try {
    return parseIp(text);
  } catch (error) {
    throw error instanceof CelError ? new CelError("no such overload", { cause: error }) : error;
  }
}

/** An address has 4 or 16 bytes. */
const ADDRESS: Range = { min: 4, max: 16 };

/** What comparing a network with an address or a network costs: more where that is parsed first, or the network masked. */
function comparing({ isParsed, isMasked }: { isParsed: boolean; isMasked: boolean }): Required<Costs> {
  return {
    cost([network, other]) {
      const size = sizeOf(network!);
      const compared = Math.ceil(2 * size * TRAVERSAL);
      const masked = isMasked ? Math.ceil(size * TRAVERSAL) + 1 : 0;
      return compared + masked + (isParsed ? Math.ceil(sizeOf(other!) * TRAVERSAL) : 0);
    },
    estimate([, other]) {
      let cost = scaleRange(addRanges(ADDRESS, ADDRESS), TRAVERSAL);
      if (isMasked) cost = addRanges(addRanges(cost, scaleRange(ADDRESS, TRAVERSAL)), exactly(1));
      if (isParsed) cost = addRanges(cost, scaleRange(sizeRange(other!), TRAVERSAL));
      return { cost };
    },
  };
}
