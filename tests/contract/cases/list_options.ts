/** Edge cases of lists and watches: selectors, pages, resourceVersions. */
import { area } from "../contract.ts";
import type { Recorder } from "../recorder.ts";
import { configMap, widget } from "../widget.ts";

function query(parameters: Record<string, string>): string {
  return `?${new URLSearchParams(parameters)}`;
}

async function createConfigMaps(api: Recorder, ...names: readonly string[]): Promise<void> {
  for (const name of names) {
    await api.quietly("POST", api.core("configmaps"), configMap(name, {}, { labels: { name, mine: "yes" } }));
  }
}

/** Selects the ConfigMaps of the case, without the one that a controller creates. */
const MINE = "labelSelector=mine";

async function createPods(api: Recorder): Promise<void> {
  const spec = { containers: [{ name: "a", image: "x" }] };
  const pod = (name: string, more: object = {}) => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name },
    spec: { ...spec, ...more },
  });
  await api.quietly("POST", api.core("pods"), pod("a", { nodeName: "n1" }));
  await api.quietly("POST", api.core("pods"), pod("b", { restartPolicy: "Never", hostNetwork: true }));
  await api.quietly("PATCH", api.core("pods/a/status"), { status: { phase: "Running", podIP: "10.0.0.7" } }, {
    contentType: "application/merge-patch+json",
  });
}

export const selectors = area("selectors", {
  "unusual label selectors": async (api) => {
    await createConfigMaps(api, "a", "b");
    for (
      const labelSelector of [
        "name in (a)",
        "name in (a,b),mine",
        "name notin (a),mine=yes",
        "name notin (a, z) , mine = yes",
        "mine==yes,name!=a",
        "!absent,mine",
        "mine in (yes,)",
        "mine=",
        " mine ",
        "mine=yes,",
        "name in (,b)",
        "name in (b,,a)",
        "name>1",
        "in notin (notin),mine",
        "",
      ]
    ) {
      await api.get(
        api.core(`configmaps${query({ labelSelector, limit: "50" })}`) + (labelSelector === "" ? `&${MINE}` : ""),
      );
    }
  },
  "invalid label selectors": async (api) => {
    for (
      const labelSelector of [
        "a in",
        "a in (b",
        "a in ()",
        "a notin b",
        "a,,b",
        "!",
        "!!a",
        "a=b=c",
        "a>x",
        "a>1,b<2",
        "a gt 1",
        "(a)",
        "a==",
        "a=!b",
        "bad_key!",
        "-a",
        "a=-b-",
        `${"k".repeat(64)}=v`,
        `a=${"v".repeat(64)}`,
        "x.y/z/w=1",
        "a in (b c)",
        "a in (b,",
        "a in (b,=)",
        "a in (=)",
        "a in",
        "a notin (-c,-b,-c)",
        "a=(b)",
        "a<",
        "a<99999999999999999999",
        "a>+5",
        "!a gt 1",
        "!a=b",
        "!a in (b)",
        "-x./-y=1",
      ]
    ) await api.get(api.core(`configmaps${query({ labelSelector, fieldSelector: "metadata.name=none" })}`));
  },
  "field selectors of pods": async (api) => {
    await createPods(api);
    for (
      const fieldSelector of [
        "spec.nodeName=n1",
        "spec.nodeName=",
        "spec.nodeName!=n1",
        "spec.host=n1",
        "status.phase=Running",
        "status.phase!=Running",
        "status.podIP=10.0.0.7",
        "spec.restartPolicy=Never",
        "spec.schedulerName=default-scheduler",
        "spec.serviceAccountName=default",
        "spec.hostNetwork=true",
        "metadata.name=a,status.phase=Running",
        "spec.unknown=1",
        "status.nominatedNodeName=",
      ]
    ) {
      await api.get(api.core(`pods${query({ fieldSelector })}`), {
        accept: "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
      });
    }
  },
  "field selectors of other kinds": async (api) => {
    await api.quietly("POST", api.core("secrets"), {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "s" },
      type: "example.com/t",
    });
    await api.get(api.core(`secrets${query({ fieldSelector: "type=example.com/t" })}`));
    await api.get(api.core(`secrets${query({ fieldSelector: "type!=example.com/t" })}`));
    await api.get(api.core(`secrets${query({ fieldSelector: "data=1" })}`));
    await api.get(api.core(`services${query({ fieldSelector: "spec.clusterIP=None,spec.type=ClusterIP" })}`));
    await api.get(api.core(`events${query({ fieldSelector: "involvedObject.name=x,reason=y,type=z,source=k" })}`));
    await api.get(
      `/apis/events.k8s.io/v1/namespaces/${api.namespace}/events${query({ fieldSelector: "regarding.name=x" })}`,
    );
    await api.get(
      `/apis/events.k8s.io/v1/namespaces/${api.namespace}/events${query({ fieldSelector: "involvedObject.name=x" })}`,
    );
    await api.get(
      `/api/v1/namespaces${query({ fieldSelector: `metadata.name=${api.namespace},status.phase=Active` })}`,
    );
    await api.get(`/api/v1/namespaces${query({ fieldSelector: "metadata.namespace=x" })}`);
    await api.get(`/api/v1/nodes${query({ fieldSelector: "spec.unschedulable=true,metadata.name=none" })}`);
    await api.get(`/apis/batch/v1/namespaces/${api.namespace}/jobs${query({ fieldSelector: "status.successful=1" })}`);
    await api.get(`/apis/batch/v1/namespaces/${api.namespace}/jobs${query({ fieldSelector: "status.failed=1" })}`);
    await api.get(
      `/apis/apps/v1/namespaces/${api.namespace}/deployments${query({ fieldSelector: "spec.replicas=1" })}`,
    );
  },
  "unusual and invalid field selectors": async (api) => {
    await createConfigMaps(api, "a");
    for (
      const fieldSelector of [
        "metadata.name",
        "metadata.name=a=b",
        "=a",
        ",",
        "metadata.name=a,",
        "metadata.name==a",
        "metadata.name=a\\,b",
        "metadata.name=a\\b",
        "metadata.name in (a)",
        " metadata.name=a",
        "metadata.name!=a",
      ]
    ) await api.get(api.core(`configmaps${query({ fieldSelector })}&${MINE}`));
  },
  "a collection is deleted by a field selector": async (api) => {
    await createConfigMaps(api, "a", "b");
    await api.delete(api.core(`configmaps${query({ fieldSelector: "metadata.name=a" })}`));
    await api.delete(api.core(`configmaps${query({ fieldSelector: "data.x=a" })}`));
    await api.get(api.core(`configmaps?${MINE}`));
  },
});

