/** IP addresses and networks as API servers parse and print them (Go's `net/netip`). */
import { quoted } from "./quoted.ts";

/**
 * An address of 4 or 16 bytes.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const address = IpAddress.parse("2001:DB8::0:1");
 * assert.equal(address.toString(), "2001:db8::1");
 * assert.equal(address.family, 6);
 * assert.throws(() => IpAddress.parse("1.2.3"), {
 *   message: 'ParseAddr("1.2.3"): IPv4 address too short',
 * });
 * ```
 */
export class IpAddress {
  private constructor(
    readonly bytes: readonly number[],
    /** The zone after a `%`, such as a network interface; empty if there is none. */
    readonly zone: string = "",
  ) {}

  /**
   * Parses an address.
   *
   * @param text The address, such as `10.0.0.1`, `fd00::1` or `fe80::1%eth0`.
   * @throws {SyntaxError} If it is invalid; the message is Go's.
   */
  static parse(text: string): IpAddress {
    const first = /[.:%]/.exec(text)?.[0];
    if (first === ".") return new IpAddress(parseFields(text, text));
    if (first === ":") return new IpAddress(...parseIpv6(text));
    throw addressError(text, first === "%" ? "missing IPv6 address" : "unable to parse IP");
  }

  /** The IP version. */
  get family(): 4 | 6 {
    return this.bytes.length === 4 ? 4 : 6;
  }

  /** Whether it is an IPv4 address in IPv6 form: `::ffff:10.0.0.1`. */
  get isMapped(): boolean {
    return this.family === 6 && this.bytes.every((byte, i) => i >= 12 || byte === (i < 10 ? 0 : 255));
  }

  /** Whether it is `0.0.0.0` or `::`. */
  get isUnspecified(): boolean {
    return this.zone === "" && this.bytes.every((byte) => byte === 0);
  }

  /** Whether it is in `127.0.0.0/8`, or is `::1`. */
  get isLoopback(): boolean {
    const bytes = this.#unmapped();
    return bytes.length === 4 ? bytes[0] === 127 : bytes.every((byte, i) => byte === (i === 15 ? 1 : 0));
  }

  /** Whether it is in `224.0.0.0/4` or `ff00::/8`. */
  get isMulticast(): boolean {
    const bytes = this.#unmapped();
    return bytes.length === 4 ? (bytes[0]! & 0xf0) === 0xe0 : bytes[0] === 0xff;
  }

  /**
   * Whether it is in `224.0.0.0/24`, or is an IPv6 multicast address with link-local scope:
   * `ff02::1`.
   */
  get isLinkLocalMulticast(): boolean {
    const bytes = this.#unmapped();
    if (bytes.length === 4) return bytes[0] === 224 && bytes[1] === 0 && bytes[2] === 0;
    return bytes[0] === 0xff && (bytes[1]! & 0x0f) === 2;
  }

  /** Whether it is in `169.254.0.0/16` or `fe80::/10`. */
  get isLinkLocalUnicast(): boolean {
    const bytes = this.#unmapped();
    if (bytes.length === 4) return bytes[0] === 169 && bytes[1] === 254;
    return bytes[0] === 0xfe && (bytes[1]! & 0xc0) === 0x80;
  }

  /**
   * Whether it is a global unicast address: neither unspecified, broadcast, loopback, multicast nor
   * link-local. As in Go, this includes addresses of private networks.
   */
  get isGlobalUnicast(): boolean {
    const bytes = this.#unmapped();
    const isUnspecifiedOrBroadcast = bytes.every((byte) => byte === 0) ||
      bytes.length === 4 && bytes.every((byte) => byte === 255);
    return !isUnspecifiedOrBroadcast && !this.isLoopback && !this.isMulticast && !this.isLinkLocalUnicast;
  }

  /**
   * Returns whether it is the same address with the same zone. `10.0.0.1` and `::ffff:10.0.0.1`
   * differ.
   */
  equals(other: IpAddress): boolean {
    return this.zone === other.zone && this.bytes.length === other.bytes.length &&
      this.bytes.every((byte, i) => byte === other.bytes[i]);
  }

