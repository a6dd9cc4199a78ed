/** Formats tables of counts. */

/**
 * Returns a table with columns of minimal width.
 *
 * @param head Names of the columns.
 * @param rows The rows; numbers are valid-aligned.
 */
export function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const all = [head, ...rows];
  const widths = head.map((_, i) => Math.max(...all.map((row) => String(row[i] ?? "").length)));
  const lines = all.map((row) =>
    row.map((cell, i) => typeof cell === "number" ? String(cell).padStart(widths[i]!) : cell.padEnd(widths[i]!))
      .join("  ").trimEnd()
  );
  return lines.toSpliced(1, 0, widths.map((width) => "-".repeat(width)).join("  ")).join("\n");
}
