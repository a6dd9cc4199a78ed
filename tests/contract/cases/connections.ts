/**
 * Connections to pods, services and nodes: webhooks, and errors before the connection is opened.
 */
import { area } from "../contract.ts";
import type { Recorder } from "../recorder.ts";
import { grant } from "../roles.ts";
import { add, allow, deny, type Hook, mutating, withHooks } from "../webhooks.ts";

const rule = (...resources: string[]) => ({
  operations: ["CONNECT"],
  apiGroups: [""],
  apiVersions: ["v1"],
  resources,
});
const webhookFor = (...resources: string[]): Hook => ({ ...allow, with: { rules: [rule(...resources)] } });

async function createPod(api: Recorder, name: string, ...containers: string[]): Promise<void> {
  const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "runner" } };
  await api.quietly("PATCH", `${api.core("serviceaccounts/runner")}?fieldManager=case`, account, {
    contentType: "application/apply-patch+yaml",
  });
  await api.quietly("POST", api.core("pods"), {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name },
    spec: {
      serviceAccountName: "runner",
      automountServiceAccountToken: false,
      containers: (containers.length === 0 ? ["main"] : containers).map((each) => ({ name: each, image: "busybox" })),
    },
  });
}

const service = (name: string, ...ports: object[]) => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name },
  spec: { ports, clusterIP: "None" },
});

/** Connections. */
export const connections = area("connections", {
  "a webhook receives the options of a connection": async (api) => {
    await createPod(api, "p");
    await withHooks(api, { look: webhookFor("pods/*", "services/proxy") }, async () => {
      await api.post(api.core("pods/p/exec?command=ls&command=-l&stdout=true&stdin=0&tty=False&container=main"), {});
      await api.get(api.core("pods/p/exec?stderr"));
      await api.post(api.core("pods/p/attach?stdin=true&container="), {});
      await api.post(api.core("pods/p/portforward?ports=80,81&ports=8080"), {});
      await api.post(api.core("pods/p/portforward"), {});
      await api.get(api.core("pods/p/proxy"));
      await api.put(api.core("pods/p:80/proxy/metrics/a?path=b"), {});
      await api.delete(api.core("pods/none/proxy/"));
      await api.get(api.core("services/s/proxy/a//b/"));
    });
  },
  "a denied connection takes precedence over 404": async (api) => {
    await createPod(api, "p");
    await withHooks(api, { no: { ...deny, with: { rules: [rule("pods/exec", "services/proxy")] } } }, async () => {
      await api.post(api.core("pods/p/exec?command=ls"), {});
      await api.get(api.core("pods/p/exec?command=ls"));
      await api.get(api.core("pods/none/exec?command=ls"));
      await api.get(api.core("pods/p/attach"));
      await api.get(api.core("services/none/proxy/"));
    });
  },
  "a webhook changes the options of a connection": async (api) => {
    await createPod(api, "p", "a", "b");
    const change: Hook = { ...mutating(add("/container", "c")), with: { rules: [rule("pods/exec")] } };
    await withHooks(api, { change, look: webhookFor("pods/exec") }, async () => {
      await api.post(api.core("pods/p/exec?command=ls"), {});
    });
  },
  "webhooks match connections by operation and conditions, not by labels": async (api) => {
    await createPod(api, "p");
    const labels = { matchExpressions: [{ key: "a", operator: "DoesNotExist" }] };
    const when = (expression: string) => [{ name: "when", expression }];
    await withHooks(api, {
      create: { ...allow, with: { rules: [{ ...rule("pods/exec"), operations: ["CREATE"] }] } },
      labels: { ...allow, with: { rules: [rule("pods/exec")], objectSelector: labels } },
      met: { ...allow, with: { rules: [rule("pods/exec")], matchConditions: when('"ls" in object.command') } },
      unmet: { ...allow, with: { rules: [rule("pods/exec")], matchConditions: when("request.dryRun") } },
    }, async () => {
      await api.post(api.core("pods/p/exec?command=ls"), {});
    });
  },
  "a connection with an unreachable webhook": async (api) => {
    await createPod(api, "p");
    const clientConfig = { url: "https://127.0.0.1:3/none" };
    await withHooks(api, { gone: { ...allow, with: { clientConfig, rules: [rule("pods/exec")] } } }, async () => {
      await api.post(api.core("pods/p/exec?command=ls"), {});
    });
  },
  "a connection to a pod with several containers": async (api) => {
    await createPod(api, "one");
    await createPod(api, "two", "a", "b");
    for (const part of ["exec", "attach", "log"]) {
      for (const which of ["one", "two", "none"]) {
        await api.get(api.core(`pods/${which}/${part}`));
        await api.get(api.core(`pods/${which}/${part}?container=b`));
      }
    }
  },
  "valid and invalid options of connections": async (api) => {
    await createPod(api, "p");
    await api.post(api.core("pods/p/portforward?ports=x"), {});
    await api.post(api.core("pods/p/portforward?ports=65536"), {});
    await api.post(api.core("pods/p/portforward?ports="), {});
    await api.post(api.core("pods/p/exec?command=ls&dryRun=All"), {});
    await api.put(api.core("pods/p/exec?command=ls"), {});
    await api.delete(api.core("pods/p/portforward"));
    await api.get(api.core("pods/a:b:c/proxy/"));
    await api.get(api.core("pods/a:b:c:d/proxy/"));
    await api.get(api.core("pods/:80/proxy/"));
    await api.get(api.core("pods/p/exec/more"));
    await api.get(api.core("pods/p/proxy/more/and/more"));
  },
  "proxy of a service": async (api) => {
    await api.quietly("POST", api.core("services"), service("s", { name: "web", port: 80 }));
    for (const name of ["s", "s:80", "s:81", "s:web", "http:s:80", "ftp:s:80", "none", "none:80", "s:08"]) {
      await api.get(api.core(`services/${name}/proxy/`));
    }
    const ports = [{ name: "web", port: 8080 }];
    await api.quietly("POST", api.core("endpoints"), {
      apiVersion: "v1",
      kind: "Endpoints",
      metadata: { name: "s" },
      subsets: [{ addresses: [{ ip: "10.0.0.1" }], ports }],
    });
    for (const name of ["s", "s:80", "s:web", "s:other"]) await api.get(api.core(`services/${name}/proxy/`));
    await api.get(api.core("services/s"));
  },
  "proxy of a node": async (api) => {
    await api.get(`/api/v1/nodes/${api.namespace}-none/proxy/metrics`);
    await api.get(`/api/v1/nodes/a:b:c/proxy/metrics`);
  },
  "get does not allow connections that need create": async (api) => {
    await createPod(api, "p");
    await grant(api, "reader", [{ verbs: ["get"], apiGroups: [""], resources: ["pods/exec", "pods/proxy"] }]);
    await api.as("reader").get(api.core("pods/p/exec?command=ls"));
    await api.as("reader").post(api.core("pods/p/exec?command=ls"), {});
    await api.as("reader").get(api.core("pods/p/proxy/"));
    await api.as("reader").put(api.core("pods/p/proxy/"), {});
    await grant(api, "runner", [{ verbs: ["create"], apiGroups: [""], resources: ["pods/exec"] }]);
    await api.as("runner").post(api.core("pods/p/exec?command=ls"), {});
  },
});
