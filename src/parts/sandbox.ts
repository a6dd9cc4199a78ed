/** A kind of sandbox permission, named as in Deno's `--allow-...` flags. */
export type SandboxPermissionName = "net" | "read" | "write" | "env" | "run" | "ffi" | "sys";

/** The kinds of sandbox permissions, in the order of the output. */
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
 * What a part, or the whole operator, may access in addition to the API server. It is compiled into
 * the executable as Deno's permissions. Anything that is not listed is denied. Programs and
 * libraries (`run`, `ffi`) run outside the sandbox, so permitting one permits everything it does.
 */
export interface SandboxPermissions {
  /** Hosts with or without a port (any port): `"api.example.com"`, `"api.example.com:8443"`. */
  readonly net?: readonly string[];
  /** Files and folders that may be read. */
  readonly read?: readonly string[];
  /**
   * Files and folders that may be written. The file system of the image is read-only, so mount a
   * volume there.
   */
  readonly write?: readonly string[];
  /** Environment variables that may be read. */
  readonly env?: readonly string[];
  /** Paths of programs that may be started. The image contains only the programs that you add. */
  readonly run?: readonly string[];
  /** Paths of libraries that may be loaded. */
  readonly ffi?: readonly string[];
  /**
   * System information that may be read: `"hostname"`, `"osRelease"`, `"networkInterfaces"` and the
   * other values of `--allow-sys`.
   */
  readonly sys?: readonly string[];
}
