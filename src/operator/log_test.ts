import assert from "node:assert/strict";
import { reset } from "@logtape/logtape";
import type { Logger } from "../runtime/logger.ts";
import { configureLogs, type LogFormat, type LogLevel, operatorLog } from "./log.ts";

Deno.test("configureLogs writes a JSON line with the fields of the log and of the message", async () => {
  const [line] = await logged("debug", "json", (log) => log.with({ name: "a" }).info("Cache rescaled", { from: 1 }));
  const { ts, ...rest } = JSON.parse(line!);
  assert.deepEqual(rest, {
    level: "info",
    severityNumber: 9,
    logger: "test-operator",
    msg: "Cache rescaled",
    name: "a",
    from: 1,
  });
  assert.match(ts, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.equal(line!.endsWith("}\n"), true);
});

Deno.test("configureLogs writes the level as a name and as OpenTelemetry's severity number", async () => {
  const levels = ["debug", "info", "warn", "error"] as const;
  const lines = await logged("debug", "json", (log) => {
    for (const level of levels) log[level]("Cache rescaled", { severityNumber: 1 });
  });
  const found = lines.map((line) => JSON.parse(line)).map(({ level, severityNumber }) => [level, severityNumber]);
  assert.deepEqual(found, [["debug", 5], ["info", 9], ["warn", 13], ["error", 17]]);
});

const CIRCLE: Record<string, unknown> = { name: "circle" };
CIRCLE.self = CIRCLE;

const FIELDS: readonly { name: string; message?: string; fields: Record<string, unknown>; expected: object }[] = [
  { name: "braces in a message", message: "Set {a} and {{b}}", fields: {}, expected: { msg: "Set {a} and {{b}}" } },
  { name: "a line break in a value", fields: { text: "a\nb" }, expected: { text: "a\nb" } },
  { name: "a big integer", fields: { bytes: 2n ** 64n }, expected: { bytes: "18446744073709551616" } },
  { name: "a cyclic value", fields: { circle: CIRCLE }, expected: { msg: "Value logged" } },
  {
    name: "a URL, whose credentials are removed",
    fields: { at: ["postgres://user:pw@db/x"] },
    expected: { at: ["postgres://***@db/x"] },
  },
  {
    name: "a Secret, whose values are masked",
    fields: { of: { secret: { apiVersion: "v1", kind: "Secret", data: { password: "aHVudGVyMg==" } } } },
    expected: { of: { secret: { apiVersion: "v1", kind: "Secret", data: { password: "***" } } } },
  },
  {
    name: "a value that cannot be read",
    fields: {
      toJSON: 1,
      broken: {
        toJSON() {
          throw new Error("no");
        },
      },
    },
    expected: { msg: "Value logged" },
  },
  {
    name: "fields with the names of the line's keys",
    fields: { level: "fatal", msg: "other", ts: 0, logger: "x", kept: 1 },
    expected: { level: "warn", msg: "Value logged", logger: "test-operator", kept: 1 },
  },
];

for (const { name, message = "Value logged", fields, expected } of FIELDS) {
  Deno.test(`configureLogs writes one readable line for any field: ${name}`, async () => {
    const lines = await logged("debug", "json", (log) => log.warn(message, fields));
    assert.equal(lines.length, 1);
    assert.equal(lines[0]!.indexOf("\n"), lines[0]!.length - 1);
    const line = JSON.parse(lines[0]!);
    for (const [key, value] of Object.entries(expected)) assert.deepEqual(line[key], value, key);
    assert.notEqual(line.ts, 0);
  });
}

Deno.test("configureLogs writes an error with its stack", async () => {
  const [line] = await logged("debug", "json", (log) => log.error("Failed", { error: new TypeError("x is y") }));
  assert.match(JSON.parse(line!).error, /^TypeError: x is y\n {4}at /);
});

Deno.test("configureLogs writes lines of the configured level and above", async (t) => {
  const all = (log: Logger) => {
    for (const level of ["debug", "info", "warn", "error"] as const) log[level](level);
  };
  const cases: readonly (readonly [LogLevel, string[]])[] = [
    ["debug", ["debug", "info", "warn", "error"]],
    ["info", ["info", "warn", "error"]],
    ["warn", ["warn", "error"]],
    ["error", ["error"]],
  ];
  for (const [level, expected] of cases) {
    await t.step(level, async () => {
      const lines = (await logged(level, "json", all)).map((line) => JSON.parse(line));
      assert.deepEqual(lines.map(({ msg }) => msg), expected);
      assert.deepEqual(lines.map(({ level }) => level), expected);
    });
  }
});

Deno.test("configureLogs writes text without the fields that only programs need", async () => {
  const [line] = await logged("info", "text", (log) => {
    log.with({ controllerKind: "Cache", reconcileID: "x" }).info("Cache rescaled", { from: 1, to: "two" });
  });
  assert.match(line!, /^\d\d:\d\d:\d\d\.\d{3} INFO {2}Cache rescaled from=1 to="two"\n$/);
});

async function logged(level: LogLevel, format: LogFormat, act: (log: Logger) => void): Promise<string[]> {
  const lines: string[] = [];
  await configureLogs(level, format, (line) => lines.push(line));
  try {
    act(operatorLog("test-operator"));
  } finally {
    await reset();
  }
  return lines;
}
