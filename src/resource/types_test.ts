/**
 * Code that must compile, and code that must not. The compiler checks the assertions; running the
 * tests only shows that the kinds can be declared.
 */
import { s } from "../schema/mod.ts";
import { type Infer, type Input, type Kind, type KubeObject, type ObjectMeta, resource } from "./mod.ts";

const NAMES = { group: "demo.example.com", version: "v1", kind: "Website" } as const;

const Website = resource({
  ...NAMES,
  spec: s.object({
    host: s.string({ format: "hostname" }),
    replicas: s.integer({ minimum: 0, maximum: 20, default: 1 }),
  }),
  status: s.object({ url: s.optional(s.string()), ready: s.optional(s.integer()) }),
});
type Website = Infer<typeof Website>;

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false;
function same<A, B>(_: Same<A, B>): void {}

Deno.test("Infer and Input are the types as read and as written", () => {
  same<Website["spec"], { readonly host: string; readonly replicas: number }>(true);
  same<Website["metadata"], ObjectMeta>(true);
  same<Website["kind"], "Website">(true);
  same<Website["apiVersion"], "demo.example.com/v1">(true);
  same<keyof NonNullable<Website["status"]>, "url" | "ready" | "conditions" | "observedGeneration">(true);
  same<keyof Input<typeof Website>, "apiVersion" | "kind" | "metadata" | "spec">(true);
  ({ spec: { host: "a.example" } }) satisfies Input<typeof Website>;
  ({ metadata: { name: "a" }, kind: "Website", spec: { host: "a", replicas: undefined } }) satisfies Input<
    typeof Website
  >;
  Website satisfies Kind<KubeObject>;
});

Deno.test("Infer and Input of a kind with an optional spec may omit it", () => {
  const Loose = resource({
    ...NAMES,
    spec: s.optional(s.object({ host: s.string() })),
    columns: { Host: ".spec.host" },
    selectableFields: [".spec.host"],
  });
  same<Infer<typeof Loose>["spec"], { readonly host: string } | undefined>(true);
  ({}) satisfies Input<typeof Loose>;
  ({ spec: { host: "a.example" } }) satisfies Input<typeof Loose>;
  // @ts-expect-error a present value must have the right type
  ({ spec: {} }) satisfies Input<typeof Loose>;
  // @ts-expect-error a required property is missing
  ({}) satisfies Input<typeof Website>;
  Loose satisfies Kind<KubeObject>;
});

Deno.test("resource accepts paths to fields of the right type", () => {
  const spec = s.object({
    replicas: s.integer(),
    host: s.string(),
    on: s.boolean(),
    labels: s.map(s.string()),
    list: s.array(s.object({ name: s.string(), size: s.integer() })),
    rest: s.anything(),
  });
  const status = s.object({ ready: s.integer(), selector: s.string() });
  resource({
    ...NAMES,
    spec,
    status,
    scale: { specReplicas: ".spec.replicas", statusReplicas: ".status.ready", labelSelector: ".status.selector" },
    selectableFields: [".spec.host", ".spec.replicas", ".spec.on", ".spec.labels.app", ".status.ready"],
    columns: {
      First: ".spec.list[0:2].name",
      Other: '.spec.list[?(@.name!="a")].size',
      Large: ".spec.list[?(@.size >= 3)].name",
      Small: ".spec.list[?(@.size<3)].name",
      Named: ".spec.list[?(@.name)].size",
      Rest: ".spec.rest.any.thing",
    },
  });
  const Plain = resource({ ...NAMES, spec, status, conditions: false });
  same<keyof NonNullable<Infer<typeof Plain>["status"]>, "ready" | "selector">(true);
});

Deno.test("each version of a kind has its own types", () => {
  const V1 = resource({ ...NAMES, spec: s.object({ host: s.string() }) });
  const V2 = resource({ ...NAMES, version: "v2", spec: s.object({ hosts: s.array(s.string()) }), versions: [V1] });
  same<Infer<typeof V1>["spec"], { readonly host: string }>(true);
  same<Infer<typeof V2>["spec"], { readonly hosts: readonly string[] }>(true);
  same<Infer<typeof V2>["apiVersion"], "demo.example.com/v2">(true);
});

