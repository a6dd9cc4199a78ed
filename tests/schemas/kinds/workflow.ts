/** Workflows whose steps contain Pods, objects of other kinds, and JSON Schema itself. */
import { type Infer, type Input, resource, s } from "@op/sdk";
import { PodSpec } from "@op/sdk/schemas/full";
import { EnvVar, Probe } from "@op/sdk/schemas/short";

const container = s.object({
  image: s.string({ minLength: 1 }),
  env: s.array(EnvVar, { listType: "map", listMapKeys: ["name"], default: [] }),
  ready: s.optional(Probe),
});

const step = s.exactlyOneOf(
  s.object({
    name: s.string({ maxLength: 63 }),
    after: s.array(s.string({ maxLength: 63 }), { listType: "set", maxItems: 10, default: [] }),
    run: s.optional(container),
    pod: s.optional(s.extend(PodSpec, { restartPolicy: s.enum(["Never", "OnFailure"], { default: "Never" }) })),
    create: s.optional(s.embeddedResource()),
    config: s.optional(s.embeddedResource({ data: s.map(s.string()) })),
  }),
  ["run", "pod", "create", "config"],
);

export const Workflow = resource({
  group: "kinds.example.com",
  version: "v1",
  kind: "Workflow",
  spec: s.object({
    steps: s.array(step, {
      listType: "map",
      listMapKeys: ["name"],
      minItems: 1,
      maxItems: 20,
      validations: [{
        rule: "self.all(s, s.after.all(a, self.exists(t, t.name == a)))",
        message: "after must name existing steps",
      }],
    }),
    inputs: s.optional(
      s.raw<{ readonly type: string }>({
        type: "object",
        "x-kubernetes-preserve-unknown-fields": true,
        maxProperties: 20,
      }),
    ),
    values: s.anything({ type: "object", default: {} }),
    parallel: s.intOrString({
      default: "25%",
      validations: [{ rule: "type(self) == int ? self > 0 : self.endsWith('%')" }],
    }),
  }),
  status: s.object({ phase: s.string(), steps: s.map(s.object({ phase: s.string() })) }),
  columns: { Phase: ".status.phase" },
});
export type Workflow = Infer<typeof Workflow>;

export const workflow: Input<typeof Workflow> = {
  metadata: { name: "build" },
  spec: {
    steps: [
      { name: "fetch", run: { image: "git", env: [{ name: "DEPTH", value: "1" }] } },
      { name: "test", after: ["fetch"], pod: { containers: [{ name: "test", image: "deno" }] } },
      { name: "publish", after: ["test"], create: { apiVersion: "v1", kind: "Secret", stringData: { a: "b" } } },
      { name: "note", config: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "note" }, data: { a: "b" } } },
    ],
    inputs: { type: "object" },
    values: { any: { thing: 1 } },
    parallel: 3,
  },
};