  /** Returns the address with only its first bits, without a zone. */
  masked(bits: number): IpAddress {
    return new IpAddress(this.bytes.map((byte, i) => {
      const maskedBits = Math.min(Math.max(bits - i * 8, 0), 8);
      return byte & (0xff00 >> maskedBits);
    }));
  }

  /**
   * Returns the canonical form: no leading zeros, the longest run of zeros as `::`, in lower case.
   */
  toString(): string {
    if (this.family === 4) return this.bytes.join(".");
    const text = this.isMapped ? `::ffff:${this.bytes.slice(12).join(".")}` : ipv6Text(this.bytes);
    return this.zone === "" ? text : `${text}%${this.zone}`;
  }

  #unmapped(): readonly number[] {
    return this.isMapped ? this.bytes.slice(12) : this.bytes;
  }
}

/**
 * A network: an address and a prefix length.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const network = IpNetwork.parse("10.1.2.3/8");
 * assert.equal(network.masked().toString(), "10.0.0.0/8");
 * assert.equal(network.contains(IpAddress.parse("10.255.0.1")), true);
 * ```
 */
export class IpNetwork {
  private constructor(
    readonly address: IpAddress,
    /** The prefix length in bits. */
    readonly bits: number,
  ) {}

  /**
   * Parses a network. Its address may have bits outside of the prefix.
   *
   * @param text The network, such as `10.0.0.0/8` or `fd00::/64`.
   * @throws {SyntaxError} If it is invalid; the message is Go's.
   */
  static parse(text: string): IpNetwork {
    const slash = text.lastIndexOf("/");
    if (slash < 0) throw networkError(text, "no '/'");
    const address = parseAddressOf(text, slash);
    if (address.zone !== "") throw networkError(text, "IPv6 zones cannot be present in a prefix");
    const bits = text.slice(slash + 1);
    if (!/^(?:0|[1-9]\d{0,18})$/.test(bits) || BigInt(bits) >= 2n ** 63n) {
      throw networkError(text, `bad bits after slash: ${quoted(bits)}`);
    }
    if (Number(bits) > address.bytes.length * 8) throw networkError(text, "prefix length out of range");
    return new IpNetwork(address, Number(bits));
  }

  /** Returns whether it contains an address. */
  contains(address: IpAddress): boolean {
    return address.zone === "" && address.masked(this.bits).equals(this.address.masked(this.bits));
  }

  /** Returns whether it and another network have common addresses. */
  overlaps(other: IpNetwork): boolean {
    const bits = Math.min(this.bits, other.bits);
    return this.address.masked(bits).equals(other.address.masked(bits));
  }

  /** Returns the network with all bits outside of the prefix set to zero. */
  masked(): IpNetwork {
    return new IpNetwork(this.address.masked(this.bits), this.bits);
  }

  /** Returns whether both address and prefix length are equal. */
  equals(other: IpNetwork): boolean {
    return this.bits === other.bits && this.address.equals(other.address);
  }

  /** Returns address and prefix length: `10.0.0.0/8`. */
  toString(): string {
    return `${this.address}/${this.bits}`;
  }
}

function parseAddressOf(text: string, slash: number): IpAddress {
  try {
    return IpAddress.parse(text.slice(0, slash));
  } catch (error) {
    throw networkError(text, (error as SyntaxError).message);
  }
}

function addressError(text: string, message: string, at = ""): SyntaxError {
  return new SyntaxError(`ParseAddr(${quoted(text)}): ${message}${at === "" ? "" : ` (at ${quoted(at)})`}`);
}

function networkError(text: string, message: string): SyntaxError {
  return new SyntaxError(`netip.ParsePrefix(${quoted(text)}): ${message}`);
}

/**
 * Parses four numbers separated by dots.
 *
 * @param whole The whole string, for the message.
 * @param text The part with the numbers.
 */
