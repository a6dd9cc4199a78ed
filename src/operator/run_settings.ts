/** What settings say of running: where an operator looks, what it leaves to others, whether it begins anything. */
import type { ConnectOptions } from "../kube/connect.ts";
import type { RunOptions } from "./run_options.ts";
import { SETTINGS } from "./setting_list.ts";
import { checked, SettingError, type Settings } from "./settings.ts";

/**
 * Which objects to look at.
 *
 * @param settings What was said.
 */
export function runtimeScope(settings: Settings): Pick<RunOptions, "namespaces" | "selector"> {
  const namespaces = settings.get("namespaces");
  const selector = settings.get("selector");
  const isAll = isSaid(settings, "all_namespaces");
  return {
    ...(namespaces === undefined || isAll ? {} : { namespaces: namespaces.value as readonly string[] }),
    ...(selector === undefined ? {} : { selector: selector.value as string }),
  };
}

/**
 * Returns the client-side rate limit.
 *
 * @param settings The settings.
 * @throws {SettingError} If there is a burst without a rate.
 */
export function rateLimit(settings: Settings): Pick<RunOptions, "rateLimit"> {
  const qps = settings.get("kube_api.qps");
  const burst = settings.get("kube_api.burst");
  if (qps === undefined && burst !== undefined) {
    throw new SettingError(
      `Cannot take kube_api.burst from ${burst.where}: kube_api.qps is not set, so requests are not limited. Set both`,
    );
  }
  if (qps === undefined) return {};
  return {
    rateLimit: { qps: qps.value as number, ...(burst === undefined ? {} : { burst: burst.value as number }) },
  };
}

/**
 * Returns the HTTP client for the API server.
 *
 * @param settings The settings.
 */
export function httpClient(settings: Settings): Pick<ConnectOptions, "httpClient"> {
  return { httpClient: settings.get("http_client")?.value as ConnectOptions["httpClient"] };
}

/**
 * Refuses what is no scope: from a program's settings it is refused before, here it is what `run` was asked for.
 *
 * @param options How an operator is to be run.
 * @throws {SettingError} If a namespace or the selector is none.
 */
export function refuseScope({ namespaces = [], selector = "" }: RunOptions): void {
  for (const [key, value] of Object.entries({ namespaces, selector })) {
    if (value.length === 0) continue;
    checked(SETTINGS.find((setting) => setting.key === key)!, value, `"${key}" of run`);
  }
}

/**
 * Which parts to leave to other processes.
 *
 * @param settings What was said.
 */
export function skippedParts(settings: Settings): Required<Pick<RunOptions, "skipControllers" | "skipWebhooks">> {
  return {
    skipControllers: isSaid(settings, "skip_controllers"),
    skipWebhooks: isSaid(settings, "skip_webhook_server"),
  };
}

/**
 * Whether to begin nothing.
 *
 * @param settings What was said.
 */
export function isPaused(settings: Settings): boolean {
  return isSaid(settings, "paused");
}

function isSaid(settings: Settings, key: string): boolean {
  return settings.get(key)?.value === true;
}
