/** Faults in admission, connections and conversions that the contract must find. */
import type { PlantedFault } from "./planted.ts";

/** Faults about admission, connections and conversions. */
export const ADMISSION: readonly PlantedFault[] = [
  {
    title: "a webhook with failurePolicy Ignore blocks the write",
    file: "apiserver/admission/dispatch.ts",
    from: `if (failurePolicy === "Ignore") return undefined;`,
    to: "",
    foundBy: "admission failures: an unreachable webhook with failurePolicy Ignore",
  },
  {
    title: "webhooks are not reinvoked",
    file: "apiserver/admission/dispatch.ts",
    from: "if (isChanged && reinvoked.size > 0) await round(true);",
    to: "",
    foundBy: "admission failures: a webhook with reinvocationPolicy IfNeeded is called again",
  },
  {
    title: "object selectors ignore the old object",
    file: "apiserver/admission/matching.ts",
    from: "return [object, old].some(",
    to: "return [object ?? old].some(",
    foundBy: "admission matching: object selectors see the old and the new object",
  },
  {
    title: "warnings of webhooks are dropped",
    file: "apiserver/admission/dispatch.ts",
    from: "write.warnings.push(...response.warnings);",
    to: "",
    foundBy: "admission: warnings of webhooks",
  },
  {
    title: "validating webhooks see the object as it was sent",
    file: "apiserver/admission/dispatch.ts",
    from: "return await mutate(core, write, step.object, step.old) ?? step.object;",
    to: "await mutate(core, write, step.object, step.old); return step.object;",
    foundBy: "admission: a mutating webhook changes what is stored",
  },
  {
    title: "get allows connections that need create",
    file: "apiserver/subresources/connect.ts",
    from: `if (subresource !== "proxy" && verb !== "create") checkAllowed`,
    to: "if (false) checkAllowed",
    foundBy: "connections: get does not allow connections that need create",
  },
  {
    title: "changes of connection options by webhooks are dropped",
    file: "apiserver/subresources/connect.ts",
    from: "podNode(core, target, reviewed)",
    to: "podNode(core, target, options)",
    foundBy: "connections: a webhook changes the options of a connection",
  },
  {
    title: "objects are returned in the stored version",
    file: "apiserver/webhooks/conversion.ts",
    from: "return withConvertedMetadata(object, result);",
    to: "return object;",
    foundBy: "conversion: an object is written and read in each version",
  },
  {
    title: "a converter may return another object",
    file: "apiserver/webhooks/conversion.ts",
    from: "if (before !== after) return",
    to: "if (false) return",
    foundBy: "conversion: a conversion webhook returns objects of another name",
  },
];
