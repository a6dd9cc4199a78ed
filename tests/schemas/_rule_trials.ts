/** Trials from the tables of rules: each is a request, and optionally a call of `validate`. */
import type { JsonSchema } from "../../src/schema/json_schema.ts";
import { expressionKind, rejectedKind, resultRule } from "./_expressions.ts";
import { validated } from "./_rule_trial.ts";
import { collection, type Definition, definition, DEFINITIONS, type Server } from "./_servers.ts";
import { type Verdict, verdictOf } from "./_verdict.ts";
import { ESTIMATED_COSTS, type EstimatedCost, LONGEST_TEXT, TRACKED_COSTS, type TrackedCost } from "./rules/costs.ts";
import { EXPRESSIONS } from "./rules/mod.ts";
import { REJECTED_RULES, type RejectedRule } from "./rules/rejected.ts";

/** A request for both servers. */
export interface Trial {
  /** The category: the library, or another topic. */
  readonly about: string;
  /** The name in failure messages. */
  readonly name: string;
  /** The number of evaluations. */
  readonly evaluations: number;
  run(server: Server): Promise<Verdict>;
  /** Returns the errors of `validate`, if it applies. */
  validate?(): string[];
}

/** Returns the required kinds. */
export function trialKinds(): Definition[] {
  return [...EXPRESSIONS.map(expressionKind), ...Array.from({ length: TRACKED_KINDS }, (_, i) => trackedKind(i))];
}

/** Returns the trials of all tables. */
export function ruleTrials(): Trial[] {
  return [...expressionTrials(), ...rejectedTrials(), ...estimateTrials(), ...trackedTrials()];
}

function expressionTrials(): Trial[] {
  return EXPRESSIONS.flatMap((table) => {
    const kind = expressionKind(table);
    return table.values.map((value) =>
      objectTrial(kind, value, { about: table.library, evaluations: table.expressions.length })
    );
  });
}

function rejectedTrials(): Trial[] {
  const ofLibraries = EXPRESSIONS.flatMap(({ rejected = [] }) => rejected.map((text) => resultRule(text, 0)));
  const rules: readonly RejectedRule[] = [...REJECTED_RULES, ...ofLibraries];
  return rules.map((rule, i) => definitionTrial(rejectedKind(rule, i), "rejected at definition", JSON.stringify(rule)));
}

function estimateTrials(): Trial[] {
  return ESTIMATED_COSTS.map((cost, i) => definitionTrial(estimatedKind(cost, i), "estimated cost", cost.rule));
}

function estimatedKind({ rule, maxItems }: EstimatedCost, index: number): Definition {
  const spec = {
    type: "array",
    maxItems,
    items: { type: "string", maxLength: LONGEST_TEXT },
    "x-kubernetes-validations": [{ rule }],
  };
  return {
    group: "estimates.example.com",
    kind: `Estimate${index}`,
    versions: { v1: { type: "object", properties: { spec } } },
  };
}

/** Number of rules whose cost stays below the limit of a kind. */
const RULES_PER_KIND = 8;
const TRACKED_KINDS = Math.ceil(TRACKED_COSTS.length / RULES_PER_KIND);

function trackedKind(index: number): Definition {
  const costs = TRACKED_COSTS.slice(index * RULES_PER_KIND, (index + 1) * RULES_PER_KIND);
  const spec: JsonSchema = {
    type: "object",
    properties: Object.fromEntries(costs.map((cost, i) => [`e${i}`, trackedSchema(cost)])),
  };
  return {
    group: "costs.example.com",
    kind: `Cost${index}`,
    versions: { v1: { type: "object", properties: { spec } } },
  };
}

function trackedSchema({ expression, item, tooMany }: TrackedCost): JsonSchema {
  return {
    type: "array",
    maxItems: tooMany,
    items: { type: "string", maxLength: item.length },
    "x-kubernetes-validations": [{ rule: `self.all(a, self.map(x, ${expression}).size() >= 0)` }],
  };
}

function trackedTrials(): Trial[] {
  return TRACKED_COSTS.flatMap(({ expression, item, tooMany }, i) => {
    const kind = trackedKind(Math.floor(i / RULES_PER_KIND));
    const about = { about: "tracked cost", name: expression, evaluations: 1 };
    return [tooMany - 1, tooMany].map((count) => {
      const spec = { [`e${i % RULES_PER_KIND}`]: Array.from({ length: count }, () => item) };
      // Our server runs the same code, so the slow evaluation is not repeated.
      const { validate: _, ...trial } = objectTrial(kind, spec, about);
      return trial;
    });
  });
}

function objectTrial(
  kind: Definition,
  spec: unknown,
  about: { about: string; name?: string; evaluations: number },
): Trial {
  const object = { apiVersion: `${kind.group}/v1`, kind: kind.kind, metadata: { name: "name" }, spec };
  const text = JSON.stringify(object);
  return {
    name: JSON.stringify(spec),
    ...about,
    run: async (server) => verdictOf(await server.send("POST", `${collection(kind)}?dryRun=All`, text)),
    validate: () => validated(kind.versions.v1 as JsonSchema, JSON.parse(text)),
  };
}

function definitionTrial(kind: Definition, about: string, name: string): Trial {
  const text = JSON.stringify(definition(kind));
  return {
    about,
    name,
    evaluations: 1,
    run: async (server) => {
      const { object: _, ...verdict } = verdictOf(await server.send("POST", `${DEFINITIONS}?dryRun=All`, text));
      return withoutTypeNumbers(verdict);
    },
  };
}

/** Removes the numbers of CEL types, which differ for each definition. */
function withoutTypeNumbers(verdict: Verdict): Verdict {
  return JSON.parse(JSON.stringify(verdict).replaceAll(/selfType\d+/g, "selfType"));
}
