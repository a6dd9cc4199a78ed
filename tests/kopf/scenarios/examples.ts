/**
 * kopf's examples by subject and number. Each runs an operator through creation, a change, a change
 * while a handler fails, a restart, changes while no operator runs, and deletion, as far as the
 * subject of the example has them.
 */
import {
  type Action,
  answer,
  awaitCalls,
  awaitDeleted,
  awaitHeld,
  awaitPaused,
  awaitResumed,
  create,
  example,
  hold,
  kill,
  type Manifest,
  patch,
  release,
  remove,
  type Scenario,
  start,
  type Step,
  step,
  stop,
} from "../scenario.ts";

const ONE = "kopfexamples/one" as const;
const MATCHING = {
  labels: { somelabel: "somevalue" },
  annotations: { someannotation: "somevalue" },
};

/** Changes the spec, a label and the status of an object. */
function changes(): Step[] {
  return [
    step("change the spec", patch(ONE, { spec: { field: "changed", items: ["item2", "item3"] } })),
    step("change a label", patch(ONE, { metadata: { labels: { stage: "two" } } })),
    step("change the status", patch(ONE, { status: { observed: 1 } }, { subresource: "status" })),
  ];
}

/** Restarts the operator without a change, and with a change while it is down. */
function restarts(): Step[] {
  return [
    step("restart", stop(), start()),
    step("change while down", stop(), patch(ONE, { spec: { field: "while down" } }), start()),
    step("crash", kill(), start()),
  ];
}

/** Changes an object while the second attempt of a handler is running, which then fails, too. */
function changeDuring(handler: string, begin: Action): Action[] {
  return [
    answer(handler, "temporary", "temporary"),
    hold(handler, 1),
    begin,
    awaitHeld(handler),
    patch(ONE, { spec: { field: "during a retry" } }),
    release(handler),
  ];
}

function deletion(): Step[] {
  return [step("delete", remove(ONE), awaitDeleted(ONE))];
}

function pod(name: string, labels: Readonly<Record<string, string>> = {}): Manifest {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, labels },
    spec: { containers: [{ name: "main", image: "busybox" }] },
  };
}

