/**
 * The Go modules that publish kinds of well-known projects, each with a fixed version and checksum.
 */

/** A Go module, which contains the whole repository of a project. */
export interface Module {
  readonly path: string;
  readonly version: string;
  /** Checksum of all its files, as in go.sum. */
  readonly sum: string;
}

/** A file or a folder in a module. */
export interface Place {
  readonly module: Module;
  readonly path: string;
}

/** The places where a kind's definition and objects of this kind are published. */
export interface Origin {
  readonly kind: string;
  readonly definition: Place;
  /** Folders with YAML files, and Markdown files with YAML blocks. */
  readonly samples: readonly Place[];
}

const certManager: Module = {
  path: "github.com/cert-manager/cert-manager",
  version: "v1.21.2",
  sum: "h1:UWgoYM+KLNtRlqmoWOKjKBOBUPVHeepQ6/ac3ERJW68=",
};
const privateCa: Module = {
  path: "github.com/cert-manager/aws-privateca-issuer",
  version: "v1.11.0",
  sum: "h1:Fn2u9mNQzcaRks6aFNav9DV3tqAloyl5gc2+Hsc9ihI=",
};
const gatewayApi: Module = {
  path: "sigs.k8s.io/gateway-api",
  version: "v1.6.3",
  sum: "h1:lKpJa5bGlraC/QeACvCpsHLdmO6y0iKfzVl6gzaFEYc=",
};
const prometheusOperator: Module = {
  path: "github.com/prometheus-operator/prometheus-operator",
  version: "v0.93.1",
  sum: "h1:4Juk8v93RdG1DSGD/mGp+SeQKPmnlLIj2iq3blLZgFY=",
};
const argoWorkflows: Module = {
  path: "github.com/argoproj/argo-workflows/v3",
  version: "v3.7.14",
  sum: "h1:ptbGB8ljmDgV3PlX0dEMfHwuq1P9DklQ5Hi4XzHBVLA=",
};
const istioApi: Module = {
  path: "istio.io/api",
  version: "v1.31.1",
  sum: "h1:5Yb5ihcz4YQsCkciusK7DnFpBMwRB6EFWeUKH1Atuyk=",
};
const istio: Module = {
  path: "istio.io/istio",
  version: "v0.0.0-20260827124520-eed52ebb66ad",
  sum: "h1:ui9TJjRMAV/hb5ehQaZDq7IUGxuQP6dra9lapT/VjHI=",
};
const crossplane: Module = {
  path: "github.com/crossplane/crossplane/v2",
  version: "v2.3.0",
  sum: "h1:QszqQ4J+Tb743NbozuXm5N1Zsy4Yc/5u1unkev6s6DQ=",
};

/** The kinds to pack. All modules have the license Apache-2.0, which `pack` verifies. */
export const ORIGINS: readonly Origin[] = [
  {
    kind: "Certificate",
    definition: { module: certManager, path: "deploy/crds/cert-manager.io_certificates.yaml" },
    samples: [
      { module: certManager, path: "test/fixtures" },
      { module: certManager, path: "design" },
      { module: privateCa, path: "config/examples" },
      { module: privateCa, path: "config/samples" },
      { module: istio, path: "samples" },
    ],
  },
  {
    kind: "HTTPRoute",
    definition: { module: gatewayApi, path: "config/crd/standard/gateway.networking.k8s.io_httproutes.yaml" },
    samples: [
      { module: gatewayApi, path: "examples" },
      { module: gatewayApi, path: "hack/invalid-examples/standard" },
    ],
  },
  {
    kind: "Prometheus",
    definition: {
      module: prometheusOperator,
      path: "example/prometheus-operator-crd/monitoring.coreos.com_prometheuses.yaml",
    },
    samples: [{ module: prometheusOperator, path: "example" }],
  },
  {
    kind: "Workflow",
    definition: { module: argoWorkflows, path: "manifests/base/crds/full/argoproj.io_workflows.yaml" },
    samples: [{ module: argoWorkflows, path: "examples" }],
  },
  {
    kind: "VirtualService",
    definition: { module: istioApi, path: "kubernetes/customresourcedefinitions.gen.yaml" },
    samples: [{ module: istio, path: "samples" }],
  },
  {
    kind: "Composition",
    definition: { module: crossplane, path: "cluster/crds/apiextensions.crossplane.io_compositions.yaml" },
    samples: [{ module: crossplane, path: "test/e2e/manifests" }],
  },
];

/** A definition that other kinds refer to. It has no samples. */
export const ISSUER: Origin = {
  kind: "Issuer",
  definition: { module: certManager, path: "deploy/crds/cert-manager.io_issuers.yaml" },
  samples: [],
};

/** Returns the modules of some origins, in order and without duplicates. */
export function modulesOf(origins: readonly Origin[]): Module[] {
  return [
    ...new Set(origins.flatMap(({ definition, samples }) => [definition, ...samples].map(({ module }) => module))),
  ];
}
