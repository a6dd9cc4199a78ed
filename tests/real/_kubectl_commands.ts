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

const k = (line: string, more: Omit<Command, "args"> = {}): Command => ({ args: line.split(" "), ...more });

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
  k("version -o json", { ignoredLines: /git|buildDate|goVersion|compiler|platform/ }),
  k("api-versions"),
  k("api-resources"),
  k("api-resources --namespaced=false --verbs=list -o name"),
  k("get namespaces"),
  k("get nodes"),
  k("get pods"),
  k("get nothing", { code: 1 }),

  // Client-side apply
  k("apply -f config.yaml"),
  k("apply -f config.yaml"),
  k("get configmap settings -o yaml"),
  k("diff -f config2.yaml", { code: 1 }),
  k("apply -f config2.yaml"),
  k("get configmap settings -o jsonpath={.data}"),
  k("apply -f deployment.yaml"),
  k("get deployments"),
  k("get deploy web -o wide"),
  k("diff -f deployment2.yaml", { code: 1 }),
  k("apply -f deployment2.yaml"),
  k("get deploy web -o yaml"),
  k("get deploy web -o json"),
  k("get deploy web -o name"),
  k("get deploy web -o jsonpath={.spec.template.spec.containers[*].image}"),
  k("get deploy web -o custom-columns=NAME:.metadata.name,IMAGES:.spec.template.spec.containers[*].image"),
  k("describe deployment web"),
  k("scale deployment web --replicas=5"),
  k("scale deployment web --replicas=1 --current-replicas=9", { code: 1 }),
  k("set image deployment/web main=nginx:3"),
  k("set env deployment/web --containers=main MODE=slower EXTRA=1"),
  k("annotate deployment web note=one"),
  k("label deployment web tier=front"),
  k("label deployment web tier=back", { code: 1 }),
  k("label deployment web tier=back --overwrite"),
  k("label deployment web tier-"),
  k("get deploy -l app=web --show-labels"),
  k("get deploy --field-selector metadata.name=web"),
  k("rollout status deployment web --timeout=5s", { code: 1 }),

  // Custom kinds, server-side apply
  k("apply -f definition.yaml"),
  k("wait --for=condition=Established crd/websites.demo.example.com --timeout=180s"),
  k("get crd"),
  k("explain website", { isRepeated: true }),
  k("explain website.spec", { isRepeated: true }),
  k("explain website.spec.ports --recursive", { isRepeated: true }),
  k("explain website --recursive", { isRepeated: true }),
  k("explain website.spec.none", { code: 1 }),
  k("apply --server-side -f website.yaml"),
  k("apply --server-side -f website.yaml"),
  k("get websites"),
  k("get ws shop -o wide"),
  k("get ws shop -o yaml --show-managed-fields"),
  k("diff --server-side -f website2.yaml", { code: 1 }),
  k("apply --server-side --field-manager=other -f website2.yaml", { code: 1 }),
  k("apply --server-side --field-manager=other --force-conflicts -f website2.yaml"),
  k("apply --server-side -f wrong.yaml", { code: 1 }),
  k("apply -f wrong.yaml", { code: 1 }),
  k("apply -f wrong.yaml --validate=warn", { code: 1 }),
  k("create -f website.yaml", { code: 1 }),
  k('patch website shop --type=merge -p {"spec":{"theme":"dark"}}'),
  k('patch website shop --type=json -p [{"op":"remove","path":"/spec/theme"}]'),
  k('patch website shop --type=merge -p {"spec":{"theme":"loud"}}', { code: 1 }),
  k('patch website shop -p {"spec":{"theme":"dark"}}', { code: 1 }),
  k('patch deployment web -p {"spec":{"template":{"spec":{"containers":[{"name":"side","image":"alpine"}]}}}}'),
  k('patch website shop --subresource=status --type=merge -p {"status":{"replicas":3,"conditions":[{"type":"Ready","status":"True"}]}}'),
  k("wait --for=condition=Ready website/shop --timeout=180s"),
  k("wait --for=jsonpath={.status.replicas}=3 website/shop --timeout=180s"),
  k("wait --for=condition=Never website/shop --timeout=5s", { code: 1 }),
  k("scale website shop --replicas=4"),
  k("get website shop --subresource=scale -o yaml"),
  k("describe website shop"),
  // The real server creates the Service `kubernetes`.
  k("get all", { ignoredLines: /service\/kubernetes|^NAME {2}TYPE|^$/ }),
  k("get ws,cm -l app=shop"),
  k("replace -f website2.yaml"),

  // Watching and waiting
  k("get websites -w --output-watch-events", {
    meanwhile: ["label", "website", "shop", "seen=1"],
    until: /^MODIFIED .*\n/m,
  }),
  k('patch website shop --type=merge -p {"metadata":{"finalizers":["example.com/hold"]}}'),
  k("delete website shop --timeout=180s", {
    meanwhile: ["patch", "website", "shop", "--type=merge", "-p", '{"metadata":{"finalizers":null}}'],
  }),
  k("wait --for=delete website/shop --timeout=180s"),
  k("get website shop", { code: 1 }),

  // Creating, reading, deleting
  k("create configmap made --from-literal=a=1"),
  k("create configmap made --from-literal=a=1", { code: 1 }),
  k("create secret generic hidden --from-literal=word=secret"),
  k("get secret hidden -o yaml"),
  k("describe secret hidden"),
  k("describe configmap made"),
  k("create serviceaccount robot"),
  k("describe serviceaccount robot"),
  k("create namespace team"),
  k("get namespace team -o yaml"),
  k("create role reader --verb=get,list --resource=pods,configmaps -n team"),
  k("create rolebinding readers --role=reader --user=jane -n team"),
  k("describe role reader -n team"),
  k("describe rolebinding readers -n team"),
  k("get roles,rolebindings -n team -o wide"),
  k("auth can-i create pods"),
  k("auth can-i get pods -n team --as jane", { isRepeated: true }),
  k("auth can-i delete pods -n team --as jane", { code: 1 }),
  k("auth can-i --list -n team --as jane", { unordered: true, isRepeated: true }),
  k("auth whoami -o json", { ignoredLines: /credential|"extra"|JTI/ }),
  k("get pods -n team --as jane"),
  k("get secrets -n team --as jane", { code: 1 }),
  k("create clusterrole seer --verb=get --resource=nodes"),
  k("get clusterrole seer -o yaml"),
  k("create -f - --dry-run=server -o yaml", { input: CONFIG_MAP.replace("settings", "tried") }),
  k("create -f - -o name", { input: CONFIG_MAP.replace("settings", "typed") }),
  k("create -f -", { input: "kind: None\napiVersion: none/v1\nmetadata: {name: a}\n", code: 1 }),
  k("create -f -", { input: "{", code: 1 }),
  k("run pod --image=nginx --restart=Never --labels=app=run"),
  k("get pod pod -o wide"),
  k("describe pod pod"),
  k("logs pod"),
  k("debug pod --image=busybox --container=shell"),
  k("get pod pod -o jsonpath={.spec.ephemeralContainers[*].name}"),
  k("expose pod pod --port=80 --cluster-ip=None --name=front"),
  k("get services -o wide -l app=run"),
  k("describe service front", { ignoredLines: /Endpoints/ }),
  k("create job work --image=busybox -- true"),
  k("get jobs -o wide"),
  k("create cronjob tick --image=busybox --schedule=@daily"),
  k("get cronjobs"),
  k("create quota q --hard=pods=2"),
  k("get resourcequotas"),
  k("create poddisruptionbudget b --selector=app=web --min-available=1"),
  k("get pdb"),
  k("create ingress i --rule=a.example.com/=front:80"),
  k("get ingress"),
  k("describe ingress i", { ignoredLines: /error: services/ }),
  k("create priorityclass high --value=10"),
  k("get priorityclass high"),
  k("autoscale deployment web --max=3 --cpu=80%"),
  k("get hpa"),
  k("create token robot --duration=1h", { ignoredLines: /^ey/ }),

  k("apply -k kustom"),
  k("get deploy dev-api -o jsonpath={.spec.selector}"),
  k("delete -k kustom"),
  k("apply -f owned.yaml -o name"),
  k("delete configmap made typed"),
  k("delete configmap made", { code: 1 }),
  k("delete configmap made --ignore-not-found"),
  k("delete deployment web --cascade=orphan"),
  k("delete pod pod --now"),
  k("delete jobs,cronjobs --all"),
  k("delete -f config.yaml -f owned.yaml"),
  k("delete namespace team"),
  k("get namespace team", { code: 1 }),
  k("delete crd websites.demo.example.com"),
  k("get websites", { code: 1, isRepeated: true }),
  k("get --raw /apis/demo.example.com", { code: 1, isRepeated: true }),
  k("get --raw /readyz"),
  k("get --raw /api/v1/namespaces/default/configmaps?limit=1&labelSelector=none"),
  k("cluster-info", { ignoredLines: /CoreDNS/ }),
  k("explain none", { code: 1 }),
  k("explain deployment"),
  k("explain pods.spec.containers"),
  k("explain service --recursive"),
  k("explain cronjobs.spec.jobTemplate.spec.backoffLimit"),
  k("explain hpa.spec.metrics --api-version=autoscaling/v2"),
  k("explain crd.spec.versions.schema"),
];
