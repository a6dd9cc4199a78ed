/**
 * Limits an operator that issues its webhook certificate itself. RBAC can name the objects that the
 * operator may patch, but not their fields: with permission to patch its own webhook configuration,
 * it could make the API server send every object to any address. An admission policy limits the
 * fields.
 */
import { CERTIFICATE_KEYS, CERTIFICATE_SINCE } from "../base/certificate_secret.ts";
import { labelsOf, type Manifest } from "./manifest.ts";

/** The objects that an operator writes for its certificate. */
export interface CertificateWrites {
  /** The Secret in the operator's namespace. */
  readonly secret: string;
  /** The objects that need the certificate authority. */
  readonly targets: {
    readonly mutating?: string;
    readonly validating?: string;
    readonly definitions: readonly string[];
  };
}

const GROUP = "admissionregistration.k8s.io";

/**
 * The RBAC permission by which the policy recognizes the operator. It grants nothing else. A user
 * name in the policy would be wrong after kustomize moves the operator to another namespace;
 * kustomize does update the subjects of a binding.
 */
export const POLICY_PERMISSION = { group: GROUP, resource: "validatingadmissionpolicies", verb: "use" } as const;

/** Returns the name of an operator's policy. */
export function certificatePolicy(operator: string): string {
  return operator;
}

/**
 * Returns the Secret without data, so that the operator needs no permission to create Secrets. RBAC
 * cannot limit that permission to a name, and it would allow creating a token for any service
 * account of the namespace. Without `data`, an apply does not change the data that the operator
 * wrote, and the type of a Secret is immutable.
 *
 * @param operator The operator's name.
 * @param secret The name of the Secret.
 * @param namespace The namespace of the Secret.
 */
export function certificateSecretManifest(operator: string, secret: string, namespace: string): Manifest {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: secret, namespace, labels: labelsOf(operator) },
    type: "Opaque",
  };
}

/**
 * Returns the policy and its binding. They apply to users who have {@linkcode POLICY_PERMISSION}
 * and may not create such objects. A user who may create them, such as the administrator who
 * installs the operator, could give them any content anyway.
 *
 * @param operator The operator's name.
 * @param writes The objects that the operator writes.
 */
export function certificatePolicyManifests(operator: string, { secret, targets }: CertificateWrites): Manifest[] {
  const name = certificatePolicy(operator);
  const { resource: policies, verb } = POLICY_PERMISSION;
  const { mutating, validating, definitions } = targets;
  const apiVersion = `${GROUP}/v1`;
  const metadata = { name, labels: labelsOf(operator) };
  const rule = (group: string, resource: string, scope: string, names: readonly string[]) =>
    names.length === 0 ? [] : [{
      apiGroups: [group],
      apiVersions: ["*"],
      operations: ["UPDATE"],
      resources: [resource],
      resourceNames: names,
      scope,
    }];
  return [
    {
      apiVersion,
      kind: "ValidatingAdmissionPolicy",
      metadata,
      spec: {
        failurePolicy: "Fail",
        matchConstraints: {
          resourceRules: [
            ...rule(GROUP, MUTATING, "Cluster", mutating === undefined ? [] : [mutating]),
            ...rule(GROUP, VALIDATING, "Cluster", validating === undefined ? [] : [validating]),
            ...rule("apiextensions.k8s.io", "customresourcedefinitions", "Cluster", definitions),
            ...rule("", SECRETS, "Namespaced", [secret]),
          ],
        },
        matchConditions: [
          {
            name: "is-the-operator",
            expression:
              `authorizer.group("${GROUP}").resource("${policies}").name("${name}").check("${verb}").allowed()`,
          },
          { name: "may-not-create", expression: '!authorizer.requestResource.check("create").allowed()' },
          {
            name: "is-its-own",
            expression: 'request.resource.resource != "secrets" || ' +
              'request.userInfo.username.startsWith("system:serviceaccount:" + request.namespace + ":")',
          },
        ],
        validations: VALIDATIONS,
      },
    },
    {
      apiVersion,
      kind: "ValidatingAdmissionPolicyBinding",
      metadata,
      spec: { policyName: name, validationActions: ["Deny"] },
    },
  ];
}