export const pages = area("pages", {
  "pages of ConfigMaps": async (api) => {
    await createConfigMaps(api, "a", "b", "c", "d", "e");
    let next = "";
    for (let page = 0; page < 3; page++) {
      const { body } = await api.get(api.core(`configmaps?limit=2&${MINE}&continue=${encodeURIComponent(next)}`));
      next = body.metadata.continue ?? "";
    }
  },
  "a page with all objects": async (api) => {
    await createConfigMaps(api, "a", "b");
    await api.get(api.core(`configmaps?limit=2&${MINE}`));
    await api.get(api.core(`configmaps?limit=500&${MINE}`));
    await api.get(api.core(`configmaps?limit=0&${MINE}`));
    await api.get(api.core(`configmaps?limit=-1&${MINE}`));
    await api.get(api.core(`configmaps?limit=x&${MINE}`));
  },
  "a page after an object was deleted": async (api) => {
    for (const name of ["a", "b", "c"]) await api.quietly("POST", api.widgets(), widget(name));
    const { body } = await api.get(api.widgets("?limit=2"));
    await api.quietly("DELETE", api.widgets("/b"));
    await api.get(api.widgets(`?limit=2&continue=${encodeURIComponent(body.metadata.continue)}`));
  },
  "continue with a resourceVersion": async (api) => {
    for (const name of ["a", "b", "c"]) await api.quietly("POST", api.widgets(), widget(name));
    const { body } = await api.get(api.widgets("?limit=1"));
    const next = encodeURIComponent(body.metadata.continue);
    await api.get(api.widgets(`?limit=1&continue=${next}&resourceVersion=0`));
    await api.get(api.widgets(`?limit=1&continue=${next}&resourceVersion=5`));
    await api.get(api.widgets(`?continue=${next}`));
    await api.get(api.widgets(`?limit=1&continue=${next}&resourceVersion=5&resourceVersionMatch=Exact`));
  },
  "foreign and malformed continue tokens": async (api) => {
    for (
      const token of [
        "e30",
        "bm90IGpzb24",
        "!!!",
        btoa(JSON.stringify({ v: "meta.k8s.io/v1", rv: 1, start: "x/../../y\u0000" })),
        btoa(JSON.stringify({ v: "meta.k8s.io/v2", rv: 1, start: "x" })),
        btoa(JSON.stringify({ v: "meta.k8s.io/v1", rv: 0, start: "x" })),
        btoa(JSON.stringify({ v: "meta.k8s.io/v1", rv: 5, start: "" })),
      ]
    ) await api.get(api.widgets(`?limit=1&continue=${encodeURIComponent(token)}`));
  },
  "resourceVersion of a list": async (api) => {
    await api.quietly("POST", api.widgets(), widget("a"));
    const { body } = await api.get(api.widgets());
    const version = body.metadata.resourceVersion;
    await api.quietly("POST", api.widgets(), widget("b"));
    // The real server reads a list at resourceVersion 0 from its cache, which is updated with a
    // delay.
    await api.untilStatus(api.widgets("/b?resourceVersion=0"), 200);
    for (
      const parameters of [
        { resourceVersion: "0" },
        { resourceVersion: "0", resourceVersionMatch: "NotOlderThan" },
        { resourceVersion: "0", resourceVersionMatch: "Exact" },
        { resourceVersion: version },
        { resourceVersion: version, resourceVersionMatch: "NotOlderThan" },
        { resourceVersion: version, resourceVersionMatch: "Exact" },
        { resourceVersion: version, limit: "1" },
        { resourceVersion: version, resourceVersionMatch: "Exact", limit: "1" },
        { resourceVersion: version, resourceVersionMatch: "Older" },
        { resourceVersionMatch: "NotOlderThan" },
        { resourceVersion: "-1" },
        { resourceVersion: "1e3" },
        { sendInitialEvents: "true" },
      ]
    ) await api.get(api.widgets(query(parameters)));
  },
  "resourceVersion of a get": async (api) => {
    await api.quietly("POST", api.widgets(), widget("a"));
    for (const version of ["0", "1", "x", ""]) await api.get(api.widgets(`/a?resourceVersion=${version}`));
    await api.quietly("POST", api.core("configmaps"), configMap("a"));
    for (const version of ["0", "1", "x", ""]) await api.get(api.core(`configmaps/a?resourceVersion=${version}`));
  },
  "a list is sorted by namespace and name": async (api) => {
    for (const name of ["b", "a", "a-1", "a.1", "1", "z0", "aa"]) {
      await api.quietly("POST", api.core("configmaps"), configMap(name, {}, { labels: { sorted: api.namespace } }));
    }
    await api.get(`/api/v1/configmaps?labelSelector=sorted%3D${api.namespace}`);
  },
  "invalid values of query parameters": async (api) => {
    await createConfigMaps(api, "a");
    for (
      const rest of [
        "timeoutSeconds=x",
        "allowWatchBookmarks=x",
        "pretty=true",
        "unknown=1",
        "limit=99999999999999999999",
        "watch=false",
        "watch=0",
        "labelSelector=mine&labelSelector=absent",
      ]
    ) await api.get(api.core(`configmaps?${MINE}&fieldSelector=metadata.name%3Da&${rest}`));
  },
});

