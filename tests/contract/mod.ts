/** The contract suite: all cases, and the preparation of the servers. */
import { access } from "./cases/access.ts";
import { grants, rejectedRoles } from "./cases/access_grants.ts";
import { impersonation, reviews } from "./cases/access_reviews.ts";
import { admission } from "./cases/admission.ts";
import { invalidResponses } from "./cases/invalid_responses.ts";
import { matchingDetails } from "./cases/admission_details.ts";
import { failures, rejectedWebhooks } from "./cases/admission_failures.ts";
import { matching } from "./cases/admission_matching.ts";
import { applies } from "./cases/apply.ts";
import { applyMigration } from "./cases/apply_migration.ts";
import { appliedShapes } from "./cases/apply_shapes.ts";
import { connections } from "./cases/connections.ts";
import { conversion } from "./cases/conversion.ts";
import { crd } from "./cases/crd.ts";
import { customFeatures } from "./cases/custom_features.ts";
import { changedDefinitions, customVersions } from "./cases/custom_versions.ts";
import { discovery } from "./cases/discovery.ts";
import { expressions } from "./cases/expressions.ts";
import { collections, graceful } from "./cases/graceful.ts";
import { events, leases, tokens } from "./cases/tokens.ts";
import { garbage, namespaces } from "./cases/garbage.ts";
import { conflicts, deletion, status } from "./cases/lifecycle.ts";
import { pages, selectors, watchOptions } from "./cases/list_options.ts";
import { lists } from "./cases/lists.ts";
import { droppedWatches, hostile } from "./cases/hostile.ts";
import { oddRequests } from "./cases/odd_requests.ts";
import { objects } from "./cases/objects.ts";
import { openapi } from "./cases/openapi.ts";
import { patches } from "./cases/patches.ts";
import { jsonPatchCases, mergePatchCases } from "./cases/json_and_merge_patches.ts";
import { badInput, dryRun, fieldValidation } from "./cases/requests.ts";
import { rejectedDefinitions } from "./cases/rejected_definitions.ts";
import { rejectedSchemas } from "./cases/rejected_schemas.ts";
import { autoscalers } from "./cases/autoscalers.ts";
import { defaults } from "./cases/defaults.ts";
import { jobs } from "./cases/jobs.ts";
import { statefulSets, workloadMessages } from "./cases/stateful_sets.ts";
import { zeros } from "./cases/zeros.ts";
import { pods } from "./cases/pods.ts";
import { protobuf } from "./cases/protobuf.ts";
import { tables } from "./cases/tables.ts";
import { services } from "./cases/services.ts";
import { strategicPatches } from "./cases/strategic_patches.ts";
import { ruleValues } from "./cases/rule_values.ts";
import { rules } from "./cases/rules.ts";
import { validation } from "./cases/validation.ts";
import { values } from "./cases/values.ts";
import { watches } from "./cases/watches.ts";
import { watchOrder } from "./cases/watch_order.ts";
import type { Case, Send } from "./contract.ts";
import { Recorder } from "./recorder.ts";
import { GROUP, widgetDefinition } from "./widget.ts";

export { compare, type Difference, type NormalTranscript, normalTranscript } from "./compare.ts";
export { type Case, runCase, type Send, type Transcript } from "./contract.ts";
export { normalizeSteps, NOT_COMPARED } from "./normalize.ts";
export { applyExceptions, explain, replaySuite, report, type Result, runSuite, type Servers } from "./suite.ts";

/**
 * All cases. Discovery comes first, so that its responses contain no custom kinds of other cases
 * except the shared one.
 */
export const CASES: readonly Case[] = [
  ...discovery,
  ...openapi,
  ...validation,
  ...rules,
  ...ruleValues,
  ...values,
  ...expressions,
  ...objects,
  ...services,
  ...lists,
  ...tables,
  ...protobuf,
  ...watches,
  ...watchOrder,
  ...selectors,
  ...pages,
  ...watchOptions,
  ...patches,
  ...jsonPatchCases,
  ...mergePatchCases,
  ...strategicPatches,
  ...applies,
  ...appliedShapes,
  ...applyMigration,
  ...status,
  ...deletion,
  ...conflicts,
  ...dryRun,
  ...fieldValidation,
  ...badInput,
  ...oddRequests,
  ...hostile,
  ...droppedWatches,
  ...garbage,
  ...crd,
  ...rejectedSchemas,
  ...rejectedDefinitions,
  ...customVersions,
  ...customFeatures,
  ...changedDefinitions,
  ...namespaces,
  ...graceful,
  ...collections,
  ...pods,
  ...defaults,
  ...zeros,
  ...jobs,
  ...statefulSets,
  ...workloadMessages,
  ...autoscalers,
  ...tokens,
  ...leases,
  ...events,
  ...access,
  ...grants,
  ...rejectedRoles,
  ...reviews,
  ...impersonation,
  ...admission,
  ...matching,
  ...matchingDetails,
  ...failures,
  ...invalidResponses,
  ...rejectedWebhooks,
  ...connections,
  ...conversion,
];

/** Creates the custom kind that the cases share, and waits until discovery lists it. */
export async function prepare(send: Send): Promise<void> {
  const api = new Recorder(send, { namespace: "default", signal: AbortSignal.timeout(20_000) });
  await api.quietlyDefine(widgetDefinition);
  await api.untilAnswer("/apis", ({ body }) => body.groups?.some((group: { name: string }) => group.name === GROUP));
}

/** Returns the namespace of a case. No two cases share one, and it is the same in each run. */
export function namespaceOf(contractCase: Case): string {
  const siblings = CASES.filter(({ area }) => area === contractCase.area);
  return `${contractCase.area.toLowerCase().replaceAll(" ", "-")}-${siblings.indexOf(contractCase) + 1}`;
}
