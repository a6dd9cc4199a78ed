/** A class of permissions, as the flag of Deno names it. */
export type SandboxPermissionName = "net" | "read" | "write" | "env" | "run" | "ffi" | "sys";

/** All of them, in the order in which they are shown. */
export const SANDBOX_PERMISSION_NAMES: readonly SandboxPermissionName[] = [
  "net",
  "read",
  "write",
  "env",
  "run",
  "ffi",
  "sys",
];

/**
 * What a part, or the whole operator, may reach beyond the API server. It becomes the permissions that are compiled into the executable. Programs and
 * libraries (`run`, `ffi`) are not held by them: who may start one may do whatever it does. What is left out is not allowed.
 */
export interface SandboxPermissions {
  /** Hosts, each with a port or without one (any port): `"api.example.com"`, `"api.example.com:8443"`. */
  readonly net?: readonly string[];
  /** Files and folders that may be read. */
  readonly read?: readonly string[];
  /** Files and folders that may be written. The image's own file system is read-only: a volume has to be mounted there. */
  readonly write?: readonly string[];
  /** Environment variables that may be read. */
  readonly env?: readonly string[];
  /** Programs that may be started, by path: the image has none but those that are put there. */
  readonly run?: readonly string[];
  /** Libraries that may be loaded. */
  readonly ffi?: readonly string[];
  /** What may be asked of the machine: `"hostname"`, `"osRelease"`, `"networkInterfaces"` and so on, as `--allow-sys` has them. */
  readonly sys?: readonly string[];
}
