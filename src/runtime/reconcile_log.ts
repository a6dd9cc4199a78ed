/** The log of one reconcile. Its fields are created on the first line, because most write none. */
import type { KubeObject } from "../resource/kind.ts";
import type { Logger } from "./logger.ts";

/**
 * Returns a log with fields that identify an object and its reconcile.
 *
 * @param log The controller's log.
 * @param object The object.
 */
export function reconcileLog(log: Logger, { metadata }: KubeObject): Logger {
  let created: Logger | undefined;
  const withFields = (): Logger =>
    created ??= log.with({
      ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
      name: metadata.name,
      uid: metadata.uid,
      reconcileID: crypto.randomUUID(),
    });
  return {
    debug: (message, fields) => {
      if (log.isDebug) withFields().debug(message, fields);
    },
    info: (message, fields) => withFields().info(message, fields),
    warn: (message, fields) => withFields().warn(message, fields),
    error: (message, fields) => withFields().error(message, fields),
    with: (fields) => withFields().with(fields),
    get isDebug() {
      return log.isDebug;
    },
  };
}
