/** The machine that an executable is for, from its ELF header (System V ABI, figure 4-3; machines: https://refspecs.linuxfoundation.org/elf/gabi4+/ch4.eheader.html). */

/** A machine, as Deno's targets name it. */
export type Machine = "x86_64" | "aarch64";

const MACHINES: { readonly [number: number]: Machine } = { 62: "x86_64", 183: "aarch64" };

/** Bytes of the header that are looked at. */
export const ELF_HEADER_BYTES = 20;

/**
 * The machine that an ELF file is for.
 *
 * @param header The file's first {@linkcode ELF_HEADER_BYTES} bytes, or more.
 * @returns The machine; nothing when it is no ELF file, or for another machine.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(machineOf(new Uint8Array(20)), undefined);
 * ```
 */
export function machineOf(header: Uint8Array): Machine | undefined {
  if (
    header.length < ELF_HEADER_BYTES || header[0] !== 0x7f || header[1] !== 0x45 || header[2] !== 0x4c ||
    header[3] !== 0x46
  ) {
    return undefined;
  }
  const littleEndian = header[5] === 1;
  return MACHINES[new DataView(header.buffer, header.byteOffset).getUint16(18, littleEndian)];
}