const MUTATING = "mutatingwebhookconfigurations";
const VALIDATING = "validatingwebhookconfigurations";
const SECRETS = "secrets";

/** Fields that the API server changes with each write. */
const SERVER_METADATA = ["managedFields", "resourceVersion", "generation"];

/**
 * `object` and `oldObject` as untyped values: CEL cannot iterate over the keys of a built-in kind.
 */
const [NEW, OLD] = ["dyn(object)", "dyn(oldObject)"];

const VALIDATIONS = [
  {
    expression: equal(NEW, OLD, ["metadata", "webhooks", "spec", "status", "data"]),
    message: "the operator's certificate policy does not allow changing this field",
  },
  {
    expression: anyOf(
      isAbout(SECRETS),
      equal(`${NEW}.metadata`, `${OLD}.metadata`, SERVER_METADATA),
    ),
    message: "the operator's certificate policy does not allow changing metadata",
  },
  {
    expression: anyOf(
      isNotAbout(SECRETS),
      allOf(
        equal(`${NEW}.metadata`, `${OLD}.metadata`, [...SERVER_METADATA, "annotations"]),
        equal(
          mapAt(NEW, "metadata", "annotations"),
          mapAt(OLD, "metadata", "annotations"),
          Object.values(CERTIFICATE_SINCE),
        ),
        equal(mapAt(NEW, "data"), mapAt(OLD, "data"), Object.values(CERTIFICATE_KEYS)),
      ),
    ),
    message: `the operator's certificate policy allows changing only ${
      Object.values(CERTIFICATE_KEYS).join(", ")
    } and the annotations with their dates`,
  },
  {
    expression: anyOf(
      `!(${isAbout(MUTATING)} || ${isAbout(VALIDATING)})`,
      allOf(
        `${NEW}.webhooks.size() == ${OLD}.webhooks.size()`,
        `${NEW}.webhooks.all(a, ${OLD}.webhooks.exists(b, ${
          allOf(
            "a.name == b.name",
            equal("a", "b", ["clientConfig"]),
            equal("a.clientConfig", "b.clientConfig", ["caBundle"]),
          )
        }))`,
      ),
    ),
    message: "the operator's certificate policy allows changing only webhooks[*].clientConfig.caBundle",
  },
  {
    expression: anyOf(
      isNotAbout("customresourcedefinitions"),
      allOf(
        equal(`${NEW}.spec`, `${OLD}.spec`, ["conversion"]),
        ...[["conversion", "webhook"], ["conversion.webhook", "clientConfig"], [
          "conversion.webhook.clientConfig",
          "caBundle",
        ]].map(([path, inner]) => equal(`${NEW}.spec.${path}`, `${OLD}.spec.${path}`, [inner!])),
      ),
    ),
    message: "the operator's certificate policy allows changing only spec.conversion.webhook.clientConfig.caBundle",
  },
];

/**
 * Returns an expression that compares two maps except for some keys. It compares key by key, so
 * that it includes fields that later versions of Kubernetes add.
 */
function equal(a: string, b: string, except: readonly string[]): string {
  const keys = JSON.stringify(except);
  return `${a}.all(k, k in ${keys} || (k in ${b} && ${a}[k] == ${b}[k])) && ${b}.all(k, k in ${keys} || k in ${a})`;
}

/** Returns an expression for a map that may be missing. */
function mapAt(root: string, ...path: readonly string[]): string {
  const [first, ...rest] = path;
  return `${root}.?${[first, ...rest].join(".?")}.orValue({})`;
}

function isAbout(resource: string): string {
  return `request.resource.resource == "${resource}"`;
}

function isNotAbout(resource: string): string {
  return `request.resource.resource != "${resource}"`;
}

function allOf(...expressions: readonly string[]): string {
  return expressions.map((one) => `(${one})`).join(" && ");
}

function anyOf(...expressions: readonly string[]): string {
  return expressions.map((one) => `(${one})`).join(" || ");
}