/** Never called: the compiler must reject each statement. */
export function rejected(site: Website): void {
  const spec = s.object({ host: s.string(), list: s.array(s.object({ name: s.string() })), labels: s.map(s.string()) });
  const status = s.object({ ready: s.integer() });
  const base = { ...NAMES, spec, status };
  // @ts-expect-error the path is not in the schema
  resource({ ...base, columns: { Host: ".spec.hots" } });
  // @ts-expect-error the path is not in the schema, with options
  resource({ ...base, columns: { Host: { path: ".spec.hots" } } });
  // @ts-expect-error the path does not start with a dot
  resource({ ...base, columns: { Host: "spec.host" } });
  // @ts-expect-error a string has no properties
  resource({ ...base, columns: { Host: ".spec.host.name" } });
  // @ts-expect-error a list has no property name
  resource({ ...base, columns: { Name: ".spec.list.name" } });
  // @ts-expect-error the item has no such property
  resource({ ...base, columns: { Name: ".spec.list[0].nam" } });
  // @ts-expect-error the property of the filter is not in the schema
  resource({ ...base, columns: { Name: '.spec.list[?(@.nam=="a")].name' } });
  // @ts-expect-error a condition has no such property
  resource({ ...base, columns: { Ready: '.status.conditions[?(@.type=="Ready")].stat' } });
  // @ts-expect-error an unescaped dot ends a name, even in quotes
  resource({ ...base, columns: { Label: ".spec.labels['app.example.com']" } });
  // @ts-expect-error columns have no option prio
  resource({ ...base, columns: { Host: { path: ".spec.host", prio: 1 } } });
  // @ts-expect-error resource() has no option colums
  resource({ ...base, colums: {} });
  // @ts-expect-error text is not the type of a column
  resource({ ...base, columns: { Host: { path: ".spec.host", type: "text" } } });
  // @ts-expect-error the scope is Namespaced or Cluster
  resource({ ...base, scope: "namespaced" });

  // @ts-expect-error the property of the filter is not in the schema, with another operator
  resource({ ...base, columns: { Name: ".spec.list[?(@.size>=1)].name" } });
  // @ts-expect-error the status has no conditions
  resource({ ...base, conditions: false, columns: { Ready: '.status.conditions[?(@.type=="Ready")].status' } });
  // @ts-expect-error the path is not in the schema
  resource({ ...base, scale: { specReplicas: ".spec.replicas", statusReplicas: ".status.ready" } });
  // @ts-expect-error the target is a string
  resource({ ...base, scale: { specReplicas: ".spec.host", statusReplicas: ".status.ready" } });
  // @ts-expect-error the path is not below .spec
  resource({ ...base, scale: { specReplicas: ".status.ready", statusReplicas: ".status.ready" } });
  // @ts-expect-error statusReplicas is required
  resource({ ...base, scale: { specReplicas: ".spec.labels.count" } });
  // @ts-expect-error a scale has no such option
  resource({ ...base, scale: { specReplicas: ".spec.a", statusReplicas: ".status.ready", selector: ".status.ready" } });
  // @ts-expect-error the path is not in the schema
  resource({ ...base, selectableFields: [".spec.host", ".spec.hots"] });
  // @ts-expect-error a list is not selectable
  resource({ ...base, selectableFields: [".spec.list"] });
  // @ts-expect-error metadata cannot be listed
  resource({ ...base, selectableFields: [".metadata.name"] });
  // @ts-expect-error paths of selectable fields have no brackets
  resource({ ...base, selectableFields: [".spec['host']"] });
  // @ts-expect-error a version of another kind
  resource({ ...base, version: "v2", versions: [resource({ ...base, kind: "Other" })] });
  // @ts-expect-error a version of another group
  resource({ ...base, version: "v2", versions: [resource({ ...base, group: "other.example.com" })] });
  // @ts-expect-error a rule requires an expression
  resource({ ...base, validations: [{ message: "no" }] });

  // @ts-expect-error the spec has no property hots
  site.spec.hots;
  // @ts-expect-error the status may be missing
  site.status.ready;
  // @ts-expect-error host is required
  ({ spec: {} }) satisfies Input<typeof Website>;
  // @ts-expect-error the status is not part of the input
  ({ spec: { host: "" }, status: {} }) satisfies Input<typeof Website>;
  // @ts-expect-error kinds with equal schemas are not interchangeable
  resource({ ...base, kind: "Other" }) satisfies typeof Website;
}
