/** Where a program's settings come from: its flags, variables and a file, which is read again while it runs. */
import type { Clock } from "../base/clock.ts";
import { CONFIG_FOLDER } from "../base/pod.ts";
import { denoMachine } from "./machine.ts";
import { fileSettings } from "./config_file.ts";
import { flagSettings, merged, SettingError, type Settings, variableSettings } from "./settings.ts";

/** Where a ConfigMap with settings is mounted. */
export const USUAL_FILE: string = `${CONFIG_FOLDER}/operator.toml`;

// A kubelet brings a changed ConfigMap within a minute or so; more often makes no difference.
const LOOK_AGAIN = 10_000;

/** The settings of a program. */
export interface SettingsSource {
  /** Reads them all. @throws {SettingError} If one is wrong. */
  read(): Promise<Settings>;
  /** Tells when the file says something else. Disposing of the answer ends that. */
  follow(
    clock: Clock,
    onChange: (settings: Settings) => Promise<void>,
    onError: (error: Error) => void,
  ): Disposable;
}

/**
 * The settings of a program.
 *
 * @param values Its flags, as `parseArgs` has them.
 * @param hasWebhooks Whether its operator has webhooks.
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

/** The usual file may be missing; one that was asked for may not. */
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
