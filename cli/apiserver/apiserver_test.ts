import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { supportsClientCertificates } from "@op/sdk/testing";
import { cli } from "../cli.ts";
import { RecordedIo } from "../_recorded_io.ts";

/** An Io that can be stopped, and that reports when the server has started. */
class StoppableIo extends RecordedIo {
  readonly #stop = new AbortController();
  readonly #ready = Promise.withResolvers<void>();
  readonly stop: AbortSignal = this.#stop.signal;
  /** Resolves when the command has printed its last line, which names Ctrl-C. */
  readonly ready: Promise<void> = this.#ready.promise;

  override out = (text: string): void => {
    this.stdout += text;
    if (text.includes("Ctrl-C")) this.#ready.resolve();
  };

  end(): void {
    this.#stop.abort();
  }
}

for (const flags of [[], ["--rbac"]]) {
  Deno.test(`${["op apiserver", ...flags].join(" ")} serves HTTPS only to the user of its kubeconfig, until it is stopped`, async () => {
    const folder = await Deno.makeTempDir();
    const io = new StoppableIo(folder);
    const ended = cli(["apiserver", "--kubeconfig", "config", ...flags], io);
    await Promise.race([io.ready, ended.then((code) => assert.fail(`it ended with ${code}: ${io.stderr}`))]);

    const config = JSON.parse(await Deno.readTextFile(`${folder}/config`));
    const { server, "certificate-authority-data": authority } = config.clusters[0].cluster;
    const { user } = config.users[0];
    // Servers on Deno 2.4 cannot request client certificates, so the kubeconfig has a token there.
    const certificate = supportsClientCertificates()
      ? { cert: atob(user["client-certificate-data"]), key: atob(user["client-key-data"]) }
      : {};
    const token = user.token ?? "";
    const read = async (options: { cert: string; key: string } | Record<string, never>, token: string) => {
      using client = Deno.createHttpClient({ caCerts: [atob(authority)], ...options });
      const headers: Record<string, string> = token === "" ? {} : { authorization: `Bearer ${token}` };
      const response = await fetch(`${server}/api/v1/namespaces/default`, { headers, client });
      return [response.status, (await response.json()).kind];
    };

    assert.match(
      io.stdout,
      new RegExp(`Serving a Kubernetes API on ${server}${flags.length === 0 ? "\\n" : " with RBAC"}`),
    );
    assert.match(io.stdout, new RegExp(`export KUBECONFIG=${folder}/config`));
    assert.deepEqual(await read(certificate, token), [200, "Namespace"]);
    assert.deepEqual(await read({}, ""), [flags.length === 0 ? 401 : 403, "Status"]);
    assert.deepEqual(await read({}, "wrong"), [401, "Status"]);
    assert.equal((await Deno.stat(`${folder}/config`)).mode! & 0o777, 0o600);

    io.end();
    assert.equal(await ended, 0);
    await assert.rejects(fetch(server));
    await assert.rejects(Deno.stat(`${folder}/config`), Deno.errors.NotFound);
    await Deno.remove(folder, { recursive: true });
  });
}

Deno.test("op apiserver --no-tls serves plain HTTP, and rejects requests with another Host header", async () => {
  const folder = await Deno.makeTempDir();
  const io = new StoppableIo(folder);
  const ended = cli(["apiserver", "--kubeconfig", "config", "--no-tls"], io);
  await Promise.race([io.ready, ended.then((code) => assert.fail(`it ended with ${code}: ${io.stderr}`))]);
  const { server } = JSON.parse(await Deno.readTextFile(`${folder}/config`)).clusters[0].cluster;
  const { hostname, port } = new URL(server);
  const statusFor = async (host: string) => {
    using connection = await Deno.connect({ hostname, port: Number(port) });
    const request = `GET /api/v1/namespaces HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
    await connection.write(new TextEncoder().encode(request));
    return /^HTTP\/1\.1 (\d+)/.exec(await new Response(connection.readable).text())?.[1];
  };
  assert.equal(await statusFor(`127.0.0.1:${port}`), "200");
  assert.equal(await statusFor("attacker.example"), "403");
  io.end();
  assert.equal(await ended, 0);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("op apiserver does not delete a kubeconfig that the user edited, and ends normally if the user deleted it", async () => {
  const folder = await Deno.makeTempDir();
  const exists: boolean[] = [];
  for (const change of [() => Deno.writeTextFile(`${folder}/config`, "mine"), () => Deno.remove(`${folder}/config`)]) {
    const io = new StoppableIo(folder);
    const ended = cli(["apiserver", "--kubeconfig", "config", "--force"], io);
    await io.ready;
    await change();
    io.end();
    assert.equal(await ended, 0, io.stderr);
    exists.push(await pathExists(`${folder}/config`));
  }
  assert.deepEqual(exists, [true, false]);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("op apiserver deletes its kubeconfig when it receives SIGINT or SIGTERM", async (t) => {
  const main = fileURLToPath(new URL("../main.ts", import.meta.url));
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    await t.step(signal, async () => {
      const folder = await Deno.makeTempDir();
      const command = new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", main, "apiserver", "--kubeconfig", `${folder}/config`],
        stdout: "piped",
      });
      await using process = command.spawn();
      let output = "";
      for await (const text of process.stdout.pipeThrough(new TextDecoderStream())) {
        output += text;
        if (!output.includes("Ctrl-C") || !(await pathExists(`${folder}/config`))) continue;
        process.kill(signal);
      }
      assert.equal((await process.status).code, 0);
      assert.equal(await pathExists(`${folder}/config`), false);
      await Deno.remove(folder, { recursive: true });
    });
  }
});

function pathExists(path: string): Promise<boolean> {
  return Deno.stat(path).then(() => true, () => false);
}

Deno.test("op apiserver writes a temporary kubeconfig and deletes it at the end", async () => {
  const io = new StoppableIo();
  const ended = cli(["apiserver"], io);
  await io.ready;

  const [, path] = /KUBECONFIG=(\S+)/.exec(io.stdout) ?? assert.fail(io.stdout);
  const [, url] = /API on (https:\S+)\n/.exec(io.stdout) ?? assert.fail(io.stdout);
  assert.equal(JSON.parse(await Deno.readTextFile(path!)).clusters[0].cluster.server, url);

  io.end();
  assert.equal(await ended, 0);
  await assert.rejects(Deno.stat(path!), Deno.errors.NotFound);
});

Deno.test("op apiserver rejects an existing kubeconfig without --force, and invalid and used ports", async () => {
  const file = await Deno.makeTempFile();
  const io = new RecordedIo("/");
  assert.equal(await cli(["apiserver", "--kubeconfig", file], io), 1);
  assert.match(io.stderr, /the file exists\. Add --force/);
  assert.equal(await Deno.readTextFile(file), "");
  await Deno.remove(file);

  assert.equal(await cli(["apiserver", "--port", "70000"], io), 2);
  assert.match(io.stderr, /Cannot listen on port "70000"/);

  using other = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  assert.equal(await cli(["apiserver", "--port", String(other.addr.port)], io), 1);
  assert.match(io.stderr, /Use another --port/);
});
