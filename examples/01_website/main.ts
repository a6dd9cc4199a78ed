/** The operator. */
import { operator } from "@op/sdk";
import { websites } from "./controller.ts";

const op = operator({ name: "website-operator", version: "0.1.0", parts: { websites } });
export default op;
if (import.meta.main) await op.main();
