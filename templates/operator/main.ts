/** The operator: its name and the parts it runs. */
import { operator } from "@op/sdk";
import { websites } from "./website/controller.ts";

const op = operator({ name: "website-operator", parts: { websites } });
export default op;
if (import.meta.main) await op.main();
