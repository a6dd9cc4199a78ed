/**
 * Code that must and must not compile. The compiler checks the assertions; running the tests only
 * shows that the kinds can be declared.
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
  // @ts-expect-error it is required
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
  const make = { ...NAMES, spec, status };
  // @ts-expect-error not in the schema
  resource({ ...make, columns: { Host: ".spec.hots" } });
  // @ts-expect-error not in the schema, in the long form
  resource({ ...make, columns: { Host: { path: ".spec.hots" } } });
  // @ts-expect-error no dot in front
  resource({ ...make, columns: { Host: "spec.host" } });
  // @ts-expect-error continues after a string
  resource({ ...make, columns: { Host: ".spec.host.name" } });
  // @ts-expect-error a list has no names
  resource({ ...make, columns: { Name: ".spec.list.name" } });
  // @ts-expect-error the item has no such property
  resource({ ...make, columns: { Name: ".spec.list[0].nam" } });
  // @ts-expect-error the filter asks for a property that the item has not
  resource({ ...make, columns: { Name: '.spec.list[?(@.nam=="a")].name' } });
  // @ts-expect-error a condition has no such property
  resource({ ...make, columns: { Ready: '.status.conditions[?(@.type=="Ready")].stat' } });
  // @ts-expect-error the server takes an unescaped dot as the end of a name, in quotes too
  resource({ ...make, columns: { Label: ".spec.labels['app.example.com']" } });
  // @ts-expect-error there is no such option of a column
  resource({ ...make, columns: { Host: { path: ".spec.host", prio: 1 } } });
  // @ts-expect-error there is no such option of a kind
  resource({ ...make, colums: {} });
  // @ts-expect-error a column's type is one of five
  resource({ ...make, columns: { Host: { path: ".spec.host", type: "text" } } });
  // @ts-expect-error objects live in namespaces or in the cluster
  resource({ ...make, scope: "namespaced" });

  // @ts-expect-error the filter's property is not in the schema, whatever it compares by
  resource({ ...make, columns: { Name: ".spec.list[?(@.size>=1)].name" } });
  // @ts-expect-error no field was added to the status
  resource({ ...make, conditions: false, columns: { Ready: '.status.conditions[?(@.type=="Ready")].status' } });
  // @ts-expect-error not in the schema
  resource({ ...make, scale: { specReplicas: ".spec.replicas", statusReplicas: ".status.ready" } });
  // @ts-expect-error a string
  resource({ ...make, scale: { specReplicas: ".spec.host", statusReplicas: ".status.ready" } });
  // @ts-expect-error not below the spec
  resource({ ...make, scale: { specReplicas: ".status.ready", statusReplicas: ".status.ready" } });
  // @ts-expect-error the other path is missing
  resource({ ...make, scale: { specReplicas: ".spec.labels.count" } });
  // @ts-expect-error a scale has no such option
  resource({ ...make, scale: { specReplicas: ".spec.a", statusReplicas: ".status.ready", selector: ".status.ready" } });
  // @ts-expect-error not in the schema
  resource({ ...make, selectableFields: [".spec.host", ".spec.hots"] });
  // @ts-expect-error a list
  resource({ ...make, selectableFields: [".spec.list"] });
  // @ts-expect-error names are selectable anyway, other metadata is not
  resource({ ...make, selectableFields: [".metadata.name"] });
  // @ts-expect-error brackets are not for selectable fields
  resource({ ...make, selectableFields: [".spec['host']"] });
  // @ts-expect-error a version of another kind
  resource({ ...make, version: "v2", versions: [resource({ ...make, kind: "Other" })] });
  // @ts-expect-error a version of another group
  resource({ ...make, version: "v2", versions: [resource({ ...make, group: "other.example.com" })] });
  // @ts-expect-error a rule needs an expression
  resource({ ...make, validations: [{ message: "no" }] });

  // @ts-expect-error the spec is present when read, its property is optional
  site.spec.hots;
  // @ts-expect-error the status may be missing
  site.status.ready;
  // @ts-expect-error host has to be written
  ({ spec: {} }) satisfies Input<typeof Website>;
  // @ts-expect-error the status is not written with the object
  ({ spec: { host: "" }, status: {} }) satisfies Input<typeof Website>;
  // @ts-expect-error kinds of one shape are not interchangeable
  resource({ ...make, kind: "Other" }) satisfies typeof Website;
}
