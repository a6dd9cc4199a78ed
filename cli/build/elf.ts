/**
 * The machine in the ELF header of an executable (System V ABI, figure 4-3; machines:
 * https://refspecs.linuxfoundation.org/elf/gabi4+/ch4.eheader.html).
 */

/** A machine, named as in Deno's targets. */
export type Machine = "x86_64" | "aarch64";

const MACHINES: { readonly [number: number]: Machine } = { 62: "x86_64", 183: "aarch64" };

/** Bytes of the header that {@linkcode machineOf} needs. */
export const ELF_HEADER_BYTES = 20;

/**
 * Returns the machine that an ELF file is for.
 *
 * @param header At least the first {@linkcode ELF_HEADER_BYTES} bytes of the file.
 * @returns The machine, or `undefined` if it is unknown or the file is not an ELF file.
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
