/**
 * An API server in this process and projects that are deployed to it, for tests of `op deploy` and
 * `op uninstall`.
 */
import { createApiserver, kubeconfigFor, serveApiserver } from "@op/sdk/testing";
import { type OperatorFolder, operatorFolder } from "../_operator_folder.ts";

/** Options that name the cluster. */
export const CLUSTER = ["--kubeconfig", "kubeconfig"];

/** Deploys a project's overlay. */
export const DEPLOY = ["deploy", "prod", "--no-wait", ...CLUSTER];

/** Removes a project's operator. */
export const UNINSTALL = ["uninstall", "--yes", "--timeout", "5s", ...CLUSTER];

/** A served API server. */
export class TestCluster implements AsyncDisposable {
  readonly #stack = new AsyncDisposableStack();
  readonly #server = this.#stack.use(createApiserver());
  readonly #served = this.#stack.use(serveApiserver(this.#server));

  /**
   * Creates a project with manifests and an overlay "prod".
   *
   * @param body The statements of its module.
   * @param id The project's ID. @default {none}
   */
  async project(body: string, id?: string): Promise<OperatorFolder> {
    const folder = this.#stack.use(await operatorFolder(body));
    await folder.write("kubeconfig", kubeconfigFor(this.#served));
    if (id !== undefined) await folder.write("operator.toml", `[project]\nid = "${id}"\n`);
    for (const args of [["manifests"], ["overlay", "prod"]]) {
      const { code, stderr } = await folder.op("generate", ...args);
      if (code !== 0) throw new Error(stderr);
    }
    return folder;
  }

  /** Sends a request and returns the status and the object. */
  async send(
    method: "GET" | "POST" | "PATCH",
    path: string,
    body?: unknown,
    type = "application/json",
  ): Promise<readonly [number, TestObject]> {
    const response = await fetch(this.#served.url + path, {
      method,
      headers: { authorization: `Bearer ${this.#served.token}`, "content-type": type },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return [response.status, await response.json()];
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}

/** An object as JSON. */
// deno-lint-ignore no-explicit-any -- tests read fields of any kind.
type TestObject = any;
