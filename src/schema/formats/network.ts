/**
 * Addresses as API servers have always taken them: with leading zeros (`k8s.io/utils/internal/third_party/forked/golang/net`), save where Go
 * itself is asked (`net`, ParseIP and ParseMAC).
 */
import { IpAddress } from "../../base/ip_address.ts";

/** Whether a text is an address of either version, one with dots in it at that: `::ffff:10.0.0.1` counts too. */
export function isIpv4(text: string): boolean {
  const isEither = /^[^:]*\./.test(text) ? isSloppyIpv4(text) : text.includes(":") && isSloppyIpv6(text);
  return isEither && text.includes(".");
}

/** Whether a text is an address of version 6, as Go itself reads them. */
export function isIpv6(text: string): boolean {
  return text.includes(":") && isAddress(text);
}

/** Whether a text is an address as Go itself reads them: without a zone. */
export function isAddress(text: string): boolean {
  try {
    return IpAddress.parse(text).zone === "" && !text.includes("%");
  } catch {
    return false;
  }
}

/** Whether a text is an address and how many bits of it count. */
export function isCidr(text: string): boolean {
  const slash = text.indexOf("/");
  if (slash < 0) return false;
  const [address, bits] = [text.slice(0, slash), text.slice(slash + 1)];
  const most = isSloppyIpv4(address) ? 32 : isSloppyIpv6(address) ? 128 : -1;
  return /^\d+$/.test(bits) && Number(bits) <= most;
}

function isSloppyIpv4(text: string): boolean {
  const parts = text.split(".");
  return parts.length === 4 && parts.every((part) => /^\d+$/.test(part) && Number(part) <= 255);
}

/** Eight groups of 16 bits, or fewer with `::` in the place of the rest; the last two may be written as version 4. */
function isSloppyIpv6(text: string): boolean {
  const [before = "", after, more] = text.split("::");
  if (more !== undefined) return false;
  const [head, tail] = [groupsOf(before, after === undefined), groupsOf(after ?? "", true)];
  if (head === undefined || tail === undefined) return false;
  // What stands for the rest stands for one group at least.
  return after === undefined ? head === 8 : head + tail < 8;
}

/** How many groups a part of an address has; undefined where it is none. */
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

/** Whether a text is an address of a network card: of 6, 8 or 20 bytes. */
export function isMac(text: string): boolean {
  return MAC_PATTERNS.some((pattern) => pattern.test(text));
}
