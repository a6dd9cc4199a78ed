/**
 * Faults that the contract must find in who is asked before something is done: webhooks, about
 * writes, connections and versions.
 */
import type { PlantedFault } from "./planted.ts";

/** Faults about admission, connections and conversions. */
export const ADMISSION: readonly PlantedFault[] = [
  {
    title: "a webhook that may be passed over stops the write",
    file: "apiserver/admission/dispatch.ts",
    from: `if (failurePolicy === "Ignore") return undefined;`,
    to: "",
    foundBy: "admission failures: a webhook that nobody serves and that may be passed over",
  },
  {
    title: "no webhook is asked again",
    file: "apiserver/admission/dispatch.ts",
    from: "if (isChanged && again.size > 0) await round(true);",
    to: "",
    foundBy: "admission failures: a webhook that wants it is asked again",
  },
  {
    title: "labels that an object had do not select it",
    file: "apiserver/admission/matching.ts",
    from: "return [object, old].some(",
    to: "return [object ?? old].some(",
    foundBy: "admission matching: labels of the object, before or after",
  },
  {
    title: "what webhooks warn of is not passed on",
    file: "apiserver/admission/dispatch.ts",
    from: "write.warnings.push(...response.warnings);",
    to: "",
    foundBy: "admission: webhooks warn",
  },
  {
    title: "validating webhooks see the object as it was sent",
    file: "apiserver/admission/dispatch.ts",
    from: "return await mutate(core, write, step.object, step.old) ?? step.object;",
    to: "await mutate(core, write, step.object, step.old); return step.object;",
    foundBy: "admission: a mutating webhook changes what is stored",
  },
  {
    title: "who may read by a connection may run by it",
    file: "apiserver/subresources/connect.ts",
    from: `if (subresource !== "proxy" && verb !== "create") mustBeAllowed`,
    to: "if (false) mustBeAllowed",
    foundBy: "connections: who may read may not run anything",
  },
  {
    title: "what a webhook changed of a connection is not taken",
    file: "apiserver/subresources/connect.ts",
    from: "podNode(core, target, reviewed)",
    to: "podNode(core, target, options)",
    foundBy: "connections: a webhook changes what a connection is asked for with",
  },
  {
    title: "objects are shown in the version that is stored",
    file: "apiserver/webhooks/conversion.ts",
    from: "return withConvertedMetadata(object, result);",
    to: "return object;",
    foundBy: "conversion: an object is written and read in each version",
  },
  {
    title: "a converter may make another object of one",
    file: "apiserver/webhooks/conversion.ts",
    from: "if (was !== is) return",
    to: "if (false) return",
    foundBy: "conversion: a converter answers objects of another name",
  },
];
