/** Makes of the process in which it is loaded first a pod, as far as an operator looks: the service account's files, and the API server's name. */
import { API_HOST, SERVICE_ACCOUNT } from "../../src/base/pod.ts";
import type { Place } from "./_as_pod.ts";

const { url, ...files }: Place = JSON.parse(Deno.env.get("TEST_POD")!);
const texts: Readonly<Record<string, string>> = { "ca.crt": files.caCert, token: files.token, namespace: "default" };
const { readTextFile, realPath, connect } = Deno;

Deno.readTextFile = (path, options) => {
  const text = texts[String(path).slice(SERVICE_ACCOUNT.length + 1)];
  return String(path).startsWith(SERVICE_ACCOUNT) && text !== undefined
    ? Promise.resolve(text)
    : readTextFile(path, options);
};

// The folder has no links.
Deno.realPath = (path) => String(path).startsWith(SERVICE_ACCOUNT) ? Promise.resolve(String(path)) : realPath(path);

Deno.connect = ((options: Deno.ConnectOptions) =>
  connect(
    options.hostname === API_HOST ? { ...options, hostname: new URL(url).hostname } : options,
  )) as typeof connect;
