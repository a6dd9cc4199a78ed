/** The operator of tests/runtime/_killed.ts as a program that kills itself by SIGKILL as soon as so many of its writes were answered: no line of it runs after that. */
import type { Connection } from "@op/sdk/client";
import { op } from "../runtime/_killed.ts";
import { asPerson, asPod } from "./_as_pod.ts";

const [way, place, namespace, lastWrite] = Deno.args as [string, string, string, string];
const connection = way === "pod" ? await asPod(JSON.parse(place)) : asPerson(JSON.parse(place));
let writes = 0;
const mortal: Connection = {
  ...connection,
  async send(url, outgoing) {
    const response = await connection.send!(url, outgoing);
    if (outgoing.method !== "GET" && ++writes === Number(lastWrite)) Deno.kill(Deno.pid, "SIGKILL");
    return response;
  },
};
await op.run({ connection: mortal, namespaces: [namespace], checkAccess: false });
