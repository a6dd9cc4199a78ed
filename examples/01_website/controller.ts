/** The controller: a page and a DNS record for each website. */
import { access, controller, TemporaryError } from "@op/sdk";
import { ConfigMap } from "@op/sdk/kinds";
import { Website } from "./website.ts";

/**
 * The namespace with the DNS records. An owner reference cannot point into another namespace, so
 * `cleanup` deletes the record.
 */
export const DIRECTORY = "dns";

export const websites = controller(Website, {
  owns: [ConfigMap],
  uses: [access(ConfigMap, "delete")],
  sandbox: { net: ["pages.example.com"] },

  async reconcile(site, { apply, status, log, signal }) {
    const page = await pageOf(site, signal);
    await apply(ConfigMap, { metadata: { name: `${site.metadata.name}-page` }, data: { "index.html": page } });
    await apply(ConfigMap, recordOf(site), { owner: false });
    status({ url: `https://${site.spec.host}`, bytes: new TextEncoder().encode(page).length });
    log.debug("Website published", { host: site.spec.host });
  },

  async cleanup(site, context) {
    const { name, namespace } = recordOf(site).metadata;
    await context.delete(ConfigMap, name, { namespace });
  },
});

function recordOf({ metadata, spec }: Website) {
  return {
    metadata: { name: `${metadata.namespace}.${metadata.name}`, namespace: DIRECTORY },
    data: { host: spec.host },
  };
}

async function pageOf({ spec }: Website, signal: AbortSignal): Promise<string> {
  if (spec.source === undefined) return `<html class="${spec.theme}"><body>${escape(spec.text)}</body></html>\n`;
  const response = await fetch(spec.source, { signal });
  if (!response.ok) {
    throw new TemporaryError(`Cannot read the source "${spec.source}": the server responded with ${response.status}`, {
      retry: "1m",
    });
  }
  return await response.text();
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
