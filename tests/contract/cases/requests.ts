import { area } from "../contract.ts";
import { MERGE } from "../recorder.ts";
import { configMap, GROUP, widget } from "../widget.ts";

/** Dry runs. */
export const dryRun = area("dry run", {
  "a create with dryRun": async (api) => {
    await api.post(api.widgets("?dryRun=All"), widget("w"));
    await api.get(api.widgets("/w"));
    await api.post(api.core("configmaps?dryRun=All"), configMap("c"));
    await api.get(api.core("configmaps/c"));
  },
  "an update, a patch, an apply and a deletion with dryRun": async (api) => {
    const { body } = await api.post(api.widgets(), widget("w"));
    await api.put(api.widgets("/w?dryRun=All"), { ...body, spec: { size: 5 } });
    await api.merge(api.widgets("/w?dryRun=All"), { spec: { size: 6 } });
    await api.apply(api.widgets("/w?dryRun=All&fieldManager=one"), widget("w", { color: "red" }));
    await api.delete(api.widgets("/w?dryRun=All"));
    await api.get(api.widgets("/w"));
  },
  "a dry run is validated": async (api) => {
    await api.post(api.widgets("?dryRun=All"), widget("w", { size: 11 }));
    await api.post(api.widgets("?dryRun=Some"), widget("w"));
  },
});

/** Unknown fields. */
export const fieldValidation = area("field validation", {
  "unknown and duplicate fields are rejected, cause warnings or are ignored": async (api) => {
    for (const how of ["Strict", "Warn", "Ignore", "Other"]) {
      await api.post(
        api.widgets(`?fieldValidation=${how}`),
        widget(`w-${how.toLowerCase()}`, { other: 1, nested: { more: 2 } }),
      );
      await api.post(api.core(`configmaps?fieldValidation=${how}`), {
        ...configMap(`c-${how.toLowerCase()}`),
        other: 1,
      });
    }
  },
  "duplicate keys": async (api) => {
    const text = (name: string) =>
      `{"apiVersion":"${GROUP}/v1","kind":"Widget","metadata":{"name":"${name}"},"spec":{"size":1,"size":2}}`;
    await api.post(api.widgets("?fieldValidation=Strict"), text("a"));
    await api.post(api.widgets("?fieldValidation=Warn"), text("b"));
    await api.post(api.widgets(), text("c"));
  },
  "unknown fields of metadata": async (api) => {
    await api.post(api.widgets("?fieldValidation=Strict"), widget("w", {}, { other: 1 }));
    await api.post(api.widgets(), widget("w", {}, { other: 1 }));
  },
  "unknown fields of a patch": async (api) => {
    await api.quietly("POST", api.widgets(), widget("w"));
    await api.merge(api.widgets("/w?fieldValidation=Strict"), { spec: { other: 1 } });
    await api.apply(api.widgets("/w?fieldValidation=Strict&fieldManager=one"), widget("w", { other: 1 }));
    await api.merge(api.widgets("/w?fieldValidation=Warn"), { spec: { other: 1 } });
  },
});

/** Invalid requests. */
export const badInput = area("bad input", {
  "a body that is not JSON": async (api) => {
    for (const body of ["{", "", "[]", "3", "null", '"text"']) await api.post(api.widgets(), body);
    for (const body of ["{", "", "[]", "3"]) await api.post(api.core("configmaps"), body);
  },
  "a body with another object": async (api) => {
    await api.post(api.widgets(), configMap("c"));
    await api.post(api.widgets(), { ...widget("w"), kind: "Gadget" });
    await api.post(api.widgets(), { ...widget("w"), apiVersion: `${GROUP}/v2` });
    await api.post(api.widgets(), { metadata: { name: "w" } });
    await api.post(api.core("configmaps"), widget("w"));
    await api.post(api.core("configmaps"), { metadata: { name: "c" }, data: { a: "1" } });
    await api.post(api.core("configmaps"), { ...configMap("c"), data: "text" });
  },
  "a body with another namespace": async (api) => {
    await api.post(api.widgets(), widget("w", {}, { namespace: "other" }));
    await api.post(api.core("configmaps"), configMap("c", {}, { namespace: "other" }));
  },
  "an unknown content type": async (api) => {
    await api.post(api.widgets(), widget("w"), { contentType: "text/plain" });
    await api.post(api.core("configmaps"), configMap("c"), { contentType: "text/plain" });
    await api.post(api.widgets(), widget("w"), { contentType: "application/json; charset=utf-8" });
    await api.post(api.widgets(), "apiVersion: contract.example.com/v1\nkind: Widget\nmetadata: {name: y}\n", {
      contentType: "application/yaml",
    });
  },
  "an unknown Accept header": async (api) => {
    await api.quietly("POST", api.core("configmaps"), configMap("c"));
    await api.get(api.core("configmaps/c"), { accept: "text/html" });
    await api.get(api.core("configmaps/c"), { accept: "*/*" });
    await api.get(api.core("configmaps/c"), { accept: "application/yaml" });
    await api.get(api.widgets(), { accept: "text/html" });
  },
  "a method that is not allowed": async (api) => {
    await api.put(api.widgets(), widget("w"));
    await api.post(api.widgets("/w"), widget("w"));
    await api.call("PATCH", api.widgets(), {}, { contentType: MERGE });
    await api.post(api.core("configmaps/c"), configMap("c"));
    await api.put(api.core("configmaps"), configMap("c"));
    await api.delete(`/apis/${GROUP}/v1/widgets`);
  },
  "invalid query parameters": async (api) => {
    await api.get(api.widgets("?limit=x"));
    await api.get(api.widgets("?limit=-1"));
    await api.watch(api.widgets("?watch=maybe"), () => Promise.resolve());
    await api.get(api.widgets("?nothing=1"));
    await api.post(api.widgets("?fieldManager=a%00b"), widget("w"));
  },
});
