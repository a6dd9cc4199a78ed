/**
 * Recorded transcripts of the real server in files. Machines without the real server compare the
 * in-process server with them.
 */
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { NormalTranscript } from "./compare.ts";
import type { Case } from "./contract.ts";

const FOLDER = new URL("recorded/", import.meta.url);

/** The transcripts of one area, by the name of the case, and the version of Kubernetes. */
interface RecordedArea {
  readonly version: string;
  readonly cases: Readonly<Record<string, NormalTranscript>>;
}

/** The recorded transcripts of a real server. */
export class Recording {
  readonly #areas: ReadonlyMap<string, RecordedArea>;

  /** @param areas The transcripts by area. */
  constructor(areas: ReadonlyMap<string, RecordedArea>) {
    this.#areas = areas;
  }

  /** Reads the recording of this repository. */
  static async read(cases: readonly Case[]): Promise<Recording> {
    const areas = new Map<string, RecordedArea>();
    for (const area of areasOf(cases)) {
      const text = await Deno.readTextFile(fileOf(area)).catch(() => undefined);
      if (text !== undefined) areas.set(area, JSON.parse(text));
    }
    return new Recording(areas);
  }

  /**
   * Returns the transcript of a case.
   *
   * @throws {Error} If there is none.
   */
  transcript({ area, name }: Case): NormalTranscript {
    const transcript = this.#areas.get(area)?.cases[name];
    if (transcript === undefined) throw new Error(`The case "${area}: ${name}" is not recorded. ${HOW_TO_RECORD}`);
    return transcript;
  }
}

/** Advice in error messages about an outdated recording. */
export const HOW_TO_RECORD =
  'Record it on a machine with Go: "deno test -A tests/contract/contract_test.ts -- --update"';

/**
 * Writes the recording of this repository.
 *
 * @param transcripts Transcripts of the real server, by case.
 * @param version Its version.
 */
export async function writeRecording(
  transcripts: ReadonlyMap<Case, NormalTranscript>,
  version: string,
): Promise<void> {
  await Deno.mkdir(dirname(fileOf("x")), { recursive: true });
  for (const area of areasOf([...transcripts.keys()])) {
    const cases = [...transcripts].filter(([each]) => each.area === area).map(([{ name }, transcript]) =>
      `${JSON.stringify(name)}: ${JSON.stringify(transcript)}`
    );
    // One line per case, so that a diff shows which case has changed.
    await Deno.writeTextFile(
      fileOf(area),
      `{"version": ${JSON.stringify(version)}, "cases": {\n${cases.join(",\n")}\n}}\n`,
    );
  }
}

function areasOf(cases: readonly Case[]): string[] {
  return [...new Set(cases.map(({ area }) => area))];
}

function fileOf(area: string): string {
  return fileURLToPath(new URL(`${area.replaceAll(" ", "_")}.json`, FOLDER));
}
