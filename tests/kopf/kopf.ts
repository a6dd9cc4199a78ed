/** kopf's side: starts the programs in `operators/` with kopf, and records what they do. */
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { localCertificate, type RealCluster, realCluster } from "../../src/testing/mod.ts";
import { pythonPackages } from "../clients/_python_packages.ts";
import { type OperatorOptions, type OperatorProcess, play, prepare } from "./driver.ts";
import type { Recording, Scenario } from "./scenario.ts";

const OPERATORS = fileURLToPath(new URL("./operators/", import.meta.url));
const RECORDINGS = new URL("./recordings/", import.meta.url);
const REQUIREMENTS = new URL("../clients/kopf/requirements.in", import.meta.url);

/** Records scenarios on one cluster. Dispose of it at the end. */
export class KopfRecorder implements AsyncDisposable {
  readonly #cluster: RealCluster;
  readonly #packages: string;
  readonly #folder: string;

  private constructor(cluster: RealCluster, packages: string, folder: string) {
    this.#cluster = cluster;
    this.#packages = packages;
    this.#folder = folder;
  }

  /** Starts a cluster. */
  static async start(): Promise<KopfRecorder> {
    const packages = await pythonPackages();
    const cluster = await realCluster({
      controllerManager: ["garbage-collector-controller", "deployment-controller"],
    });
    await prepare(cluster);
    const folder = await Deno.makeTempDir({ prefix: "kopf-" });
    const certificate = await localCertificate();
    await Deno.writeTextFile(`${folder}/kubeconfig`, cluster.admin.kubeconfig);
    await Deno.writeTextFile(`${folder}/cert.pem`, certificate.certificate);
    await Deno.writeTextFile(`${folder}/key.pem`, certificate.key);
    await Deno.writeTextFile(`${folder}/ca.pem`, certificate.caCert);
    return new KopfRecorder(cluster, packages, folder);
  }

  /** Plays a scenario with kopf. */
  async record(scenario: Scenario): Promise<Recording> {
    const steps = await play(scenario, this.#cluster, (options) => this.#startKopf(options));
    return {
      program: await kopfVersion(),
      kubernetes: await this.#kubernetesVersion(),
      inputs: await inputsOf(scenario),
      steps,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#cluster[Symbol.asyncDispose]();
    await Deno.remove(this.#folder, { recursive: true });
  }

  async #kubernetesVersion(): Promise<string> {
    const { gitVersion } = await (await this.#cluster.fetch("/version")).json();
    return gitVersion;
  }

  #startKopf({ scenario, namespace, driver, operator }: OperatorOptions): Promise<OperatorProcess> {
    const program = `${OPERATORS}${scenario.name}.py`;
    // Operators of one scenario have increasing priorities.
    const peering = scenario.peers ? ["--peering=default", `--priority=${operator.charCodeAt(0)}`] : ["--standalone"];
    const child = new Deno.Command("python3", {
      args: ["-m", "kopf", "run", ...peering, `--namespace=${namespace}`, `${OPERATORS}reporting.py`, program],
      clearEnv: true,
      env: {
        DRIVER: driver,
        OPERATOR: operator,
        FILES: this.#folder,
        KUBECONFIG: `${this.#folder}/kubeconfig`,
        PYTHONPATH: this.#packages,
        PYTHONDONTWRITEBYTECODE: "1",
        PATH: Deno.env.get("PATH") ?? "/usr/bin:/bin",
        HOME: this.#folder,
        USER: "kopf",
      },
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).spawn();
    let text = "";
    const ended = (async () => {
      for await (const chunk of child.stderr.pipeThrough(new TextDecoderStream())) text = (text + chunk).slice(-20_000);
      await child.status;
    })();
    let isEnded = false;
    ended.then(() => isEnded = true);
    return Promise.resolve({
      log: () => text,
      async stop(signal) {
        if (!isEnded) child.kill(signal);
        await ended;
      },
    });
  }
}

/** Returns the committed recording of a scenario, or `undefined` if there is none. */
export async function committedRecording(name: string): Promise<Recording | undefined> {
  try {
    return JSON.parse(await Deno.readTextFile(new URL(`${name}.json`, RECORDINGS)));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** Writes a recording to be committed. */
export async function commit(name: string, recording: Recording): Promise<void> {
  await Deno.mkdir(RECORDINGS, { recursive: true });
  await Deno.writeTextFile(new URL(`${name}.json`, RECORDINGS), `${JSON.stringify(recording, undefined, 2)}\n`);
}

/**
 * Returns the hash of what a recording depends on: kopf's version, the scenario and the program.
 */
export async function inputsOf(scenario: Scenario): Promise<string> {
  const hash = createHash("sha256").update(await kopfVersion()).update(JSON.stringify(scenario));
  for (const file of ["reporting.py", `${scenario.name}.py`]) hash.update(await Deno.readTextFile(OPERATORS + file));
  return hash.digest("hex").slice(0, 16);
}

/** Returns the version of kopf that is installed, such as `kopf 1.45.2`. */
async function kopfVersion(): Promise<string> {
  const [, version] = /^kopf==(\S+)$/m.exec(await Deno.readTextFile(REQUIREMENTS)) ?? [];
  return `kopf ${version}`;
}

/** Returns the names of all programs. */
export async function recordedPrograms(): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of Deno.readDir(OPERATORS)) {
    if (name.endsWith(".py") && name !== "reporting.py") names.push(name.slice(0, -".py".length));
  }
  return names.sort();
}
