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
export const DEFAULT_FILE: string = `${CONFIG_FOLDER}/operator.toml`;

// The interval in milliseconds. A kubelet updates a mounted ConfigMap within about a minute, so a
// shorter one has no benefit.
const CHECK_INTERVAL = 10_000;

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
  const configuredPath = (values.config as string | undefined) ?? (denoMachine.env("OP_CONFIG") || undefined);
  const settingsOf = (text: string | undefined): Settings =>
    merged(
      flagSettings(values),
      variableSettings(denoMachine.env, hasWebhooks),
      text === undefined ? new Map() : fileSettings(text, configuredPath ?? DEFAULT_FILE),
    );
  return {
    async read() {
      return settingsOf(last = await fileText(configuredPath));
    },
    follow(clock, onChange, onError) {
      const check = async (): Promise<void> => {
        try {
          const text = await fileText(configuredPath);
          if (text !== last) await onChange(settingsOf(last = text));
        } catch (error) {
          onError(error as Error);
        }
        if (!isDisposed) timer = clock.after(CHECK_INTERVAL, check);
      };
      let isDisposed = false;
      let timer = clock.after(CHECK_INTERVAL, check);
      return {
        [Symbol.dispose]() {
          isDisposed = true;
          timer[Symbol.dispose]();
        },
      };
    },
  };
}

/**
 * Returns the contents of the file. The default file is optional; a file that the user configured
 * is required.
 */
async function fileText(configuredPath: string | undefined): Promise<string | undefined> {
  try {
    return await denoMachine.readText(configuredPath ?? DEFAULT_FILE);
  } catch (cause) {
    if (
      configuredPath === undefined && (cause instanceof Deno.errors.NotFound || cause instanceof Deno.errors.NotCapable)
    ) {
      return undefined;
    }
    const reason = cause instanceof Deno.errors.NotFound
      ? "the file does not exist. Set --config or OP_CONFIG to an existing file."
      : (cause as Error).message;
    throw new SettingError(`Cannot read settings "${configuredPath ?? DEFAULT_FILE}": ${reason}`, { cause });
  }
}
