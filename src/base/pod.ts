/** What a pod finds in its surroundings. The client connects by these, and the permissions name them. */

/** Where a pod's service account is: `token`, `ca.crt`, `namespace`. */
export const SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";

/**
 * The API server's name inside a cluster. It is dialled by name, not by the address in `KUBERNETES_SERVICE_HOST`: the compiled permissions have to name
 * the host, and the address is not known when they are compiled.
 */
export const API_HOST = "kubernetes.default.svc";

/** Where the settings of an operator are: the ConfigMap is mounted there. */
export const CONFIG_FOLDER = "/etc/op";

/** Where the certificate of an operator's webhooks is, where one is mounted: `tls.crt`, `tls.key`. */
export const WEBHOOK_FOLDER = "/etc/op-webhooks";

/** The variable that has the memory limit of the operator's container, in bytes: an executable may not read `/sys/fs/cgroup`, whatever it is permitted. */
export const MEMORY_LIMIT = "OP_MEMORY_LIMIT";
