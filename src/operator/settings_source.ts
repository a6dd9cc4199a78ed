/**
 * The sources of a program's settings: flags, environment variables and a file, which is read again
 * while the program runs.
 */
import type { Clock } from "../base/clock.ts";
import { CONFIG_FOLDER } from "../base/pod.ts";
import { denoMachine } from "./machine.ts";
import { fileSettings } from "./config_file.ts";
import { flagSettings, merged, SettingError, type Settings, variableSettings } from "./settings.ts";

/** The file that a ConfigMap with settings is mounted as. */
export const USUAL_FILE: string = `${CONFIG_FOLDER}/operator.toml`;

// A kubelet updates a changed ConfigMap within about a minute, so shorter intervals, in
// milliseconds, have no benefit.
const LOOK_AGAIN = 10_000;

/** The settings of a program. */
export interface SettingsSource {
  /** Reads all settings. @throws {SettingError} If one is invalid. */
  read(): Promise<Settings>;
  /** Reports changes of the file until the returned value is disposed. */
  follow(
    clock: Clock,
    onChange: (settings: Settings) => Promise<void>,
    onError: (error: Error) => void,
  ): Disposable;
}

/**
 * Returns the sources of a program's settings.
 *
 * @param values Its flags, as returned by `parseArgs`.
 * @param hasWebhooks Whether the operator has webhooks.
 */
export function settingsSource(values: Readonly<Record<string, unknown>>, hasWebhooks: boolean): SettingsSource {
  let last: string | undefined;
  const asked = (values.config as string | undefined) ?? (denoMachine.env("OP_CONFIG") || undefined);
  const settingsOf = (text: string | undefined): Settings =>
    merged(
      flagSettings(values),
      variableSettings(denoMachine.env, hasWebhooks),
      text === undefined ? new Map() : fileSettings(text, asked ?? USUAL_FILE),
    );
  return {
    async read() {
      return settingsOf(last = await fileText(asked));
    },
    follow(clock, onChange, onError) {
      const look = async (): Promise<void> => {
        try {
          const text = await fileText(asked);
          if (text !== last) await onChange(settingsOf(last = text));
        } catch (error) {
          onError(error as Error);
        }
        if (!isOver) timer = clock.after(LOOK_AGAIN, look);
      };
      let isOver = false;
      let timer = clock.after(LOOK_AGAIN, look);
      return {
        [Symbol.dispose]() {
          isOver = true;
          timer[Symbol.dispose]();
        },
      };
    },
  };
}

/**
 * Returns the contents of the file. The default file is optional; one that was requested is not.
 */
async function fileText(asked: string | undefined): Promise<string | undefined> {
  try {
    return await denoMachine.readText(asked ?? USUAL_FILE);
  } catch (cause) {
    if (asked === undefined && (cause instanceof Deno.errors.NotFound || cause instanceof Deno.errors.NotCapable)) {
      return undefined;
    }
    const why = cause instanceof Deno.errors.NotFound ? "it does not exist" : (cause as Error).message;
    throw new SettingError(`Cannot read "${asked ?? USUAL_FILE}": ${why}`, { cause });
  }
}