function parseFields(whole: string, text: string): number[] {
  const fields: number[] = [];
  let [value, digits] = [0, 0];
  for (let i = 0; i < text.length; i++) {
    const character = text[i]!;
    if (isDigit(character)) {
      if (digits === 1 && value === 0) throw addressError(whole, "IPv4 field has octet with leading zero");
      value = value * 10 + Number(character);
      digits++;
      if (value > 255) throw addressError(whole, "IPv4 field has value >255");
      continue;
    }
    if (character !== ".") throw addressError(whole, "unexpected character", text.slice(i));
    if (i === 0 || i === text.length - 1 || text[i - 1] === ".") {
      throw addressError(whole, "IPv4 field must have at least one digit", text.slice(i));
    }
    if (fields.length === 3) throw addressError(whole, "IPv4 address too long");
    fields.push(value);
    [value, digits] = [0, 0];
  }
  if (fields.length < 3) throw addressError(whole, "IPv4 address too short");
  return [...fields, value];
}

function parseIpv6(whole: string): [bytes: number[], zone: string] {
  const percent = whole.indexOf("%");
  const zone = percent < 0 ? "" : whole.slice(percent + 1);
  if (percent >= 0 && zone === "") throw addressError(whole, "zone must be a non-empty string");
  let rest = percent < 0 ? whole : whole.slice(0, percent);
  const bytes: number[] = [];
  // The position of the `::`, in bytes.
  let gap = -1;
  if (rest.startsWith("::")) {
    gap = 0;
    rest = rest.slice(2);
    if (rest === "") return [new Array(16).fill(0), zone];
  }
  while (bytes.length < 16) {
    const digits = groupDigits(whole, rest);
    if (rest[digits.length] === ".") {
      if (gap < 0 && bytes.length !== 12) {
        throw addressError(whole, "embedded IPv4 address must replace the final 2 fields of the address", rest);
      }
      if (bytes.length > 12) {
        throw addressError(whole, "too many hex fields to fit an embedded IPv4 at the end of the address", rest);
      }
      bytes.push(...parseFields(whole, rest));
      rest = "";
      break;
    }
    const group = parseInt(digits, 16);
    bytes.push(group >> 8, group & 0xff);
    rest = rest.slice(digits.length);
    if (rest === "") break;
    if (!rest.startsWith(":")) throw addressError(whole, "unexpected character, want colon", rest);
    if (rest.length === 1) throw addressError(whole, "colon must be followed by more characters", rest);
    rest = rest.slice(1);
    if (!rest.startsWith(":")) continue;
    if (gap >= 0) throw addressError(whole, "multiple :: in address", rest);
    gap = bytes.length;
    rest = rest.slice(1);
    if (rest === "") break;
  }
  if (rest !== "") throw addressError(whole, "trailing garbage after address", rest);
  if (bytes.length === 16) {
    if (gap >= 0) throw addressError(whole, "the :: must expand to at least one field of zeros");
    return [bytes, zone];
  }
  if (gap < 0) throw addressError(whole, "address string too short");
  return [[...bytes.slice(0, gap), ...new Array(16 - bytes.length).fill(0), ...bytes.slice(gap)], zone];
}

function groupDigits(whole: string, rest: string): string {
  const digits = /^[0-9a-fA-F]*/.exec(rest)![0];
  if (digits.length > 4) throw addressError(whole, "each group must have 4 or less digits", rest);
  if (digits === "") throw addressError(whole, "each colon-separated field must have at least one digit", rest);
  return digits;
}

function ipv6Text(bytes: readonly number[]): string {
  const groups = Array.from({ length: 8 }, (_, i) => bytes[2 * i]! << 8 | bytes[2 * i + 1]!);
  const [start, end] = longestZeros(groups);
  const hex = (from: number, to: number) => groups.slice(from, to).map((group) => group.toString(16)).join(":");
  return end - start < 2 ? hex(0, 8) : `${hex(0, start)}::${hex(end, 8)}`;
}

function longestZeros(groups: readonly number[]): [start: number, end: number] {
  let longest: [number, number] = [0, 0];
  for (let start = 0; start < groups.length; start++) {
    let end = start;
    while (groups[end] === 0) end++;
    if (end - start > longest[1] - longest[0]) longest = [start, end];
  }
  return longest;
}

function isDigit(character: string): boolean {
  return character >= "0" && character <= "9";
}
