import config from "./deno.json" with { type: "json" };

/** The version of `op`, which is also the version of the SDK in new projects. */
export const VERSION: string = config.version;