export const watchOptions = area("watch options", {
  "the path of one object with watch=1 is a get": async (api) => {
    await createConfigMaps(api, "a");
    await api.untilStatus(api.core("configmaps/a?resourceVersion=0"), 200);
    await api.get(api.core("configmaps/a?watch=1&resourceVersion=0"));
    await api.quietly("POST", api.widgets(), widget("w"));
    await api.get(api.widgets("/w?watch=1"));
  },
  "the deprecated path of watches": async (api) => {
    await createConfigMaps(api, "a");
    const path = `/api/v1/watch/namespaces/${api.namespace}/configmaps`;
    await api.watch(`${path}?${MINE}`, async (watch) => void await watch.take(1));
    await api.watch(`${path}/a`, async (watch) => void await watch.take(1));
  },
  "pods start and stop to match a field selector": async (api) => {
    const version = (await api.quietly("GET", api.core("pods"))).body.metadata.resourceVersion;
    await api.watch(
      api.core(`pods${query({ watch: "1", resourceVersion: version, fieldSelector: "status.phase=Running" })}`),
      async (watch) => {
        await createPods(api);
        await api.quietly("PATCH", api.core("pods/a/status"), { status: { phase: "Succeeded" } }, {
          contentType: "application/merge-patch+json",
        });
        await watch.take(2);
      },
    );
  },
  "a watch of all namespaces": async (api) => {
    const version = (await api.quietly("GET", api.core("configmaps"))).body.metadata.resourceVersion;
    const path = `/api/v1/configmaps${
      query({ watch: "1", resourceVersion: version, labelSelector: `of=${api.namespace}` })
    }`;
    await api.watch(path, async (watch) => {
      const labels = { of: api.namespace };
      await api.post(api.core("configmaps"), configMap("a", {}, { labels }));
      await api.post("/api/v1/namespaces/default/configmaps", configMap(`x-${api.namespace}`, {}, { labels }));
      await api.delete(`/api/v1/namespaces/default/configmaps/x-${api.namespace}`);
      await watch.take(3);
    });
  },
  "a watch with label and field selector": async (api) => {
    const version = (await api.quietly("GET", api.core("configmaps"))).body.metadata.resourceVersion;
    const path = api.core(
      `configmaps${
        query({ watch: "1", resourceVersion: version, labelSelector: "a=1", fieldSelector: "metadata.name!=skipped" })
      }`,
    );
    await api.watch(path, async (watch) => {
      await api.quietly("POST", api.core("configmaps"), configMap("skipped", {}, { labels: { a: "1" } }));
      await api.quietly("POST", api.core("configmaps"), configMap("other", {}, { labels: { a: "2" } }));
      await api.quietly("POST", api.core("configmaps"), configMap("seen", {}, { labels: { a: "1" } }));
      await watch.take(1);
    });
  },
  "deletion of a namespace": async (api) => {
    const name = `${api.namespace}-end`;
    await api.quietly("POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name } });
    await api.watch(
      `/api/v1/namespaces${query({ watch: "1", fieldSelector: `metadata.name=${name}` })}`,
      async (watch) => {
        await watch.take(1);
        await api.delete(`/api/v1/namespaces/${name}`);
        await watch.take(1);
      },
    );
  },
  "graceful deletion of a pod": async (api) => {
    await createPods(api);
    await api.watch(api.core(`pods${query({ watch: "1", fieldSelector: "metadata.name=a" })}`), async (watch) => {
      await watch.take(1);
      await api.delete(api.core("pods/a"));
      await watch.take(1);
      await api.delete(api.core("pods/a"), { gracePeriodSeconds: 0 });
      await watch.take(1);
    });
  },
  "a watch with an unknown Accept header, and an error in YAML": async (api) => {
    const none = () => Promise.resolve();
    await api.watch(api.core("configmaps?watch=1"), none, { accept: "text/html" });
    await api.get(api.core("configmaps/none"), { accept: "application/yaml" });
  },
  "a watch of a custom kind with unusual parameters": async (api) => {
    const none = () => Promise.resolve();
    for (
      const rest of [
        "resourceVersion=-1",
        "resourceVersion=x",
        "timeoutSeconds=x",
        "labelSelector=%21%21a",
        "fieldSelector=spec.none%3D1",
        "continue=abc",
        "sendInitialEvents=true",
        "sendInitialEvents=true&resourceVersionMatch=Exact",
        "sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=x",
        "resourceVersionMatch=Exact&resourceVersion=1",
      ]
    ) await api.watch(api.widgets(`?watch=1&${rest}`), none);
  },
  "sendInitialEvents=false": async (api) => {
    await api.quietly("POST", api.widgets(), widget("before"));
    await api.watch(
      api.widgets("?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"),
      async (watch) => {
        await api.quietly("POST", api.widgets(), widget("after"));
        await watch.take(1);
      },
    );
  },
  "a watch ignores limit": async (api) => {
    await api.quietly("POST", api.widgets(), widget("a"));
    await api.quietly("POST", api.widgets(), widget("b"));
    await api.watch(api.widgets("?watch=1&limit=1"), async (watch) => void await watch.take(2));
  },
  "a watch of kinds that cannot be watched": async (api) => {
    await api.get("/api/v1/componentstatuses?watch=1");
    await api.get("/apis/authentication.k8s.io/v1/tokenreviews?watch=1");
    await api.get(api.core("pods/x/log?watch=1"));
  },
});
