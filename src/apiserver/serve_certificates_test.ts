import assert from "node:assert/strict";
import { localAuthority } from "../testing/local_certificate.ts";
import { CONFIG_MAPS, configMap, Wire } from "./_wire.ts";
import { createApiserver } from "./mod.ts";
import { serveWithClientCertificates, supportsClientCertificates } from "./serve_certificates.ts";
import { eventually } from "../../tests/eventually.ts";

type Test = (name: string, fn: () => Promise<void>) => void;

// The version of Deno decides which of these tests exist, so none is reported as ignored.
const testIfSupported: Test = (name, fn) => void (supportsClientCertificates() && Deno.test(name, fn));
const testUnlessSupported: Test = (name, fn) => void (supportsClientCertificates() || Deno.test(name, fn));

testUnlessSupported("serveWithClientCertificates rejects on a Deno without client certificates", async () => {
  const certificate = await (await localAuthority()).server();
  await using server = createApiserver();
  await assert.rejects(serveWithClientCertificates(server, { certificate }), Deno.errors.NotSupported);
});

testIfSupported(
  "serveWithClientCertificates authenticates users by certificate or token, and rejects other authorities' certificates",
  async () => {
    const [authority, otherAuthority] = await Promise.all([localAuthority(), localAuthority()]);
    const user = { name: "robot", groups: [] };
    await using server = createApiserver({ rbac: true, tokens: { secret: user } });
    await using served = await serveWithClientCertificates(server, { certificate: await authority.server() });
    const review = async (own: { certificate: string; key: string } | undefined, token?: string) => {
      using client = Deno.createHttpClient({
        caCerts: [authority.caCert],
        ...own && { cert: own.certificate, key: own.key },
      });
      const response = await fetch(`${served.url}/apis/authentication.k8s.io/v1/selfsubjectreviews`, {
        method: "POST",
        headers: { "content-type": "application/json", ...token !== undefined && { authorization: `Bearer ${token}` } },
        body: JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" }),
        client,
      });
      const { status, code } = await response.json();
      return code ?? status.userInfo;
    };
    const jane = await authority.client("jane", ["team", "other"]);

    const { extra, ...rest } = await review(jane);

    assert.deepEqual(rest, { username: "jane", groups: ["team", "other", "system:authenticated"] });
    assert.match(extra["authentication.kubernetes.io/credential-id"][0], /^X509SHA256=[0-9a-f]{64}$/);
    assert.equal((await review(jane, "secret")).username, "jane");
    assert.equal((await review(undefined, "secret")).username, "robot");
    assert.equal(await review(undefined), 403);
    assert.equal(await review(await otherAuthority.client("jane")), 401);
    assert.equal((await review(await otherAuthority.client("jane"), "secret")).username, "robot");
  },
);

testIfSupported(
  "serveWithClientCertificates sends watch events immediately, and closes the watch when the client disconnects",
  async () => {
    const authority = await localAuthority();
    await using wire = new Wire();
    await using served = await serveWithClientCertificates(wire.server, { certificate: await authority.server() });
    using client = Deno.createHttpClient({ caCerts: [authority.caCert] });
    const disconnect = new AbortController();
    const headers = { authorization: `Bearer ${served.token}` };
    const watch = await fetch(`${served.url}${CONFIG_MAPS}?watch=1`, { signal: disconnect.signal, client, headers });
    const reader = watch.body!.getReader();
    for (const name of ["a", "b"]) {
      await wire.post(CONFIG_MAPS, configMap(name));
      const { value } = await reader.read();
      assert.match(new TextDecoder().decode(value), new RegExp(`"type":"ADDED".*"name":"${name}"`));
    }
    const open = wire.server.watches;

    disconnect.abort();
    await reader.closed.catch(() => {});
    await eventually(() => assert.equal(wire.server.watches, 0));

    assert.equal(open, 1);
  },
);

testIfSupported("serveWithClientCertificates rejects if the port is in use", async () => {
  const certificate = await (await localAuthority()).server();
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  await using server = createApiserver();
  await assert.rejects(
    serveWithClientCertificates(server, { certificate, port: listener.addr.port }),
    Deno.errors.AddrInUse,
  );
});
