// Made by tools/cli_internal.ts from src/base/local_host.ts: do not edit.
const IPV4 = /^\d+\.\d+\.\d+\.\d+$/;

export function isLocalHost({ url }: Pick<Request, "url">): boolean {
  if (!URL.canParse(url)) return false;
  const { hostname } = new URL(url);
  return IPV4.test(hostname) || hostname.startsWith("[") || hostname === "localhost" || hostname.endsWith(".localhost");
}

export function isCrossOrigin({ url, headers }: Pick<Request, "url" | "headers">): boolean {
  const origin = headers.get("origin");
  return origin !== null && origin !== new URL(url).origin;
}
