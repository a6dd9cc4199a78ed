/**
 * The public names, so that none comes or goes unseen. A new name needs a reason why nothing present does, an example and a line in
 * CHANGELOG.md; then it goes into the list here.
 */
import assert from "node:assert/strict";

/** `@op/sdk`. */
const FRONT_DOOR = `
access AnyKind ApiError Clock Condition Context Controller controller ControllerOptions Conversion conversion Counter
deny Duration duration Events every Gauge Histogram Index index Infer InferSchema Input InputSchema Kind KubeObject Log
MapContext ObjectMeta offload Operator operator OperatorOptions Part PermanentError Quantity Reason ReconcileRequest
ReconcileResult requeue Resource resource s SandboxPermissions Schema ServicesContext source SourceContext StatusPart
TemporaryError Trigger Watch watch WatchOptions Webhook webhook WritesStatus
`;

/** `s` of `@op/sdk`, into which the list above does not look. */
const SCHEMA_BUILDERS = `
AlternativeOptions Annotations anything AnythingOptions array ArrayOptions atLeastOneOf atMostOneOf boolean
BooleanOptions bytes ChoiceOptions dateTime duration EmbeddedMetadata EmbeddedObject embeddedResource enum
exactlyOneOf extend ExternalDocs immutable ImmutableOptions integer intOrString IntOrStringOptions Keywords literal
map MapOptions nullable number NumberOptions object ObjectOptions omit OpenEmbeddedObject optional partial pick
Presence Properties quantity QuantityOptions raw string StringFormat StringOptions TextOptions ValidationReason
ValidationRule ValueValidation with WithOptions
`;

/** `@op/sdk/validation`. */
const VALIDATION = `
applyDefaults Defaulted definitionWarnings FieldError FieldErrorReason prune Pruned ToDefault validate
ValidationOptions
`;

/** `@op/sdk/testing`. */
const TESTING = `
AdvanceOptions Apiserver ApiserverOptions AuditEvent CertificateAccess CodeFailure ClientCertificate ControlPlane createApiserver WatchFault
FakeContext fakeContext FakeContextOptions FakeObject FakeWrite Fault FaultFilter Faults faults FetchOptions InjectedFault
kubeconfigFor KubeconfigOptions LocalAuthority localAuthority localCertificate LogLine MemoryCluster memoryCluster
MemoryClusterOptions ObjectLocation OperatorFailedError PolicyRule RealCluster realCluster RealClusterOptions RequestFilter RequestRecord
RequestVerb RestartServerOptions roundTrips RoundTripsOptions serveApiserver ServedApiserver ServeOptions
ServerCertificate serveWithClientCertificates ServeWithClientCertificatesOptions ServiceCaller SettleError SettleOptions StopOptions
supportsClientCertificates TokenAccess UsedRbacRule User UserAccess UserOptions VirtualClock
`;

/** `@op/sdk/kinds`: generated, and too many to read here. A name a line. */
const KINDS = new URL("golden/kinds.txt", import.meta.url);

/** `@op/sdk/schemas`, and the same with descriptions: `@op/sdk/schemas/short`, `@op/sdk/schemas/full`. A name a line. */
const SCHEMAS = new URL("golden/schemas.txt", import.meta.url);

Deno.test('"@op/sdk" has the names of the list, no more and no fewer', async () => {
  assert.deepEqual(await difference("mod.ts", FRONT_DOOR), { added: [], removed: [] });
});

Deno.test('"s" of "@op/sdk" has the names of the list, no more and no fewer', async () => {
  assert.deepEqual(await difference("src/schema/builders.ts", SCHEMA_BUILDERS), { added: [], removed: [] });
});

Deno.test('"@op/sdk/validation" has the names of the list, no more and no fewer', async () => {
  assert.deepEqual(await difference("src/resource/validation.ts", VALIDATION), { added: [], removed: [] });
});

Deno.test('"@op/sdk/testing" has the names of the list, no more and no fewer', async () => {
  assert.deepEqual(await difference("src/testing/mod.ts", TESTING), { added: [], removed: [] });
});

Deno.test('"@op/sdk/kinds" has the names of its list, no more and no fewer', async () => {
  assert.deepEqual(await difference("src/kinds/mod.ts", await Deno.readTextFile(KINDS)), { added: [], removed: [] });
});

for (const door of ["schemas", "schemas/short", "schemas/full"]) {
  Deno.test(`"@op/sdk/${door}" has the names of the list of schemas, no more and no fewer`, async () => {
    const list = await Deno.readTextFile(SCHEMAS);
    assert.deepEqual(await difference(`src/kinds/${door}/mod.ts`, list), { added: [], removed: [] });
  });
}

async function difference(file: string, list: string): Promise<{ added: string[]; removed: string[] }> {
  const names = await publicNames(file);
  const listed = list.split(/\s+/).filter((name) => name !== "");
  return {
    added: names.filter((name) => !listed.includes(name)),
    removed: listed.filter((name) => !names.includes(name)),
  };
}

/** What `deno doc` tells: version 1, of Deno 2.4, has a list of names; version 2 has one for each file. */
type Documentation =
  | { readonly version: 1; readonly nodes: readonly { readonly name: string; readonly kind: string }[] }
  | {
    readonly version: 2;
    readonly nodes: Readonly<Record<string, { readonly symbols?: readonly { readonly name: string }[] }>>;
  };

/** Values and types that a module exports, sorted, each once. */
async function publicNames(file: string): Promise<string[]> {
  const args = ["doc", "--json", file];
  const command = new Deno.Command(Deno.execPath(), { args, cwd: new URL("../", import.meta.url) });
  const { success, stdout, stderr } = await command.output();
  assert(success, new TextDecoder().decode(stderr));
  const documentation: Documentation = JSON.parse(new TextDecoder().decode(stdout));
  const symbols = documentation.version === 1
    ? documentation.nodes.filter((node) => node.kind !== "moduleDoc" && node.kind !== "import")
    : Object.values(documentation.nodes).flatMap((node) => node.symbols ?? []);
  return [...new Set(symbols.map((symbol) => symbol.name))].sort();
}
