import { area } from "../contract.ts";
import { configMap, GROUP, widget } from "../widget.ts";
import { deployment, deployments } from "../workloads.ts";

/** Server-side apply and ownership of fields. */
export const applies = area("apply", {
  "an apply creates an object and owns its fields": async (api) => {
    await api.apply(
      api.widgets("/w?fieldManager=one"),
      widget("w", { size: 2, ports: [{ port: 1, name: "a" }], tags: ["x"] }),
    );
    await api.apply(api.core("configmaps/c?fieldManager=one"), configMap("c", { a: "1" }, { labels: { l: "1" } }));
  },
  "a repeated apply changes nothing": async (api) => {
    await api.apply(api.widgets("/w?fieldManager=one"), widget("w", { size: 2 }));
    await api.apply(api.widgets("/w?fieldManager=one"), widget("w", { size: 2 }));
  },
  "an apply removes fields that it no longer has": async (api) => {
    await api.apply(
      api.widgets("/w?fieldManager=one"),
      widget("w", { size: 2, color: "red", settings: { a: "1", b: "2" } }),
    );
    await api.apply(api.widgets("/w?fieldManager=one"), widget("w", { settings: { b: "2" } }));
    await api.apply(api.core("configmaps/c?fieldManager=one"), configMap("c", { a: "1", b: "2" }));
    await api.apply(api.core("configmaps/c?fieldManager=one"), configMap("c", { b: "3" }));
  },
  "an apply does not change fields of other managers": async (api) => {
    await api.apply(api.widgets("/w?fieldManager=one"), widget("w", { size: 2 }));
    await api.apply(api.widgets("/w?fieldManager=two"), widget("w", { color: "red" }));
    await api.apply(api.widgets("/w?fieldManager=one"), widget("w", {}));
  },
  "two managers can own a field with the same value": async (api) => {
    await api.apply(api.widgets("/w?fieldManager=one"), widget("w", { color: "red" }));
    await api.apply(api.widgets("/w?fieldManager=two"), widget("w", { color: "red" }));
    await api.apply(api.widgets("/w?fieldManager=one"), widget("w", {}));
    await api.apply(api.widgets("/w?fieldManager=two"), widget("w", {}));
  },
  "an apply of another manager's field is a conflict unless forced": async (api) => {
    await api.apply(api.widgets("/w?fieldManager=one"), widget("w", { size: 2, color: "red", title: "abc" }));
    await api.apply(api.widgets("/w?fieldManager=two"), widget("w", { size: 3 }));
    await api.apply(api.widgets("/w?fieldManager=two"), widget("w", { size: 3, color: "blue" }));
    await api.apply(api.widgets("/w?fieldManager=two&force=true"), widget("w", { size: 3, color: "blue" }));
    await api.apply(api.widgets("/w?fieldManager=one"), widget("w", { title: "abc" }));
  },
  "a conflict names the manager of an update": async (api) => {
    await api.quietly("POST", api.core("configmaps?fieldManager=first"), configMap("c", { a: "1" }));
    await api.quietly("PATCH", api.core("configmaps/c?fieldManager=second"), { data: { b: "2" } }, {
      contentType: "application/merge-patch+json",
    });
    await api.apply(api.core("configmaps/c?fieldManager=one"), configMap("c", { a: "2", b: "3" }));
    await api.apply(api.core("configmaps/c?fieldManager=one&force=true"), configMap("c", { a: "2", b: "3" }));
  },
  "list maps are merged by their keys": async (api) => {
    await api.apply(
      api.widgets("/w?fieldManager=one"),
      widget("w", { ports: [{ port: 1, name: "a" }, { port: 2, name: "b" }] }),
    );
    await api.apply(
      api.widgets("/w?fieldManager=two"),
      widget("w", { ports: [{ port: 3, name: "c" }, { port: 1, protocol: "UDP" }] }),
    );
    await api.apply(
      api.widgets("/w?fieldManager=two"),
      widget("w", { ports: [{ port: 1, protocol: "TCP", name: "z" }] }),
    );
    await api.apply(api.widgets("/w?fieldManager=one"), widget("w", { ports: [{ port: 2, name: "b" }] }));
  },
  "sets are merged, and atomic lists and maps are replaced": async (api) => {
    await api.apply(
      api.widgets("/w?fieldManager=one"),
      widget("w", { tags: ["a", "b"], words: ["a"], pair: { a: "1" } }),
    );
    await api.apply(api.widgets("/w?fieldManager=two"), widget("w", { tags: ["c", "a"] }));
    await api.apply(api.widgets("/w?fieldManager=two"), widget("w", { words: ["b"] }));
    await api.apply(api.widgets("/w?fieldManager=two&force=true"), widget("w", { words: ["b"], pair: { b: "2" } }));
    await api.apply(api.widgets("/w?fieldManager=one"), widget("w", { tags: ["b"] }));
  },
  "an update takes over fields": async (api) => {
    await api.apply(api.widgets("/w?fieldManager=one"), widget("w", { size: 2, color: "red" }));
    await api.merge(api.widgets("/w?fieldManager=other"), { spec: { size: 5 } });
    await api.apply(api.widgets("/w?fieldManager=one"), widget("w", { size: 2, color: "red" }));
    await api.apply(api.widgets("/w?fieldManager=one"), widget("w", { color: "red" }));
  },
  "containers and ports of a Deployment are merged by their keys": async (api) => {
    const path = `${deployments(api)}/d`;
    const of = (...containers: unknown[]) => deployment({ containers });
    await api.apply(
      `${path}?fieldManager=one`,
      of({ name: "a", image: "x", ports: [{ containerPort: 80 }], env: [{ name: "E", value: "1" }] }),
    );
    await api.apply(
      `${path}?fieldManager=two`,
      of({ name: "b", image: "y", resources: { limits: { cpu: "500m", memory: "1Gi" } } }),
    );
    await api.apply(`${path}?fieldManager=one`, of({ name: "a", image: "z" }));
  },
  "an apply of status owns only status": async (api) => {
    await api.apply(api.widgets("/w?fieldManager=one"), widget("w", { size: 2 }));
    await api.apply(api.widgets("/w/status?fieldManager=two"), {
      ...widget("w", { size: 3 }),
      status: { phase: "Up" },
    });
    await api.apply(api.widgets("/w/status?fieldManager=two"), {
      ...widget("w"),
      spec: undefined,
      status: { ready: 1 },
    });
    // An apply without changes is still stored if its new time changes the order of the managers.
    await api.untilNextSecond();
    await api.apply(api.widgets("/w?fieldManager=one"), { ...widget("w", { size: 2 }), status: { phase: "Down" } });
  },
  "an apply owns metadata, too": async (api) => {
    // The owner must exist, or the garbage collector deletes the object.
    const { body } = await api.quietly("POST", api.core("configmaps"), configMap("x"));
    const owner = { apiVersion: "v1", kind: "ConfigMap", name: "x", uid: body.metadata.uid };
    await api.apply(
      api.widgets("/w?fieldManager=one"),
      widget("w", {}, {
        labels: { a: "1" },
        annotations: { b: "2" },
        finalizers: ["example.com/a"],
        ownerReferences: [owner],
      }),
    );
    await api.apply(api.widgets("/w?fieldManager=two"), widget("w", {}, { finalizers: ["example.com/b"] }));
    await api.apply(api.widgets("/w?fieldManager=one"), widget("w", {}, { finalizers: [] }));
  },
  "apply needs a field manager": async (api) => {
    await api.apply(api.widgets("/w"), widget("w"));
    await api.apply(api.widgets("/w?fieldManager="), widget("w"));
    await api.apply(api.widgets(`/w?fieldManager=${"a".repeat(129)}`), widget("w"));
  },
  "an apply accepts YAML": async (api) => {
    await api.apply(
      api.widgets("/w?fieldManager=one"),
      `apiVersion: ${GROUP}/v1\nkind: Widget\nmetadata:\n  name: w\nspec:\n  size: 4\n`,
    );
  },
  "an apply of another object": async (api) => {
    await api.apply(api.widgets("/w?fieldManager=one"), { ...widget("w"), apiVersion: `${GROUP}/v9` });
    await api.apply(api.widgets("/w?fieldManager=one"), { ...widget("w"), kind: "Gadget" });
    await api.apply(api.widgets("/w?fieldManager=one"), widget("v"));
    await api.apply(api.widgets("/w?fieldManager=one"), { metadata: { name: "w" } });
    await api.apply(api.widgets("/w?fieldManager=one"), widget("w", {}, { managedFields: [{ manager: "x" }] }));
    await api.apply(api.widgets("/w?fieldManager=one"), ": not yaml");
    await api.apply(
      api.widgets("/w?fieldManager=one"),
      widget("w", {}, { uid: "11111111-1111-1111-1111-111111111111" }),
    );
  },
  "an apply that the schema rejects": async (api) => {
    await api.apply(api.widgets("/w?fieldManager=one"), widget("w", { size: 11 }));
    await api.apply(api.widgets("/w?fieldManager=one"), widget("w", { size: "2" }));
    await api.apply(api.widgets("/w?fieldManager=one"), widget("w", { other: 1 }));
    await api.apply(api.widgets("/w?fieldManager=one"), widget("w", { ports: [{ port: 1 }, { port: 1 }] }));
    await api.apply(api.widgets("/w?fieldManager=one"), widget("w", { ports: [{ name: "a" }] }));
  },
  "managed fields of update, patch and create": async (api) => {
    const { body } = await api.post(api.widgets("?fieldManager=maker"), widget("w", { size: 1 }));
    await api.put(api.widgets("/w?fieldManager=updater"), { ...body, spec: { ...body.spec, color: "red" } });
    await api.merge(api.widgets("/w?fieldManager=patcher"), { spec: { title: "abc" } });
    await api.merge(api.widgets("/w?fieldManager=patcher"), { spec: { title: null } });
    await api.merge(api.widgets("/w"), { metadata: { managedFields: [{}] } });
  },
});
