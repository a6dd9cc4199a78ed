/** The operator of tests/runtime/_killed.ts as a program that kills itself by SIGKILL as soon as so many of its writes were answered: no line of it runs after that. */
import { connect, type Connection } from "@op/sdk";
import { op } from "../runtime/_killed.ts";

const [kubeconfig, namespace, lastWrite] = Deno.args as [string, string, string];
const connection = await connect({ kubeconfig });
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
