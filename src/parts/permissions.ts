/** What a part may reach beyond the API server. It becomes the permissions that are compiled into the executable. */
export interface Permissions {
  /** Hosts, each with a port or without one (any port): `"api.example.com"`, `"api.example.com:8443"`. */
  readonly net?: readonly string[];
  /** Files and folders that may be read. */
  readonly read?: readonly string[];
  /** Environment variables that may be read. */
  readonly env?: readonly string[];
}
