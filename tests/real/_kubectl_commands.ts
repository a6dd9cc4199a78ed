/** The commands that kubectl runs on both servers, in this order, and the files that they read. */

/** A command, and how to compare its output. */
export interface Command {
  readonly args: readonly string[];
  readonly input?: string;
  /** @default {0} */
  readonly code?: number;
  /** Another command, which runs at the same time. */
  readonly meanwhile?: readonly string[];
  /**
   * The output after which a command that does not end by itself is stopped. Its exit code then
   * counts as 0.
   */
  readonly until?: RegExp;
  /**
   * Whether to repeat the command until the outputs are equal, because a real server applies
   * earlier changes to discovery, OpenAPI or RBAC with a delay.
   */
  readonly isRepeated?: boolean;
  /** Whether the order of the lines is unspecified. */
  readonly unordered?: boolean;
  /** Lines that are not compared. */
  readonly ignoredLines?: RegExp;
}

const command = (line: string, more: Omit<Command, "args"> = {}): Command => ({ args: line.split(" "), ...more });

const CONFIG_MAP = `apiVersion: v1
kind: ConfigMap
metadata: {name: settings, labels: {app: shop}}
data: {color: red, size: "2"}
`;

const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: main, image: "nginx:1", ports: [{containerPort: 80}], env: [{name: MODE, value: fast}]}
      - {name: side, image: "busybox"}
`;

const DEFINITION = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: websites.demo.example.com}
spec:
  group: demo.example.com
  scope: Namespaced
  names: {kind: Website, plural: websites, shortNames: [ws], categories: [all]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}
    additionalPrinterColumns:
    - {name: Host, type: string, jsonPath: .spec.host}
    - {name: Replicas, type: integer, jsonPath: .spec.replicas, priority: 1}
    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
    schema:
      openAPIV3Schema:
        type: object
        description: A site on the web.
        required: [spec]
        properties:
          spec:
            type: object
            description: What is wanted.
            required: [host]
            properties:
              host: {type: string, minLength: 2, description: Its name in the DNS.}
              replicas: {type: integer, minimum: 0, maximum: 20, default: 1}
              theme: {type: string, enum: [light, dark]}
              ports:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items: {type: object, required: [name], properties: {name: {type: string}, port: {type: integer}}}
          status:
            type: object
            properties:
              replicas: {type: integer}
              conditions:
                type: array
                items: {type: object, properties: {type: {type: string}, status: {type: string}}}
`;

const WEBSITE = `apiVersion: demo.example.com/v1
kind: Website
metadata: {name: shop}
spec: {host: shop.example.com, ports: [{name: http, port: 80}]}
`;

/** File contents by name. */
export const FILES: Readonly<Record<string, string>> = {
  "config.yaml": CONFIG_MAP,
  "config2.yaml": CONFIG_MAP.replace("red", "blue").replace(', size: "2"', ""),
  "deployment.yaml": DEPLOYMENT,
  "deployment2.yaml": DEPLOYMENT.replace("nginx:1", "nginx:2").replace("fast", "slow"),
  "definition.yaml": DEFINITION,
  "website.yaml": WEBSITE,
  "website2.yaml": WEBSITE.replace("shop.example.com", "store.example.com").replace("port: 80", "port: 81"),
  "wrong.yaml": WEBSITE.replace("name: shop", "name: wrong").replace("host: shop.example.com", "hots: x"),
  "kustom/kustomization.yaml": `resources: [base.yaml]
namePrefix: dev-
labels: [{pairs: {env: dev}, includeSelectors: true}]
configMapGenerator: [{name: generated, literals: [a=1]}]
`,
  "kustom/base.yaml": DEPLOYMENT.replace("name: web}", "name: api}"),
  "owned.yaml": CONFIG_MAP.replace("name: settings", "name: owned"),
};

