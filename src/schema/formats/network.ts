/**
 * Network addresses as API servers accept them: with leading zeros
 * (`k8s.io/utils/internal/third_party/forked/golang/net`), except for formats that use Go's own
 * parser (`net`, ParseIP and ParseMAC).
 */
import { IpAddress } from "../../base/ip_address.ts";

/**
 * Returns whether a string is an IP address of either version that contains dots; `::ffff:10.0.0.1`
 * counts, too.
 */
export function isIpv4(text: string): boolean {
  const isAddressOrSloppy = /^[^:]*\./.test(text) ? isSloppyIpv4(text) : text.includes(":") && isSloppyIpv6(text);
  return isAddressOrSloppy && text.includes(".");
}

/** Returns whether a string is an IPv6 address for Go's own parser. */
export function isIpv6(text: string): boolean {
  return text.includes(":") && isAddress(text);
}

/** Returns whether a string is an IP address without a zone for Go's own parser. */
export function isAddress(text: string): boolean {
  try {
    return IpAddress.parse(text).zone === "" && !text.includes("%");
  } catch {
    return false;
  }
}

/** Returns whether a string is an address with a prefix length. */
export function isCidr(text: string): boolean {
  const slash = text.indexOf("/");
  if (slash < 0) return false;
  const [address, bits] = [text.slice(0, slash), text.slice(slash + 1)];
  const maxBits = isSloppyIpv4(address) ? 32 : isSloppyIpv6(address) ? 128 : -1;
  return /^\d+$/.test(bits) && Number(bits) <= maxBits;
}

function isSloppyIpv4(text: string): boolean {
  const parts = text.split(".");
  return parts.length === 4 && parts.every((part) => /^\d+$/.test(part) && Number(part) <= 255);
}

/**
 * Eight groups of 16 bits, or fewer with `::` for the rest. The last two groups may be an IPv4
 * address.
 */
function isSloppyIpv6(text: string): boolean {
  const [before = "", after, more] = text.split("::");
  if (more !== undefined) return false;
  const [head, tail] = [groupsOf(before, after === undefined), groupsOf(after ?? "", true)];
  if (head === undefined || tail === undefined) return false;
  // `::` stands for at least one group.
  return after === undefined ? head === 8 : head + tail < 8;
}

/** Returns the number of groups in a part of an address, or `undefined` if the part is invalid. */
function groupsOf(text: string, isEnd: boolean): number | undefined {
  if (text === "") return 0;
  const groups = text.split(":");
  const last = groups.at(-1) ?? "";
  const isMixed = isEnd && last.includes(".");
  if (isMixed && !isSloppyIpv4(last)) return undefined;
  const plain = isMixed ? groups.slice(0, -1) : groups;
  if (!plain.every((group) => /^0*[0-9a-fA-F]{1,4}$/.test(group))) return undefined;
  return plain.length + (isMixed ? 2 : 0);
}

const MAC_PATTERNS = [6, 8, 20].flatMap((bytes) => [
  new RegExp(`^[0-9a-f]{2}([:-])(?:[0-9a-f]{2}\\1){${bytes - 2}}[0-9a-f]{2}$`, "i"),
  new RegExp(`^(?:[0-9a-f]{4}\\.){${bytes / 2 - 1}}[0-9a-f]{4}$`, "i"),
  new RegExp(`^[0-9a-f]{${2 * bytes}}$`, "i"),
]);

/** Returns whether a string is a MAC address of 6, 8 or 20 bytes. */
export function isMac(text: string): boolean {
  return MAC_PATTERNS.some((pattern) => pattern.test(text));
}
