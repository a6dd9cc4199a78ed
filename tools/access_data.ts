/**
 * Writes `src/openapi/access.gen.ts` from a live Kubernetes: the roles and bindings that every cluster begins with.
 *
 * ```sh
 * kubectl proxy --port 8001 &
 * deno run --allow-net=127.0.0.1:8001 --allow-write=src/openapi tools/access_data.ts http://127.0.0.1:8001
 * ```
 *
 * The cluster should be fresh: whatever is marked as Kubernetes' own (`kubernetes.io/bootstrapping`) is taken as it is.
 */

/** A role or binding as read. */
export interface AccessObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly resourceVersion?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly rules?: unknown;
  readonly aggregationRule?: unknown;
  readonly roleRef?: unknown;
  readonly subjects?: unknown;
}

/** The lists that are read, by their plural names. */
const PLURALS = ["clusterroles", "clusterrolebindings", "roles", "rolebindings"] as const;

/**
 * The text of the generated module.
 *
 * @param gitVersion What the server says it is, such as `v1.36.3`.
 * @param lists The objects, by plural name.
 * @returns A TypeScript module.
 */
export function accessModule(gitVersion: string, lists: Readonly<Record<string, readonly AccessObject[]>>): string {
  const all = PLURALS.flatMap((plural) => (lists[plural] ?? []).map((object) => ({ plural, object })));
  const version = ({ object }: typeof all[number]) => Number(object.metadata.resourceVersion);
  const kept = all.sort((a, b) => version(a) - version(b))
    .flatMap(({ plural, object }) => bootstrapped(object).map((each) => [plural, each]));
  const text = JSON.stringify(kept).replaceAll("\\", "\\\\").replaceAll("`", "\\`");
  return `// The roles and bindings of a fresh Kubernetes ${gitVersion}. Made by tools/access_data.ts: do not edit.
/** JSON: objects, each after the plural name of its kind, in the order in which they are made; in \`rbac.authorization.k8s.io/v1\`. */
export const accessData: string = \`${text}\`;
`;
}

/** What of an object is the same in each cluster; the rules of an aggregated role are gathered anew. */
function bootstrapped(object: AccessObject): AccessObject[] {
  const { metadata: { name, namespace, labels, annotations }, aggregationRule, roleRef, subjects } = object;
  if (labels?.["kubernetes.io/bootstrapping"] !== "rbac-defaults") return [];
  const metadata = {
    name,
    ...(namespace !== undefined && { namespace }),
    labels,
    ...(annotations && { annotations }),
  };
  return [{
    metadata,
    ...(aggregationRule !== undefined && { aggregationRule }),
    ...(object.rules !== undefined && { rules: aggregationRule === undefined ? object.rules : null }),
    ...(subjects !== undefined && { subjects }),
    ...(roleRef !== undefined && { roleRef }),
  }];
}

if (import.meta.main) {
  const [url] = Deno.args;
  if (url === undefined) throw new Error("Cannot read a cluster: its URL is not given");
  const read = async (path: string) => await (await fetch(new URL(path, url))).json();
  const lists: Record<string, readonly AccessObject[]> = {};
  for (const plural of PLURALS) lists[plural] = (await read(`/apis/rbac.authorization.k8s.io/v1/${plural}`)).items;
  const { gitVersion } = await read("/version");
  await Deno.writeTextFile(new URL("../src/openapi/access.gen.ts", import.meta.url), accessModule(gitVersion, lists));
}
