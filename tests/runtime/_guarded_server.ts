/** An API server in this process with the configuration of an operator's webhooks. */
import { type Apiserver, createApiserver } from "../../src/apiserver/mod.ts";
import { ValidatingWebhookConfiguration } from "../../src/kinds/mod.ts";
import { Client } from "../../src/kube/client.ts";
import type { Connection } from "../../src/kube/connection.ts";
import { webhookConfigurations } from "../../src/manifests/webhooks.ts";
import { op } from "./_reviews.ts";

/** An API server in this process with the configuration of the webhooks. */
export async function guardedServer(): Promise<{ server: Apiserver; connection: Connection; client: Client }> {
  const server = createApiserver();
  const connection: Connection = {
    url: "http://api.server",
    fetch: (request) => server.fetch(request),
    namespace: "default",
    close() {},
  };
  const client = new Client(connection);
  const place = { url: "https://127.0.0.1:1" };
  for (const configuration of webhookConfigurations(op.name, op.parts, { place })) {
    await client.create(ValidatingWebhookConfiguration, configuration as never);
  }
  return { server, connection, client };
}