export const COMMANDS: readonly Command[] = [
  command("version -o json", { ignoredLines: /git|buildDate|goVersion|compiler|platform/ }),
  command("api-versions"),
  command("api-resources"),
  command("api-resources --namespaced=false --verbs=list -o name"),
  command("get namespaces"),
  command("get nodes"),
  command("get pods"),
  command("get nothing", { code: 1 }),

  // Client-side apply
  command("apply -f config.yaml"),
  command("apply -f config.yaml"),
  command("get configmap settings -o yaml"),
  command("diff -f config2.yaml", { code: 1 }),
  command("apply -f config2.yaml"),
  command("get configmap settings -o jsonpath={.data}"),
  command("apply -f deployment.yaml"),
  command("get deployments"),
  command("get deploy web -o wide"),
  command("diff -f deployment2.yaml", { code: 1 }),
  command("apply -f deployment2.yaml"),
  command("get deploy web -o yaml"),
  command("get deploy web -o json"),
  command("get deploy web -o name"),
  command("get deploy web -o jsonpath={.spec.template.spec.containers[*].image}"),
  command("get deploy web -o custom-columns=NAME:.metadata.name,IMAGES:.spec.template.spec.containers[*].image"),
  command("describe deployment web"),
  command("scale deployment web --replicas=5"),
  command("scale deployment web --replicas=1 --current-replicas=9", { code: 1 }),
  command("set image deployment/web main=nginx:3"),
  command("set env deployment/web --containers=main MODE=slower EXTRA=1"),
  command("annotate deployment web note=one"),
  command("label deployment web tier=front"),
  command("label deployment web tier=back", { code: 1 }),
  command("label deployment web tier=back --overwrite"),
  command("label deployment web tier-"),
  command("get deploy -l app=web --show-labels"),
  command("get deploy --field-selector metadata.name=web"),
  command("rollout status deployment web --timeout=5s", { code: 1 }),

  // Custom kinds, server-side apply
  command("apply -f definition.yaml"),
  command("wait --for=condition=Established crd/websites.demo.example.com --timeout=180s"),
  command("get crd"),
  command("explain website", { isRepeated: true }),
  command("explain website.spec", { isRepeated: true }),
  command("explain website.spec.ports --recursive", { isRepeated: true }),
  command("explain website --recursive", { isRepeated: true }),
  command("explain website.spec.none", { code: 1 }),
  command("apply --server-side -f website.yaml"),
  command("apply --server-side -f website.yaml"),
  command("get websites"),
  command("get ws shop -o wide"),
  command("get ws shop -o yaml --show-managed-fields"),
  command("diff --server-side -f website2.yaml", { code: 1 }),
  command("apply --server-side --field-manager=other -f website2.yaml", { code: 1 }),
  command("apply --server-side --field-manager=other --force-conflicts -f website2.yaml"),
  command("apply --server-side -f wrong.yaml", { code: 1 }),
  command("apply -f wrong.yaml", { code: 1 }),
  command("apply -f wrong.yaml --validate=warn", { code: 1 }),
  command("create -f website.yaml", { code: 1 }),
  command('patch website shop --type=merge -p {"spec":{"theme":"dark"}}'),
  command('patch website shop --type=json -p [{"op":"remove","path":"/spec/theme"}]'),
  command('patch website shop --type=merge -p {"spec":{"theme":"loud"}}', { code: 1 }),
  command('patch website shop -p {"spec":{"theme":"dark"}}', { code: 1 }),
  command('patch deployment web -p {"spec":{"template":{"spec":{"containers":[{"name":"side","image":"alpine"}]}}}}'),
  command(
    'patch website shop --subresource=status --type=merge -p {"status":{"replicas":3,"conditions":[{"type":"Ready","status":"True"}]}}',
  ),
  command("wait --for=condition=Ready website/shop --timeout=180s"),
  command("wait --for=jsonpath={.status.replicas}=3 website/shop --timeout=180s"),
  command("wait --for=condition=Never website/shop --timeout=5s", { code: 1 }),
  command("scale website shop --replicas=4"),
  command("get website shop --subresource=scale -o yaml"),
  command("describe website shop"),
  // The real server creates the Service `kubernetes`.
  command("get all", { ignoredLines: /service\/kubernetes|^NAME {2}TYPE|^$/ }),
  command("get ws,cm -l app=shop"),
  command("replace -f website2.yaml"),

  // Watching and waiting
  command("get websites -w --output-watch-events", {
    meanwhile: ["label", "website", "shop", "seen=1"],
    until: /^MODIFIED .*\n/m,
  }),
  command('patch website shop --type=merge -p {"metadata":{"finalizers":["example.com/hold"]}}'),
  command("delete website shop --timeout=180s", {
    meanwhile: ["patch", "website", "shop", "--type=merge", "-p", '{"metadata":{"finalizers":null}}'],
  }),
  command("wait --for=delete website/shop --timeout=180s"),
  command("get website shop", { code: 1 }),

  // Creating, reading, deleting
  command("create configmap made --from-literal=a=1"),
  command("create configmap made --from-literal=a=1", { code: 1 }),
  command("create secret generic hidden --from-literal=word=secret"),
  command("get secret hidden -o yaml"),
  command("describe secret hidden"),
  command("describe configmap made"),
  command("create serviceaccount robot"),
  command("describe serviceaccount robot"),
  command("create namespace team"),
  command("get namespace team -o yaml"),
  command("create role reader --verb=get,list --resource=pods,configmaps -n team"),
  command("create rolebinding readers --role=reader --user=jane -n team"),
  command("describe role reader -n team"),
  command("describe rolebinding readers -n team"),
  command("get roles,rolebindings -n team -o wide"),
  command("auth can-i create pods"),
  command("auth can-i get pods -n team --as jane", { isRepeated: true }),
  command("auth can-i delete pods -n team --as jane", { code: 1 }),
  command("auth can-i --list -n team --as jane", { unordered: true, isRepeated: true }),
  command("auth whoami -o json", { ignoredLines: /credential|"extra"|JTI/ }),
  command("get pods -n team --as jane"),
  command("get secrets -n team --as jane", { code: 1 }),
  command("create clusterrole seer --verb=get --resource=nodes"),
  command("get clusterrole seer -o yaml"),
  command("create -f - --dry-run=server -o yaml", { input: CONFIG_MAP.replace("settings", "tried") }),
  command("create -f - -o name", { input: CONFIG_MAP.replace("settings", "typed") }),
  command("create -f -", { input: "kind: None\napiVersion: none/v1\nmetadata: {name: a}\n", code: 1 }),
  command("create -f -", { input: "{", code: 1 }),
  command("run pod --image=nginx --restart=Never --labels=app=run"),
  command("get pod pod -o wide"),
  command("describe pod pod"),
  command("logs pod"),
  command("debug pod --image=busybox --container=shell"),
  command("get pod pod -o jsonpath={.spec.ephemeralContainers[*].name}"),
  command("expose pod pod --port=80 --cluster-ip=None --name=front"),
  command("get services -o wide -l app=run"),
  command("describe service front", { ignoredLines: /Endpoints/ }),
  command("create job work --image=busybox -- true"),
  command("get jobs -o wide"),
  command("create cronjob tick --image=busybox --schedule=@daily"),
  command("get cronjobs"),
  command("create quota q --hard=pods=2"),
  command("get resourcequotas"),
  command("create poddisruptionbudget b --selector=app=web --min-available=1"),
  command("get pdb"),
  command("create ingress i --rule=a.example.com/=front:80"),
  command("get ingress"),
  command("describe ingress i", { ignoredLines: /error: services/ }),
  command("create priorityclass high --value=10"),
  command("get priorityclass high"),
  command("autoscale deployment web --max=3 --cpu=80%"),
  command("get hpa"),
  command("create token robot --duration=1h", { ignoredLines: /^ey/ }),

  command("apply -k kustom"),
  command("get deploy dev-api -o jsonpath={.spec.selector}"),
  command("delete -k kustom"),
  command("apply -f owned.yaml -o name"),
  command("delete configmap made typed"),
  command("delete configmap made", { code: 1 }),
  command("delete configmap made --ignore-not-found"),
  command("delete deployment web --cascade=orphan"),
  command("delete pod pod --now"),
  command("delete jobs,cronjobs --all"),
  command("delete -f config.yaml -f owned.yaml"),
  command("delete namespace team"),
  command("get namespace team", { code: 1 }),
  command("delete crd websites.demo.example.com"),
  command("get websites", { code: 1, isRepeated: true }),
  command("get --raw /apis/demo.example.com", { code: 1, isRepeated: true }),
  command("get --raw /readyz"),
  command("get --raw /api/v1/namespaces/default/configmaps?limit=1&labelSelector=none"),
  command("cluster-info", { ignoredLines: /CoreDNS/ }),
  command("explain none", { code: 1 }),
  command("explain deployment"),
  command("explain pods.spec.containers"),
  command("explain service --recursive"),
  command("explain cronjobs.spec.jobTemplate.spec.backoffLimit"),
  command("explain hpa.spec.metrics --api-version=autoscaling/v2"),
  command("explain crd.spec.versions.schema"),
];
