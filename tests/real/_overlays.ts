/**
 * Overlays that `op` and `kubectl kustomize` must build alike. `files` maps paths to contents, and
 * the folder `overlay` is built.
 */

const WEB = `
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, labels: { app: web } }
spec:
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec:
      serviceAccountName: web
      containers:
        - name: web
          image: registry.example.com:5000/team/web:1
          args: [--level=info]
          ports: [{ containerPort: 8080, name: http }, { containerPort: 9090, name: metrics, protocol: TCP }]
          env: [{ name: A, value: "1" }, { name: FROM, valueFrom: { configMapKeyRef: { name: settings, key: a } } }]
          envFrom: [{ secretRef: { name: credentials } }]
          volumeMounts: [{ name: settings, mountPath: /settings }, { name: data, mountPath: /data }]
        - { name: sidecar, image: "sidecar@sha256:abc" }
      initContainers: [{ name: init, image: "web:2" }]
      volumes:
        - { name: settings, configMap: { name: settings } }
        - { name: data, emptyDir: {} }
        - { name: certificate, projected: { sources: [{ secret: { name: credentials } }] } }
---
apiVersion: v1
kind: Service
metadata: { name: web }
spec:
  selector: { app: web }
  ports: [{ name: http, port: 80, targetPort: http }, { name: dns, port: 53, protocol: UDP }, { name: dns-tcp, port: 53, protocol: TCP }]
---
apiVersion: v1
kind: ServiceAccount
metadata: { name: web }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: settings }
data: { a: "010", b: "yes" }
---
apiVersion: v1
kind: Secret
metadata: { name: credentials }
stringData: { user: x }
`;

const ACCESS = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: web }
rules: [{ apiGroups: [""], resources: [secrets], resourceNames: [credentials, other], verbs: [get] }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: web }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: web }
subjects:
  - { kind: ServiceAccount, name: web, namespace: default }
  - { kind: ServiceAccount, name: default, namespace: default }
  - { kind: ServiceAccount, name: stranger, namespace: default }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: web }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: web }
subjects: [{ kind: ServiceAccount, name: web, namespace: default }, { kind: Group, name: team }]
`;

const WEBHOOKS = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: { name: web }
webhooks:
  - name: a.example.com
    clientConfig: { service: { name: web, namespace: default, path: /a } }
    sideEffects: None
    admissionReviewVersions: [v1]
    rules: [{ apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods] }]
  - name: b.example.com
    clientConfig: { url: "https://example.com" }
    sideEffects: None
    admissionReviewVersions: [v1]
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: gadgets.example.com }
spec:
  group: example.com
  scope: Cluster
  names: { plural: gadgets, kind: Gadget }
  conversion:
    strategy: Webhook
    webhook: { conversionReviewVersions: [v1], clientConfig: { service: { name: web, namespace: default } } }
  versions: [{ name: v1, served: true, storage: true, schema: { openAPIV3Schema: { type: object, properties: { containers: { type: array, items: { type: object, properties: { image: { type: string } } } } } } } }]
---
apiVersion: example.com/v1
kind: Gadget
metadata: { name: g }
spec: { list: [{ name: a, value: 1 }, { name: b }], containers: [{ name: c, image: "web:1" }], octal: 010, flag: yes, time: 22:22, day: 2026-01-02 }
---
apiVersion: v1
kind: Namespace
metadata: { name: default-one }
`;

const WORKLOADS = `
apiVersion: apps/v1
kind: StatefulSet
metadata: { name: db }
spec:
  serviceName: web
  selector: { matchLabels: { app: db } }
  template:
    metadata: { labels: { app: db } }
    spec:
      topologySpreadConstraints:
        - { maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: { matchLabels: { app: db } } }
        - { maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway }
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            - { topologyKey: host, labelSelector: { matchLabels: { app: db } } }
      tolerations: [{ key: a, operator: Exists }]
      containers: [{ name: db, image: "db:1" }]
  volumeClaimTemplates: [{ metadata: { name: data }, spec: { accessModes: [ReadWriteOnce] } }]
---
apiVersion: batch/v1
kind: CronJob
metadata: { name: backup }
spec:
  schedule: "0 1 * * *"
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          serviceAccountName: web
          containers: [{ name: backup, image: "web:1", envFrom: [{ configMapRef: { name: settings } }] }]
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: { name: web }
spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: web } }
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: { name: web }
spec:
  tls: [{ secretName: credentials, hosts: [a.example.com] }]
  rules: [{ host: a.example.com, http: { paths: [{ path: /, pathType: Prefix, backend: { service: { name: web, port: { number: 80 } } } }] } }]
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: { name: web }
spec: { minAvailable: 1, selector: { matchLabels: { app: web } } }
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: { name: web }
spec: { podSelector: { matchLabels: { app: web } }, ingress: [{ from: [{ podSelector: { matchLabels: { app: db } } }] }] }
`;

