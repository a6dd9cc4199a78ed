/**
 * Situations that kopf's users reported. The number is that of an issue of nolar/kopf, or after
 * `zalando_` of zalando-incubator/kopf.
 */
import {
  answer,
  awaitCalls,
  awaitDeleted,
  awaitHeld,
  create,
  example,
  hold,
  type Manifest,
  patch,
  release,
  remove,
  type Scenario,
  start,
  step,
  stop,
} from "../scenario.ts";

const ONE = "kopfexamples/one" as const;
const LAST_HANDLED = "kopf.zalando.org/last-handled-configuration";
const STRIPPED = patch(ONE, { metadata: { annotations: null } });

const DEPLOYMENT: Manifest = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "one" },
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: "one" } },
    template: {
      metadata: { labels: { app: "one" } },
      spec: { containers: [{ name: "main", image: "busybox" }] },
    },
  },
};

/** Every issue that a script of changes can show. */
export const ISSUES: readonly Scenario[] = [
  {
    name: "issue_574",
    title: "another controller replaces the annotations of an object whose handlers have succeeded",
    watches: ["kopfexamples"],
    steps: [
      step("start", start()),
      step("create", create(example("one"))),
      step("strip the annotations", STRIPPED),
    ],
  },
  {
    name: "issue_635",
    title: "annotations of a Deployment are copied to its ReplicaSet",
    watches: ["deployments", "replicasets"],
    steps: [
      step("start", start()),
      step("create", create(DEPLOYMENT), awaitCalls("create_replica_set", 1)),
      step("change a label", patch("deployments/one", { metadata: { labels: { stage: "two" } } })),
    ],
  },
  {
    name: "issue_640",
    title: "a deletion handler gives up",
    watches: ["kopfexamples"],
    steps: [
      step("start", start()),
      step("create", create(example("one"))),
      step("delete", answer("clean_up", "permanent"), remove(ONE), awaitCalls("clean_up", 1)),
    ],
  },
  {
    name: "issue_641",
    title: "a change while one of two handlers retries",
    watches: ["kopfexamples"],
    steps: [
      step("start", start()),
      step("create", create(example("one", { size: 1 }))),
      step(
        "change during a retry",
        answer("second", "temporary", "temporary"),
        hold("second", 1),
        patch(ONE, { spec: { size: 2 } }),
        awaitHeld("second"),
        patch(ONE, { spec: { size: 3 } }),
        release("second"),
      ),
      step("a later change", patch(ONE, { spec: { size: 4 } })),
    ],
  },
  {
    name: "issue_701",
    title: "an optional deletion handler of an object without finalizers",
    watches: ["kopfexamples"],
    steps: [
      step("start", start()),
      step("create", create(example("one")), create(example("two", {}, { finalizers: ["example.com/other"] }))),
      step("delete", remove(ONE), awaitDeleted(ONE)),
      step("delete with another finalizer", remove("kopfexamples/two")),
      step(
        "remove that finalizer",
        patch("kopfexamples/two", { metadata: { finalizers: null } }),
        awaitDeleted("kopfexamples/two"),
      ),
    ],
  },
  {
    name: "issue_729",
    title: "a change and its reversal while a handler retries",
    watches: ["kopfexamples"],
    steps: [
      step("start", start()),
      step("create", create(example("one", { size: 1 }))),
      step(
        "reverse during a retry",
        answer("second", "temporary", "temporary"),
        hold("second", 1),
        patch(ONE, { spec: { size: 2 } }),
        awaitHeld("second"),
        patch(ONE, { spec: { size: 1 } }),
        release("second"),
      ),
    ],
  },
  {
    name: "issue_784",
    title: "a field handler for an annotation whose name has dots",
    watches: ["kopfexamples"],
    steps: [
      step("start", start()),
      step("create", create(example("one", {}, { annotations: { "example.com/size": "1" } }))),
      step("change the annotation", patch(ONE, { metadata: { annotations: { "example.com/size": "2" } } })),
      step("change the spec", patch(ONE, { spec: { other: true } })),
    ],
  },
  {
    name: "issue_916",
    title: "a change while the creation handler retries",
    watches: ["kopfexamples"],
    steps: [
      step("start", start()),
      step(
        "change during the creation's retry",
        answer("second", "temporary", "temporary"),
        hold("second", 1),
        create(example("one", { size: 1 })),
        awaitHeld("second"),
        patch(ONE, { spec: { size: 2 } }),
        release("second"),
      ),
      step("a later change", patch(ONE, { spec: { size: 3 } })),
    ],
  },
  {
    name: "issue_1082",
    title: "an object is restored with the annotations of the deleted one",
    watches: ["kopfexamples"],
    steps: [
      step("start", start()),
      step("create", create(example("one", { size: 1 }))),
      step("delete", remove(ONE), awaitDeleted(ONE)),
      step(
        "restore",
        create(example("one", { size: 1 }, { annotations: { [LAST_HANDLED]: '{"spec":{"size":1}}\n' } })),
      ),
      step(
        "clone with a change",
        create(example("two", { size: 2 }, { annotations: { [LAST_HANDLED]: '{"spec":{"size":1}}\n' } })),
      ),
    ],
  },
  {
    name: "issue_1087",
    title: "the stored state of a large Pod",
    watches: ["pods"],
    steps: [
      step("start", start()),
      step(
        "create",
        create({
          apiVersion: "v1",
          kind: "Pod",
          metadata: { name: "one" },
          spec: {
            containers: [{
              name: "main",
              image: "busybox",
              env: Array.from({ length: 100 }, (_, index) => ({ name: `VARIABLE_${index}`, value: "a value" })),
            }],
          },
        }),
      ),
    ],
  },
  {
    name: "issue_1243",
    title: "an index of more objects than there are workers",
    watches: ["kopfexamples"],
    steps: [
      {
        ...step(
          "start with existing objects",
          create(example("one")),
          create(example("two")),
          start(),
          awaitCalls("by_name", 1),
        ),
        settles: false,
      },
    ],
  },
  {
    name: "issue_1294",
    title: "another controller replaces the annotations after every write",
    watches: ["kopfexamples"],
    steps: [
      step("start", start()),
      step("create", create(example("one"))),
      step("strip the annotations once", STRIPPED),
      step("strip the annotations twice", STRIPPED),
      step("strip the annotations three times", STRIPPED),
    ],
  },
  {
    name: "issue_1305",
    title: "two processes of one operator",
    watches: ["kopfexamples"],
    steps: [
      step("start both", start("a"), start("b")),
      {
        ...step(
          "create",
          hold("create_fn"),
          create(example("one")),
          awaitHeld("create_fn"),
          awaitCalls("create_fn", 2),
          release("create_fn"),
        ),
      },
    ],
  },
  {
    name: "zalando_112",
    title: "the order of resume and update handlers after a change while down",
    watches: ["kopfexamples"],
    steps: [
      step("start", start()),
      step("create", create(example("one"))),
      step("change while down", stop(), patch(ONE, { spec: { field: "while down" } }), start()),
      step("create while down", stop(), create(example("two")), start()),
    ],
  },
  {
    name: "zalando_113",
    title: "a resume handler that fails at first",
    watches: ["kopfexamples"],
    steps: [
      step("start", start()),
      step("create", create(example("one"))),
      step("restart", stop(), answer("resume_1", "temporary"), start()),
      step("change", patch(ONE, { spec: { field: "changed" } })),
    ],
  },
  {
    name: "zalando_150",
    title: "a child is deleted",
    watches: ["kopfexamples"],
    children: ["pods"],
    steps: [
      step("start", start()),
      step("create", create(example("one"))),
      step("delete the child", remove("pods/one-child"), awaitDeleted("pods/one-child")),
      step("restart", stop(), start()),
      step("change", patch(ONE, { spec: { field: "changed" } })),
    ],
  },
  {
    name: "zalando_223",
    title: "changes after a resume handler was called",
    watches: ["kopfexamples"],
    steps: [
      step("create while down", create(example("one")), start()),
      step("restart", stop(), start()),
      step("change", patch(ONE, { spec: { field: "changed" } })),
      step("change the status", patch(ONE, { status: { observed: 1 } }, { subresource: "status" })),
    ],
  },
];
