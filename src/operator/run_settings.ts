/**
 * Settings of running an operator: which objects it watches, which parts it skips, whether it is
 * paused.
 */
import type { ConnectOptions } from "../kube/connect.ts";
import type { RunOptions } from "./run_options.ts";
import { SETTINGS } from "./setting_list.ts";
import { SettingError, type Settings, validated } from "./settings.ts";

/**
 * Returns the namespaces and the selector of the objects to watch.
 *
 * @param settings The settings.
 */
export function runtimeScope(settings: Settings): Pick<RunOptions, "namespaces" | "selector"> {
  const namespaces = settings.get("namespaces");
  const selector = settings.get("selector");
  const isAll = isTrue(settings, "all_namespaces");
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
      `Invalid setting "kube_api.burst" from ${burst.where}: "kube_api.qps" is not set, so requests are not limited. Set both.`,
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
 * Rejects invalid namespaces and selectors in the options of `run`. Those in the settings of a
 * program are validated earlier.
 *
 * @param options The options.
 * @throws {SettingError} If a namespace or the selector is invalid.
 */
export function checkScope({ namespaces = [], selector = "" }: Pick<RunOptions, "namespaces" | "selector">): void {
  for (const [key, value] of Object.entries({ namespaces, selector })) {
    if (value.length === 0) continue;
    validated(SETTINGS.find((setting) => setting.key === key)!, value, `"${key}" in the options of run()`);
  }
}

/**
 * Returns the parts that this process does not run.
 *
 * @param settings The settings.
 */
export function skippedParts(settings: Settings): Required<Pick<RunOptions, "skipControllers" | "skipWebhooks">> {
  return {
    skipControllers: isTrue(settings, "skip_controllers"),
    skipWebhooks: isTrue(settings, "skip_webhook_server"),
  };
}

/**
 * Returns whether the operator is paused, so that it starts no reconciles.
 *
 * @param settings The settings.
 */
export function isPaused(settings: Settings): boolean {
  return isTrue(settings, "paused");
}

function isTrue(settings: Settings, key: string): boolean {
  return settings.get(key)?.value === true;
}