const BASE = {
  "base/kustomization.yaml": "resources: [web.yaml, access.yaml, webhooks.yaml, workloads.yaml]",
  "base/web.yaml": WEB,
  "base/access.yaml": ACCESS,
  "base/webhooks.yaml": WEBHOOKS,
  "base/workloads.yaml": WORKLOADS,
};

/** A strategic merge patch of the container `web`. */
const ofWeb = (fields: string) => `
  - patch: |
      apiVersion: apps/v1
      kind: Deployment
      metadata: { name: web }
      spec: { template: { spec: { containers: [{ name: web, ${fields} }] } } }`;

/** A strategic merge patch of the pod spec. */
const ofPod = (fields: string) => `
  - patch: |
      apiVersion: apps/v1
      kind: Deployment
      metadata: { name: web }
      spec: { template: { spec: { ${fields} } } }`;

const ofService = (fields: string) => `
  - patch: |
      apiVersion: v1
      kind: Service
      metadata: { name: web }
      spec: { ${fields} }`;

/** The name of each overlay, its `kustomization.yaml` without the base, and more files. */
export const OVERLAYS: readonly {
  readonly name: string;
  readonly overlay: string;
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
}[] = [
  { name: "the base alone", overlay: "" },
  { name: "a namespace", overlay: "namespace: apart" },
  { name: "prefix and suffix", overlay: "namePrefix: a-\nnameSuffix: -z" },
  { name: "namespace, prefix and suffix", overlay: "namespace: apart\nnamePrefix: a-\nnameSuffix: -z" },
  { name: "labels", overlay: "labels: [{ pairs: { team: a } }]" },
  { name: "labels in templates", overlay: "labels: [{ pairs: { team: a }, includeTemplates: true }]" },
  { name: "labels in selectors", overlay: "labels: [{ pairs: { team: a }, includeSelectors: true }]" },
  {
    name: "labels in fields",
    overlay:
      "labels: [{ pairs: { team: a }, fields: [{ path: spec/none, kind: Gadget }, { path: spec/more, kind: Gadget, create: true }] }]",
  },
  { name: "commonLabels", overlay: "commonLabels: { team: a }" },
  { name: "commonAnnotations", overlay: "commonAnnotations: { team: a }" },
  {
    name: "images by tag, name and digest",
    overlay:
      "images: [{ name: 'registry.example.com:5000/team/web', newTag: '2' }, { name: web, newName: other/web }, { name: sidecar, digest: 'sha256:def' }, { name: db, newTag: 'x', digest: 'sha256:1' }]",
  },
  {
    name: "images by a suffix of the tag",
    overlay: "images: [{ name: web, tagSuffix: -debug }, { name: sidecar, newName: x }]",
  },
  { name: "images by a regular expression", overlay: "images: [{ name: '.*web', newTag: v9 }]" },
  { name: "replicas", overlay: "replicas: [{ name: web, count: 3 }, { name: db, count: 2 }]" },
  { name: "patch: a new container port", overlay: `patches:${ofWeb("ports: [{ containerPort: 7070, name: extra }]")}` },
  {
    name: "patch: an existing container port",
    overlay: `patches:${ofWeb("ports: [{ containerPort: 8080, name: web }]")}`,
  },
  {
    name: "patch: a container port with another protocol",
    overlay: `patches:${ofWeb("ports: [{ containerPort: 9090, protocol: UDP }]")}`,
  },
  {
    name: "patch: Service ports",
    overlay: `patches:${ofService("ports: [{ name: https, port: 443 }, { port: 80, nodePort: 30000 }]")}`,
  },
  {
    name: "patch: Service ports with a protocol",
    overlay: `patches:${ofService("ports: [{ port: 53, protocol: UDP, name: dns-udp }]")}`,
  },
  {
    name: "patch: environment variables",
    overlay: `patches:${ofWeb("env: [{ name: B, value: '2' }, { name: A, value: '3' }]")}`,
  },
  { name: "patch: delete an environment variable", overlay: `patches:${ofWeb("env: [{ name: A, $patch: delete }]")}` },
  {
    name: "patch: replace all environment variables",
    overlay: `patches:${ofWeb("env: [{ $patch: replace }, { name: C, value: '2' }]")}`,
  },
  {
    name: "patch: envFrom and args, whose lists are replaced",
    overlay: `patches:${ofWeb("envFrom: [{ configMapRef: { name: settings } }], args: [--other]")}`,
  },
  {
    name: "patch: a mount",
    overlay: `patches:${
      ofWeb("volumeMounts: [{ mountPath: /cache, name: cache }, { mountPath: /data, readOnly: true }]")
    }`,
  },
  {
    name: "patch: resources and probes",
    overlay: `patches:${ofWeb("resources: { limits: { cpu: 1 } }, livenessProbe: { httpGet: { path: /, port: 80 } }")}`,
  },
  {
    name: "patch: volumes",
    overlay: `patches:${
      ofPod("volumes: [{ name: data, emptyDir: null, hostPath: { path: /data } }, { name: more, emptyDir: {} }]")
    }`,
  },
  {
    name: "patch: a new container and a deleted one",
    overlay: `patches:${ofPod("containers: [{ name: extra, image: x }, { name: sidecar, $patch: delete }]")}`,
  },
  {
    name: "patch: tolerations, pull secrets, aliases",
    overlay: `patches:${
      ofPod(
        "tolerations: [{ key: b }], imagePullSecrets: [{ name: credentials }], hostAliases: [{ ip: 1.2.3.4, hostnames: [a] }]",
      )
    }`,
  },
  {
    name: "patch: deleted and replaced fields",
    overlay: `patches:${
      ofPod("serviceAccountName: null, securityContext: { $patch: replace, runAsUser: 1 }, nodeSelector: { a: b }")
    }`,
  },
  {
    name: "patch: an item of a webhook configuration",
    overlay: `
patches:
  - target: { kind: ValidatingWebhookConfiguration }
    patch: |
      apiVersion: admissionregistration.k8s.io/v1
      kind: ValidatingWebhookConfiguration
      metadata: { name: any }
      webhooks: [{ name: b.example.com, failurePolicy: Ignore }, { name: c.example.com, sideEffects: None, admissionReviewVersions: [v1], clientConfig: { service: { name: web, namespace: default } } }]`,
  },
  {
    name: "patch: a deleted object",
    overlay: `
patches:
  - patch: |
      $patch: delete
      apiVersion: v1
      kind: Service
      metadata: { name: web }`,
  },
  {
    name: "patch: the list of a custom kind, which is replaced",
    overlay: `
patches:
  - patch: |
      apiVersion: example.com/v1
      kind: Gadget
      metadata: { name: g, labels: { l: "1" } }
      spec: { list: [{ name: b, value: 2 }], time: null }`,
  },
  {
    name: "patches in a file, for a target, and for labels",
    overlay: `
patches:
  - path: patch.yaml
  - target: { kind: Deployment|StatefulSet, name: "w.*|d." }
    patch: '[{ "op": "add", "path": "/metadata/annotations", "value": { "a": "b" } }]'
  - target: { labelSelector: "app in (web, x), !other" }
    patch: |
      - op: replace
        path: /spec/template/spec/containers/0/image
        value: replaced
      - op: add
        path: /spec/template/spec/containers/0/args/-
        value: --more
      - op: remove
        path: /spec/template/spec/containers/1`,
    files: {
      "overlay/patch.yaml": `
apiVersion: v1
kind: ConfigMap
metadata: { name: settings }
data: { b: null, c: "on" }
---
apiVersion: batch/v1
kind: CronJob
metadata: { name: backup }
spec: { suspend: true }
`,
    },
  },
  {
    name: "patchesStrategicMerge and patchesJson6902",
    overlay: `
namePrefix: a-
patchesStrategicMerge:
  - patch.yaml
  - |
    apiVersion: v1
    kind: ServiceAccount
    metadata: { name: web, annotations: { role: r } }
patchesJson6902:
  - target: { version: v1, kind: Service, name: web }
    patch: '[{ "op": "replace", "path": "/spec/ports/0/port", "value": 8080 }]'`,
    files: {
      "overlay/patch.yaml": "{ apiVersion: apps/v1, kind: Deployment, metadata: { name: web }, spec: { replicas: 2 } }",
    },
  },
  {
    name: "a patch that changes a name",
    overlay: `
patches:
  - target: { kind: ConfigMap, name: settings }
    options: { allowNameChange: true }
    patch: '{ apiVersion: v1, kind: ConfigMap, metadata: { name: renamed } }'`,
  },
  {
    name: "generators: literals, files, variables",
    overlay: `
configMapGenerator:
  - name: generated
    literals: [a=1, 'b="quoted <&>"', c=x=y]
    files: [file.txt, key=sub/other.txt]
    envs: [vars.env]
  - name: fixed
    literals: [a=1]
    options: { disableNameSuffixHash: true, immutable: true, labels: { l: "1" }, annotations: { note: "2" } }
secretGenerator:
  - { name: secret, literals: [password=x], type: example.com/kind }
  - { name: plain, files: [binary.bin] }`,
    files: {
      "overlay/file.txt": "line\nline ü\n",
      "overlay/sub/other.txt": "other",
      "overlay/vars.env": "# comment\nX=1\n  Y=a b=c\nZ\n\n",
      "overlay/binary.bin": Uint8Array.from([0, 255, 254, 1]),
    },
  },
  {
    name: "generators: binary data, options for all",
    overlay: `
generatorOptions: { labels: { all: "1" }, annotations: { note: "1" } }
configMapGenerator: [{ name: binary, files: [binary.bin, text.txt], options: { labels: { all: "2", own: "3" } } }]`,
    files: { "overlay/binary.bin": Uint8Array.from([0, 255, 254, 1]), "overlay/text.txt": "\ufefftext" },
  },
  {
    name: "generated names in references",
    overlay: `
namePrefix: p-
namespace: apart
resources: [../base, pod.yaml]
configMapGenerator: [{ name: generated, literals: [a=1] }]
secretGenerator: [{ name: hidden, literals: [a=1] }]`,
    files: {
      "overlay/pod.yaml": `
apiVersion: v1
kind: Pod
metadata: { name: user }
spec:
  imagePullSecrets: [{ name: hidden }]
  containers:
    - { name: a, image: x, envFrom: [{ configMapRef: { name: generated } }, { secretRef: { name: hidden } }], env: [{ name: A, valueFrom: { secretKeyRef: { name: hidden, key: a } } }] }
  volumes:
    - { name: a, configMap: { name: generated } }
    - { name: b, secret: { secretName: hidden } }
    - { name: c, projected: { sources: [{ configMap: { name: generated } }] } }
`,
    },
  },
  {
    name: "generators that merge and replace what a base generates",
    overlay: `
resources: [../middle]
configMapGenerator:
  - { name: merged, behavior: merge, literals: [b=3, c=4] }
  - { name: replaced, behavior: replace, literals: [z=1] }
secretGenerator: [{ name: kept, behavior: merge, literals: [x=2] }]`,
    files: {
      "middle/kustomization.yaml": `
resources: [pod.yaml]
configMapGenerator:
  - { name: merged, literals: [a=1, b=2] }
  - { name: replaced, literals: [a=1] }
secretGenerator: [{ name: kept, literals: [y=1], options: { disableNameSuffixHash: true } }]`,
      "middle/pod.yaml": `
apiVersion: v1
kind: Pod
metadata: { name: user }
spec: { containers: [{ name: a, image: x, envFrom: [{ configMapRef: { name: merged } }, { configMapRef: { name: replaced } }, { secretRef: { name: kept } }] }] }
`,
    },
  },
  {
    name: "components",
    overlay: "components: [../feature]\nnamePrefix: p-\nconfigMapGenerator: [{ name: own, literals: [a=1] }]",
    files: {
      "feature/kustomization.yaml": `
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
resources: [extra.yaml]
configMapGenerator: [{ name: own, behavior: merge, literals: [b=2] }]
patches: [{ target: { kind: Deployment }, patch: '[{ "op": "add", "path": "/spec/replicas", "value": 5 }]' }]`,
      "feature/extra.yaml": "{ apiVersion: v1, kind: ConfigMap, metadata: { name: extra } }",
    },
  },
  {
    name: "two variants of one base in one overlay",
    overlay: "resources: [../one, ../two]",
    files: {
      "one/kustomization.yaml": "namePrefix: one-\nnamespace: one\nresources: [../small]",
      "two/kustomization.yaml": "namePrefix: two-\nnameSuffix: -x\nresources: [../small]",
      "small/kustomization.yaml": "resources: [small.yaml]\nconfigMapGenerator: [{ name: settings, literals: [a=1] }]",
      "small/small.yaml": `
apiVersion: v1
kind: Pod
metadata: { name: user }
spec: { serviceAccountName: account, containers: [{ name: a, image: x, envFrom: [{ configMapRef: { name: settings } }] }] }
---
apiVersion: v1
kind: ServiceAccount
metadata: { name: account }
`,
    },
  },
  {
    name: "a patch in a middle layer, and one by the object's original name",
    overlay: `
resources: [../middle]
nameSuffix: -z
patches:
  - target: { name: web, kind: Service }
    patch: '[{ "op": "add", "path": "/metadata/labels", "value": { "first": "1" } }]'
  - patch: '{ apiVersion: v1, kind: ServiceAccount, metadata: { name: p-web, labels: { second: "1" } } }'`,
    files: { "middle/kustomization.yaml": "resources: [../base]\nnamePrefix: p-" },
  },
  {
    name: "local configuration and lists",
    overlay: "resources: [list.yaml]",
    files: {
      "overlay/list.yaml": `
apiVersion: v1
kind: List
items:
  - { apiVersion: v1, kind: ConfigMap, metadata: { name: one } }
  - { apiVersion: v1, kind: ConfigMap, metadata: { name: two, annotations: { config.kubernetes.io/local-config: "true" } } }
`,
    },
  },
].map((one) => ({ ...one, files: { ...BASE, ...one.files } }));
