/**
 * Code that must and must not compile. The compiler checks the assertions; running the tests only
 * shows that the schemas can be built.
 */
import { type InferSchema, type InputSchema, s } from "./mod.ts";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false;
function same<A, B>(_: Same<A, B>): void {}

Deno.test("s infers the types as read and as written", () => {
  const schema = s.object({
    host: s.string({ format: "hostname" }),
    replicas: s.integer({ default: 1 }),
    memory: s.optional(s.string()),
    size: s.enum(["small", "large"], { default: "small" }),
    tier: s.string({ enum: ["a", "b"] }),
    answer: s.literal(42),
    note: s.nullable(s.optional(s.string())),
    port: s.intOrString(),
    labels: s.map(s.boolean()),
    rest: s.anything({ type: "object" }),
    parts: s.array(s.object({ name: s.string(), weight: s.number({ default: 1 }) })),
    nested: s.object({ on: s.boolean({ default: true }) }, { default: {} }),
  });

  same<InferSchema<typeof schema>, {
    readonly host: string;
    readonly replicas: number;
    readonly size: "small" | "large";
    readonly tier: "a" | "b";
    readonly answer: 42;
    readonly port: number | string;
    readonly labels: { readonly [key: string]: boolean };
    readonly rest: { readonly [key: string]: unknown };
    readonly parts: readonly { readonly name: string; readonly weight: number }[];
    readonly nested: { readonly on: boolean };
    readonly memory?: string;
    readonly note?: string | null;
  }>(true);
  same<InputSchema<typeof schema>, {
    readonly host: string;
    readonly tier: "a" | "b";
    readonly answer: 42;
    readonly port: number | string;
    readonly labels: { readonly [key: string]: boolean };
    readonly rest: { readonly [key: string]: unknown };
    readonly parts: readonly { readonly name: string; readonly weight?: number | undefined }[];
    readonly replicas?: number | undefined;
    readonly memory?: string | undefined;
    readonly size?: "small" | "large" | undefined;
    readonly note?: string | null | undefined;
    readonly nested?: { readonly on?: boolean | undefined } | undefined;
  }>(true);
});

Deno.test("s accepts a value as read for writing", () => {
  const schema = s.object({ a: s.integer({ default: 1 }), b: s.optional(s.array(s.string())) });
  const read: InferSchema<typeof schema> = { a: 1 };
  read satisfies InputSchema<typeof schema>;
});

Deno.test("s.pick, s.omit and s.extend keep the types of properties", () => {
  const point = s.object({ x: s.number(), y: s.optional(s.number()) });
  const named = s.extend(point, { name: s.string() });

  same<InferSchema<typeof named>, { readonly x: number; readonly name: string; readonly y?: number }>(true);
});

/** The compiler must reject each statement. The function is never called. */
export function mustNotCompile(): void {
  // @ts-expect-error there is no such option
  s.string({ minimun: 3 });
  // @ts-expect-error the default is not a string
  s.string({ default: 3 });
  // @ts-expect-error the format is not known
  s.string({ format: "hostnam" });
  // @ts-expect-error the default is not in the enum
  s.string({ enum: ["a", "b"], default: "c" });
  // @ts-expect-error the default is not in the enum
  s.enum(["a", "b"], { default: "c" });
  // @ts-expect-error integers have no length
  s.integer({ minLength: 1 });
  // @ts-expect-error the key is not in the items
  s.array(s.object({ a: s.string() }), { listType: "map", listMapKeys: ["b"] });
  // @ts-expect-error items cannot be optional
  s.array(s.optional(s.string()));
  // @ts-expect-error values cannot be optional
  s.map(s.optional(s.string()));
  // @ts-expect-error A schema with a default is never missing
  s.optional(s.string({ default: "" }));
  // @ts-expect-error a property is a schema
  s.object({ a: "string" });
  // @ts-expect-error the default lacks a property
  s.object({ a: s.string() }, { default: {} });
  // @ts-expect-error the default's property is not a string
  s.object({ a: s.string() }, { default: { a: 3 } });
  // @ts-expect-error items of the default are not strings
  s.array(s.string(), { default: [1] });

  const schema = s.object({ a: s.string(), b: s.integer({ default: 1 }), c: s.optional(s.string()) });
  // @ts-expect-error a is required
  ({}) satisfies InputSchema<typeof schema>;
  // @ts-expect-error b is present when read
  ({ a: "" }) satisfies InferSchema<typeof schema>;
  // @ts-expect-error there is no d
  ({ a: "", d: 1 }) satisfies InputSchema<typeof schema>;
}
