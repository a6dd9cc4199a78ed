/** The subjects of the contract. Each has several areas and a least number of cases. */

/** A subject of the contract. */
export interface Subject {
  readonly name: string;
  /** The least number of cases. */
  readonly least: number;
  readonly areas: readonly string[];
}

/** All subjects. Each area belongs to one. */
export const SUBJECTS: readonly Subject[] = [
  { name: "apply", least: 80, areas: ["apply", "applied shapes", "apply migration"] },
  {
    name: "watch and list",
    least: 60,
    areas: ["lists", "watches", "watch order", "selectors", "pages", "watch options"],
  },
  {
    name: "CRD validation and CEL",
    least: 120,
    areas: [
      "validation",
      "values",
      "rules",
      "expressions",
      "field validation",
      "definitions",
      "refused schemas",
      "refused definitions",
      "changed definitions",
      "versions",
      "deprecated versions",
      "selectable fields",
      "columns",
    ],
  },
  {
    name: "other patches",
    least: 60,
    areas: ["patches", "JSON patches", "merge patches", "strategic patches", "scale"],
  },
  {
    name: "lifecycle and garbage collection",
    least: 60,
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
  { name: "RBAC", least: 60, areas: ["access", "grants", "refused roles", "access reviews", "impersonation"] },
  {
    name: "admission",
    least: 50,
    areas: ["admission", "admission matching", "admission failures", "refused webhooks", "connections", "conversion"],
  },
  { name: "Table, discovery, OpenAPI", least: 40, areas: ["tables", "discovery", "openapi", "protobuf"] },
  { name: "bad input", least: 25, areas: ["bad input", "hostile input", "dropped watches"] },
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
