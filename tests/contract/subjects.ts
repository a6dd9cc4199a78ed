/** The subjects of the contract. Each has several areas and a minimum number of cases. */

/** A subject of the contract. */
export interface Subject {
  readonly name: string;
  /** Minimum number of cases. */
  readonly minimum: number;
  readonly areas: readonly string[];
}

/** All subjects. Each area belongs to one. */
export const SUBJECTS: readonly Subject[] = [
  { name: "apply", minimum: 80, areas: ["apply", "applied shapes", "apply migration"] },
  {
    name: "watch and list",
    minimum: 60,
    areas: ["lists", "watches", "watch order", "selectors", "pages", "watch options"],
  },
  {
    name: "CRD validation and CEL",
    minimum: 120,
    areas: [
      "validation",
      "values",
      "rules",
      "expressions",
      "field validation",
      "definitions",
      "rejected schemas",
      "rejected definitions",
      "changed definitions",
      "versions",
      "deprecated versions",
      "selectable fields",
      "columns",
    ],
  },
  {
    name: "other patches",
    minimum: 60,
    areas: ["patches", "JSON patches", "merge patches", "strategic patches", "scale"],
  },
  {
    name: "lifecycle and garbage collection",
    minimum: 60,
    areas: [
      "objects",
      "services",
      "pods",
      "defaults",
      "zeros",
      "jobs",
      "stateful sets",
      "workload messages",
      "autoscalers",
      "status",
      "deletion",
      "preconditions",
      "dry run",
      "garbage collection",
      "namespaces",
      "graceful deletion",
      "deleted collections",
      "tokens",
      "leases",
      "events",
    ],
  },
  { name: "RBAC", minimum: 60, areas: ["access", "grants", "rejected roles", "access reviews", "impersonation"] },
  {
    name: "admission",
    minimum: 50,
    areas: ["admission", "admission matching", "admission failures", "rejected webhooks", "connections", "conversion"],
  },
  { name: "Table, discovery, OpenAPI", minimum: 40, areas: ["tables", "discovery", "openapi", "protobuf"] },
  { name: "bad input", minimum: 25, areas: ["bad input", "hostile input", "dropped watches"] },
];

/**
 * Returns the subject of an area.
 *
 * @throws {Error} If the area belongs to no subject.
 */
export function subjectOf(area: string): Subject {
  const subject = SUBJECTS.find(({ areas }) => areas.includes(area));
  if (subject === undefined) throw new Error(`The area "${area}" belongs to no subject. Add it to one in subjects.ts`);
  return subject;
}
