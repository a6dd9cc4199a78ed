/** Admission webhooks: requests, order and effect of responses. */
import { area } from "../contract.ts";
import { add, allow, CONFIG_MAPS, deny, type Hook, mutating, WIDGETS, withHooks } from "../webhooks.ts";
import { configMap, widget } from "../widget.ts";

/** Admission webhooks. */
export const admission = area("admission", {
  "a validating webhook receives creates, updates and deletes": async (api) => {
    await withHooks(api, { look: allow }, async () => {
      await api.post(api.core("configmaps"), configMap("c", { a: "1" }));
      await api.merge(api.core("configmaps/c"), { data: { a: "2" } });
      await api.put(api.core("configmaps/c"), configMap("c", { a: "3" }));
      await api.delete(api.core("configmaps/c"));
    });
  },
  "a mutating webhook runs before the server's own validation": async (api) => {
    await withHooks(api, { change: { phase: "mutate" } }, async () => {
      await api.post(api.core("configmaps"), configMap("c", { a: "1" }));
      await api.merge(api.core("configmaps/c"), { data: { a: "2" } });
      await api.delete(api.core("configmaps/c"));
    });
  },
  "a webhook receives a custom object": async (api) => {
    const rules = [WIDGETS];
    await withHooks(
      api,
      { change: { phase: "mutate", with: { rules } }, look: { ...allow, with: { rules } } },
      async () => {
        await api.post(api.widgets(), widget("w", { size: 4 }));
        await api.merge(api.widgets("/w"), { spec: { size: 5 } });
        await api.delete(api.widgets("/w"));
      },
    );
  },
  "a mutating webhook changes what is stored": async (api) => {
    await withHooks(api, { change: mutating(add("/data/b", "2"), add("/metadata/labels", { x: "y" })) }, async () => {
      await api.post(api.core("configmaps"), configMap("c", { a: "1" }));
      await api.get(api.core("configmaps/c"));
      await api.merge(api.core("configmaps/c"), { data: { b: "3" } });
    });
  },
  "an object is defaulted and validated after a mutating webhook": async (api) => {
    const rules = [WIDGETS];
    const change: Hook = {
      ...mutating(add("/spec/size", 99), { op: "remove", path: "/spec/nested" }),
      with: { rules },
    };
    await withHooks(api, { change }, async () => {
      await api.post(api.widgets(), widget("w"));
    });
  },
  "unknown fields from a mutating webhook are pruned": async (api) => {
    const rules = [WIDGETS];
    const change: Hook = { ...mutating(add("/spec/unknown", 1), add("/spec/color", "red")), with: { rules } };
    await withHooks(api, { change, look: { ...allow, with: { rules } } }, async () => {
      await api.post(api.widgets(), widget("w"));
    });
  },
  "mutating webhooks run in order, and validating ones see their result": async (api) => {
    await withHooks(api, {
      a: mutating(add("/data", { one: "1" })),
      b: mutating(add("/data/two", "2")),
      c: allow,
      d: allow,
    }, async () => void await api.post(api.core("configmaps"), configMap("c")));
  },
  "a denial with a message": async (api) => {
    await withHooks(api, { no: deny }, async () => {
      await api.post(api.core("configmaps"), configMap("c"));
      await api.get(api.core("configmaps/c"));
    });
  },
  "a denial without a message": async (api) => {
    await withHooks(api, { no: { ...deny, answer: () => ({ allowed: false }) } }, async () => {
      await api.post(api.core("configmaps"), configMap("c"));
    });
  },
  "a denial with code, reason and details": async (api) => {
    const status = {
      code: 422,
      reason: "Invalid",
      message: "spec.x is wrong",
      details: { name: "c", causes: [{ field: "spec.x", reason: "FieldValueInvalid", message: "wrong" }] },
    };
    await withHooks(api, { no: { ...deny, answer: () => ({ allowed: false, status }) } }, async () => {
      await api.post(api.core("configmaps"), configMap("c"));
    });
  },
  "a denial with only a reason, and with an invalid code": async (api) => {
    const answers = [{ reason: "TooBusy", code: 503 }, { code: 200, message: "odd" }, { status: "Success", code: 409 }];
    await withHooks(api, { no: { ...deny, answer: () => ({ allowed: false, status: answers.shift() }) } }, async () => {
      for (let i = 0; i < 3; i++) await api.post(api.core("configmaps"), configMap("c"));
    });
  },
  "a mutating webhook denies a request": async (api) => {
    await withHooks(api, { no: { ...deny, phase: "mutate" }, look: allow }, async () => {
      await api.post(api.core("configmaps"), configMap("c"));
    });
  },
  "a denied update or deletion changes nothing": async (api) => {
    const answer: Hook["answer"] = ({ operation }) => ({ allowed: operation === "CREATE" });
    await withHooks(api, { no: { phase: "validate", answer } }, async () => {
      await api.post(api.core("configmaps"), configMap("c"));
      await api.merge(api.core("configmaps/c"), { data: { a: "1" } });
      await api.delete(api.core("configmaps/c"));
      await api.get(api.core("configmaps/c"));
    });
  },
  "a denied deletion of a collection": async (api) => {
    const answer: Hook["answer"] = ({ oldObject }) => ({ allowed: oldObject.metadata.name !== "b" });
    const hook: Hook = { phase: "validate", answer, with: { rules: [{ ...CONFIG_MAPS, operations: ["DELETE"] }] } };
    await withHooks(api, { no: hook }, async () => {
      await api.quietly("POST", api.core("configmaps"), configMap("b", {}, { labels: { x: "y" } }));
      await api.delete(api.core("configmaps?labelSelector=x%3Dy"));
      await api.get(api.core("configmaps/b"));
    });
  },
  "warnings of webhooks": async (api) => {
    const answer = () => ({ allowed: true, warnings: ["first", "second"] });
    await withHooks(api, { warn: { phase: "validate", answer } }, async () => {
      await api.post(api.core("configmaps"), configMap("c"));
      await api.merge(api.core("configmaps/c"), { data: { a: "1" } });
    });
  },
  "a denial with warnings": async (api) => {
    const answer = () => ({ allowed: false, warnings: ["beware"] });
    await withHooks(api, { warn: { phase: "validate", answer } }, async () => {
      await api.post(api.core("configmaps"), configMap("c"));
    });
  },
  "an apply is sent to webhooks as create or update": async (api) => {
    await withHooks(api, { look: allow }, async () => {
      await api.apply(api.core("configmaps/c?fieldManager=m"), configMap("c", { a: "1" }));
      await api.apply(api.core("configmaps/c?fieldManager=m&force=true"), configMap("c", { a: "2" }));
    });
  },
  "managed fields of changes by a webhook": async (api) => {
    await withHooks(api, { change: mutating(add("/data/b", "2")) }, async () => {
      await api.apply(api.core("configmaps/c?fieldManager=m"), configMap("c", { a: "1" }));
      await api.apply(api.core("configmaps/c?fieldManager=n"), configMap("c", { b: "3" }));
    });
  },
  "a write without changes is sent to webhooks": async (api) => {
    await withHooks(api, { look: allow }, async () => {
      await api.post(api.core("configmaps"), configMap("c", { a: "1" }));
      await api.merge(api.core("configmaps/c"), { data: { a: "1" } });
    });
  },
  "a request that is rejected before admission is not sent to webhooks": async (api) => {
    const rules = [WIDGETS];
    await withHooks(
      api,
      { change: { phase: "mutate", with: { rules } }, look: { ...allow, with: { rules } } },
      async () => {
        await api.post(api.widgets(), widget("w", { size: 99 }));
        await api.post(api.widgets("?fieldValidation=Strict"), widget("w", { unknown: 1 }));
        await api.merge(api.widgets("/none"), {});
        await api.delete(api.widgets("/none"));
      },
    );
  },
  "a create of an existing object is sent to webhooks, then rejected": async (api) => {
    await withHooks(api, { look: allow }, async () => {
      await api.post(api.core("configmaps"), configMap("c"));
      await api.post(api.core("configmaps"), configMap("c"));
    });
  },
  "a generated name": async (api) => {
    await withHooks(api, { change: { phase: "mutate" }, look: allow }, async () => {
      await api.post(api.core("configmaps"), { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "c-" } });
    });
  },
  "removing a finalizer is an update for webhooks": async (api) => {
    await withHooks(api, { look: allow }, async () => {
      await api.post(api.core("configmaps"), configMap("c", {}, { finalizers: ["example.com/a"] }));
      await api.delete(api.core("configmaps/c"));
      await api.merge(api.core("configmaps/c"), { metadata: { finalizers: null } });
    });
  },
  "webhooks receive the options of a request": async (api) => {
    await withHooks(api, { look: allow }, async () => {
      await api.post(api.core("configmaps?fieldManager=m&fieldValidation=Strict&dryRun=All"), configMap("c"));
      await api.post(api.core("configmaps"), configMap("c"));
      await api.call("PATCH", api.core("configmaps/c?fieldManager=m&dryRun=All"), { data: { a: "1" } }, {
        contentType: "application/merge-patch+json",
      });
      const options = { kind: "DeleteOptions", apiVersion: "v1", gracePeriodSeconds: 5, dryRun: ["All"] };
      await api.delete(api.core("configmaps/c"), options);
    });
  },
  "webhooks receive the user of a request": async (api) => {
    await withHooks(api, { look: allow }, async () => {
      const jane = api.as("jane", { "Impersonate-Group": "system:masters", "Impersonate-Uid": "7" });
      await jane.post(api.core("configmaps"), configMap("c"));
    });
  },
});
