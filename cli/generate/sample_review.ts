/**
 * Reviews samples with the operator's own webhooks, in the process that loads the operator. The API
 * server of `@op/sdk/testing` converts, defaults and validates each sample, calls the webhooks, and
 * stores no object.
 */

/** The rejection of a sample. */
export interface SampleRejection {
  /** The sample. */
  readonly apiVersion: string;
  readonly kind: string;
  /**
   * Key of the webhook in the operator's parts. Absent if the schema or a rule rejected the sample.
   */
  readonly webhook?: string;
  /** The field that is wrong. */
  readonly field?: string;
  readonly message: string;
}

/** The maximum time for all webhooks together, in milliseconds. */
const TIMEOUT = 20_000;

/**
 * Code that defines `reviewSamples(op, samples)`, which resolves with a list of
 * {@linkcode SampleRejection}. It does not call webhooks that read the cluster or use services:
 * their result depends on what exists there.
 */
export const REVIEW_SAMPLES = `
async function reviewSamples(op, samples) {
  const rejections = [];
  const { controllers, webhooks, conversions } = op.units;
  const reviewers = [...webhooks].filter(([, { reads, uses, subresource, operations }]) =>
    reads.length === 0 && uses.length === 0 && subresource === undefined && operations.includes("CREATE"));
  const names = new Set(reviewers.map(([, { kind }]) => kind.group + "/" + kind.kind));
  const reviewed = samples.filter(({ manifest, errors }) =>
    errors.length === 0 && names.has(manifest.apiVersion.split("/")[0] + "/" + manifest.kind));
  if (reviewed.length === 0) return rejections;
  let testing;
  try {
    testing = await import("@op/sdk/testing");
  } catch {
    return rejections; // The file imports the SDK by another name.
  }
  let manifest, usesServices;
  const isFieldError = (value) => value?.name === "Denial" || ["reason", "field", "message"].every((key) => typeof value?.[key] === "string");
  const reject = (webhook, { field, message }) => {
    const { apiVersion, kind } = manifest;
    rejections.push({ apiVersion, kind, webhook, ...(field ? { field } : {}), message: String(message) });
  };
  const recorded = (key, call) => call && (async (object, context) => {
    const watched = new Proxy(context, {
      get: (target, name) => {
        if (name === "services") usesServices = true;
        return Reflect.get(target, name);
      },
    });
    try {
      const answer = await call(object, watched);
      for (const value of [answer].flat()) if (isFieldError(value)) reject(key, value);
      return answer;
    } catch (error) {
      if (isFieldError(error)) reject(key, error);
      else if (!usesServices) reject(key, { message: "it failed: " + (error?.message ?? error) });
      throw error;
    }
  });
  const called = [
    ...conversions,
    ...reviewers.map(([key, webhook]) =>
      [key, { ...webhook, mutate: recorded(key, webhook.mutate), validate: recorded(key, webhook.validate) }]),
  ];
  const own = [...controllers, ...webhooks, ...conversions].flatMap(([, { kind, into }]) => [kind, into])
    .filter((kind) => kind?.crd !== undefined);
  // The last definition of a kind is used: the one with the most versions.
  own.sort((a, b) => a.crd.spec.versions.length - b.crd.spec.versions.length);
  const cluster = await testing.memoryCluster({ parts: Object.fromEntries(called), kinds: own, failures: "collect" });
  try {
    for (const sample of reviewed) {
      manifest = sample.manifest;
      usesServices = false;
      const before = rejections.length;
      const kind = own.find((one) => one.apiVersion === manifest.apiVersion && one.kind === manifest.kind);
      const place = kind.namespaced ? { namespace: "default" } : {};
      try {
        await cluster.client.create(kind, manifest, { ...place, dryRun: true });
      } catch (error) {
        if (rejections.length === before && !usesServices) reject(undefined, error);
      }
    }
  } finally {
    await cluster[Symbol.asyncDispose]();
  }
  return rejections;
}

/** Limits the time of the review, because a webhook of the user may never finish. */
async function reviewedInTime(op, samples) {
  let timer;
  const late = new Promise((resolve) => timer = setTimeout(resolve, ${TIMEOUT}, []));
  try {
    return await Promise.race([reviewSamples(op, samples), late]);
  } finally {
    clearTimeout(timer);
  }
}
`;

/** Formats the rejection of a sample. */
export function rejectionOf({ webhook, field, message }: SampleRejection): string {
  const reason = field === undefined ? message : `${field}: ${message}`;
  return webhook === undefined ? reason : `webhook "${webhook}": ${reason}`;
}
