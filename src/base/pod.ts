/**
 * The environment of a pod. The client uses these values to connect, and the sandbox permissions
 * contain them.
 */

/** The folder of a pod's service account: `token`, `ca.crt`, `namespace`. */
export const SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";

/**
 * The API server's name inside a cluster. The client connects by name, not by the address in
 * `KUBERNETES_SERVICE_HOST`: the compiled sandbox permissions must name the host, and the address
 * is unknown at compile time.
 */
export const API_HOST = "kubernetes.default.svc";

/** The port of the Service `kubernetes` in nearly every cluster. */
export const API_PORT = 443;

/** The folder where the ConfigMap with an operator's settings is mounted. */
export const CONFIG_FOLDER = "/etc/op";

/**
 * The folder where the certificate of an operator's webhooks is mounted, if any: `tls.crt`,
 * `tls.key`.
 */
export const WEBHOOK_FOLDER = "/etc/op-webhooks";

/**
 * The variable with the memory limit of the operator's container, in bytes. An executable must not
 * read `/sys/fs/cgroup`, whatever its sandbox permissions are.
 */
export const MEMORY_LIMIT = "OP_MEMORY_LIMIT";
