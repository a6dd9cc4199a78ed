/** What users declare: plain data. */
export * from "./access.ts";
export * from "./context.ts";
export * from "./controller.ts";
export * from "./outcome.ts";
export * from "./permissions.ts";
