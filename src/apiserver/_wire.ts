/** Test fixture: sends JSON requests to an API server in the same process. */
import { VirtualClock } from "../base/virtual_clock.ts";
import { type Apiserver, type ApiserverOptions, createApiserver } from "./mod.ts";

/** A response with its decoded body. */
export interface Answer {
  readonly status: number;
  // deno-lint-ignore no-explicit-any
  readonly body: any;
  readonly headers: Headers;
}

/** Options of {@linkcode Wire.call}. */
export interface CallOptions {
  readonly contentType?: string;
  readonly accept?: string;
  readonly agent?: string;
}

/** An API server with a virtual clock, and methods to call it. */
export class Wire implements AsyncDisposable {
  readonly clock: VirtualClock = new VirtualClock();
  readonly server: Apiserver;

  constructor(options: ApiserverOptions = {}) {
    this.server = createApiserver({ clock: this.clock, ...options });
  }

  async call(method: string, path: string, body?: unknown, options: CallOptions = {}): Promise<Answer> {
    const headers = new Headers({ "user-agent": options.agent ?? "tester/1.0" });
    if (body !== undefined) headers.set("content-type", options.contentType ?? "application/json");
    if (options.accept !== undefined) headers.set("accept", options.accept);
    const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
    const init = { method, headers, ...(text !== undefined && { body: text }) };
    const response = await this.server.fetch(new Request(`http://server${path}`, init));
    const answer = await response.text();
    const isJson = response.headers.get("content-type")?.includes("json");
    return { status: response.status, body: isJson ? JSON.parse(answer) : answer, headers: response.headers };
  }

  get(path: string, options?: CallOptions): Promise<Answer> {
    return this.call("GET", path, undefined, options);
  }

  post(path: string, body: unknown, options?: CallOptions): Promise<Answer> {
    return this.call("POST", path, body, options);
  }

  put(path: string, body: unknown): Promise<Answer> {
    return this.call("PUT", path, body);
  }

  merge(path: string, body: unknown): Promise<Answer> {
    return this.call("PATCH", path, body, { contentType: "application/merge-patch+json" });
  }

  apply(path: string, body: unknown): Promise<Answer> {
    return this.call("PATCH", path, body, { contentType: "application/apply-patch+yaml" });
  }

  delete(path: string, body?: unknown): Promise<Answer> {
    return this.call("DELETE", path, body);
  }

  /** Opens a watch. */
  async watch(path: string): Promise<Watch> {
    const stop = new AbortController();
    const response = await this.server.fetch(new Request(`http://server${path}`, { signal: stop.signal }));
    return new Watch(response, stop);
  }

  /** Waits until the server has completed its background steps. */
  async settle(): Promise<void> {
    while (this.server.busy > 0) await Promise.resolve();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.stop();
  }
}

/** An open watch that is read line by line. */
export class Watch implements AsyncDisposable {
  readonly status: number;
  readonly #stop: AbortController;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  #rest = "";

  constructor(response: Response, stop: AbortController) {
    this.status = response.status;
    this.#stop = stop;
    if (response.body === null) throw new TypeError("Watch failed: the response has no body");
    this.#reader = response.body.getReader();
  }

  /** Returns the next event; `undefined` when the watch has ended. */
  // deno-lint-ignore no-explicit-any
  async next(): Promise<any> {
    while (!this.#rest.includes("\n")) {
      const { value, done } = await this.#reader.read();
      if (done) return undefined;
      this.#rest += this.#decoder.decode(value, { stream: true });
    }
    const end = this.#rest.indexOf("\n");
    const line = this.#rest.slice(0, end);
    this.#rest = this.#rest.slice(end + 1);
    return JSON.parse(line);
  }

  /** Returns the types and names of the next events. */
  async names(count: number): Promise<string[]> {
    const found: string[] = [];
    for (let i = 0; i < count; i++) {
      const event = await this.next();
      found.push(`${event.type} ${event.object.metadata.name ?? ""}`.trim());
    }
    return found;
  }

  abort(): void {
    this.#stop.abort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reader.cancel();
  }
}

export const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
export const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
export const WEBSITES = "/apis/demo.example.com/v1/namespaces/default/websites";

/** A ConfigMap. */
export function configMap(name: string, data?: Record<string, string>, metadata: object = {}): object {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, ...metadata }, ...(data && { data }) };
}

/** A Website. */
export function website(name: string, spec: object, metadata: object = {}): object {
  return { apiVersion: "demo.example.com/v1", kind: "Website", metadata: { name, ...metadata }, spec };
}

/** The CustomResourceDefinition of Website. */
export function websiteDefinition(changes: object = {}): object {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "websites.demo.example.com" },
    spec: {
      group: "demo.example.com",
      scope: "Namespaced",
      names: { kind: "Website", plural: "websites", shortNames: ["ws"] },
      versions: [{
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: [{ name: "Host", type: "string", jsonPath: ".spec.host" }],
        schema: {
          openAPIV3Schema: {
            type: "object",
            required: ["spec"],
            properties: {
              spec: {
                type: "object",
                required: ["host"],
                properties: {
                  host: { type: "string", minLength: 2 },
                  replicas: { type: "integer", minimum: 0, maximum: 20, default: 1 },
                  tags: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
                  ports: {
                    type: "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    items: {
                      type: "object",
                      required: ["name"],
                      properties: { name: { type: "string" }, port: { type: "integer" } },
                    },
                  },
                },
              },
              status: { type: "object", properties: { url: { type: "string" }, ready: { type: "integer" } } },
            },
          },
        },
      }],
      ...changes,
    },
  };
}

/** Creates a server that serves Website. */
export async function withWebsites(options: ApiserverOptions = {}): Promise<Wire> {
  const wire = new Wire(options);
  await wire.post(DEFINITIONS, websiteDefinition());
  await wire.settle();
  return wire;
}