/** Every example, in kopf's order. */
export const EXAMPLES: readonly Scenario[] = [
  {
    name: "example_01",
    title: "a creation handler whose result goes to the status",
    watches: ["kopfexamples"],
    steps: [
      step("start", start()),
      step("create", create(example("one"))),
      ...changes(),
      ...restarts(),
      ...deletion(),
      step("create while down", stop(), create(example("one")), start()),
      step("delete while down", stop(), remove(ONE), start()),
    ],
  },
  {
    name: "example_02",
    title: "a child Pod that is collected with its parent",
    watches: ["kopfexamples"],
    children: ["pods"],
    steps: [
      step("start", start()),
      step("create", create(example("one"))),
      ...changes(),
      step("restart", stop(), start()),
      ...deletion(),
    ],
  },
  {
    name: "example_03",
    title: "permanent and temporary errors, limited attempts, and bugs",
    watches: ["kopfexamples"],
    steps: [
      step("start", start()),
      step("create", create(example("one"))),
      ...changes(),
      ...restarts(),
      ...deletion(),
      step("change during a retry", ...changeDuring("fourth_attempt", create(example("one")))),
    ],
  },
  {
    name: "example_04",
    title: "Events that a handler reports",
    watches: ["kopfexamples"],
    steps: [step("start", start()), step("create", create(example("one"))), ...changes(), ...deletion()],
  },
  {
    name: "example_05",
    title: "several handlers per cause, and one for a field",
    watches: ["kopfexamples"],
    steps: [
      step("start", start()),
      step("create", create(example("one"))),
      ...changes(),
      ...restarts(),
      step("change during a retry", ...changeDuring("update_fn", patch(ONE, { spec: { field: "retried" } }))),
      step("a deletion handler fails", answer("delete_fn_2", "temporary"), remove(ONE), awaitDeleted(ONE)),
      step("change during the creation's retry", ...changeDuring("create_fn_2", create(example("one")))),
      step("delete while down", stop(), remove(ONE), start(), awaitDeleted(ONE)),
    ],
  },
  {
    name: "example_06",
    title: "an operator that pauses for another one of higher priority",
    watches: ["kopfexamples"],
    peers: true,
    steps: [
      step("start a", start("a")),
      step("create with a", create(example("one"))),
      step("start b", start("b"), awaitPaused("a")),
      step("create with b", create(example("two"))),
      step("stop b", stop("b"), awaitResumed("a")),
      step("create after b", create(example("three"))),
    ],
  },
  {
    name: "example_07",
    title: "a handler per item, known only when the object is handled",
    watches: ["kopfexamples"],
    steps: [
      step("start", start()),
      step("create", create(example("one"))),
      ...changes(),
      ...deletion(),
      step("an item fails", answer("create_fn/item2", "temporary", "temporary"), create(example("one"))),
      ...deletion(),
      step("change during an item's retry", ...changeDuring("create_fn/item2", create(example("one")))),
    ],
  },
  {
    name: "example_08",
    title: "observers of all changes",
    watches: ["kopfexamples"],
    steps: [
      step("start", start()),
      step("create", create(example("one"))),
      ...changes(),
      step("restart", stop(), start()),
      step("change while down", stop(), patch(ONE, { spec: { field: "while down" } }), start()),
      ...deletion(),
      step("create while down", stop(), create(example("one")), start()),
      step("delete while down", stop(), remove(ONE), start()),
    ],
  },
  {
    name: "example_09",
    title: "an operator to be tested",
    watches: ["kopfexamples"],
    steps: [step("start", start()), step("create", create(example("one"))), ...deletion()],
  },
  {
    name: "example_10",
    title: "a built-in kind, with one function for creation and after restarts",
    watches: ["pods"],
    steps: [
      step("start", start()),
      step("create", create(pod("one"))),
      step("change a label", patch("pods/one", { metadata: { labels: { stage: "two" } } })),
      step("restart", stop(), start()),
      step("change while down", stop(), patch("pods/one", { metadata: { labels: { stage: "three" } } }), start()),
      step("delete", remove("pods/one"), awaitDeleted("pods/one")),
    ],
  },
  {
    name: "example_11",
    title: "filters by labels, annotations, functions and fields",
    watches: ["kopfexamples"],
    steps: [
      step("start", start()),
      step("create a match", create(example("one", { field: "value" }, MATCHING)), awaitCalls("field_daemon", 1)),
      step("create another", create(example("two", { field: "other" }))),
      step("change to the expected value", patch(ONE, { spec: { field: "changed" } })),
      step("change to another value", patch(ONE, { spec: { field: "other" } })),
      step("delete both", remove(ONE), remove("kopfexamples/two"), awaitDeleted(ONE), awaitDeleted("kopfexamples/two")),
    ],
  },
  {
    name: "example_12",
    title: "an operator that is part of a program and gets values from it",
    watches: ["kopfexamples"],
    steps: [step("start", start()), step("create", create(example("one"))), ...deletion(), step("stop", stop())],
  },
  {
    name: "example_13",
    title: "startup with retries, cleanup and credentials",
    watches: ["pods"],
    steps: [
      step("start", start()),
      step("create", create(pod("one"))),
      step("stop", stop()),
    ],
  },
  {
    name: "example_14",
    title: "daemons that fail, return and are cancelled",
    watches: ["kopfexamples"],
    steps: [
      step("start", start()),
      step(
        "create",
        create(example("one", { field: "value" }, MATCHING)),
        awaitCalls("background", 4),
        awaitCalls("cancelled", 1),
      ),
      step("change the spec", patch(ONE, { spec: { field: "changed" } })),
      step("restart", stop(), start(), awaitCalls("background", 4), awaitCalls("cancelled", 1)),
      step("delete", remove(ONE), awaitDeleted(ONE)),
    ],
  },
  {
    name: "example_15",
    title: "timers of idle objects",
    watches: ["kopfexamples"],
    steps: [
      step("start", start()),
      step(
        "create",
        create(example("one")),
        awaitCalls("every_fifth_of_a_second", 3),
        awaitCalls("every_two_fifths", 2),
      ),
      step(
        "change the spec",
        patch(ONE, { spec: { field: "changed" } }),
        awaitCalls("every_fifth_of_a_second", 1),
        awaitCalls("every_two_fifths", 1),
      ),
      step("restart", stop(), start(), awaitCalls("every_fifth_of_a_second", 1), awaitCalls("every_two_fifths", 1)),
      step(
        "delete",
        awaitCalls("every_fifth_of_a_second", 1),
        awaitCalls("every_two_fifths", 1),
        remove(ONE),
        awaitDeleted(ONE),
      ),
    ],
  },
  {
    name: "example_16",
    title: "an index of Pods",
    watches: ["kopfexamples", "pods"],
    steps: [
      step("start", start()),
      step("create Pods", create(pod("one", { app: "shop" })), create(pod("two", { app: "blog" }))),
      step("create", create(example("one")), awaitCalls("count", 2)),
      step("restart", stop(), start(), awaitCalls("count", 2)),
      step("delete", awaitCalls("count", 1), remove(ONE), awaitDeleted(ONE)),
    ],
  },
  {
    name: "example_17",
    title: "admission: warnings, denials, a subresource and a mutation",
    watches: [],
    children: ["kopfexamples"],
    webhooks: true,
    steps: [
      step("start", start(), { do: "awaitWebhooks", object: example("probe", { field: "value" }) }),
      step("a valid object", create(example("one", { field: "value" }), { recorded: true })),
      step("a mutated object", create(example("two", { field: "value" }, MATCHING), { recorded: true })),
      step("a wrong object", create(example("three", { field: "wrong" }), { recorded: true })),
      step("a wrong change", patch(ONE, { spec: { field: "not-allowed" } }, { recorded: true })),
      step("a wrong status", patch(ONE, { status: { field: "other" } }, { subresource: "status", recorded: true })),
      step("a valid status", patch(ONE, { status: { field: "value" } }, { subresource: "status", recorded: true })),
    ],
  },
  {
    name: "example_99",
    title: "most features at once",
    watches: ["kopfexamples", "pods"],
    steps: [
      step("start", start()),
      step("create", create(example("one"))),
      ...changes(),
      ...restarts(),
      step("change during a retry", ...changeDuring("update", patch(ONE, { spec: { field: "retried" } }))),
      ...deletion(),
      step("stop", stop()),
    ],
  },
];
