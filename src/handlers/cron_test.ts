import assert from "node:assert/strict";
import fc from "fast-check";
import { cronSchedule } from "./cron.ts";

const MINUTE = 60_000;
const YEAR = 2027;

/** Time zones with clock changes of an hour and of half an hour, in both hemispheres. */
const ZONES = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe"];

const cases: { name: string; cron: string; zone: string; after: string; next: string[] }[] = [
  {
    name: "a skipped time occurs at the clock change",
    cron: "30 2 * * *",
    zone: "Europe/Berlin",
    after: "2027-03-27T02:00Z",
    next: ["2027-03-28T01:00Z", "2027-03-29T00:30Z"],
  },
  {
    name: "several skipped times occur once",
    cron: "0,30 2 * * *",
    zone: "Europe/Berlin",
    after: "2027-03-27T02:00Z",
    next: ["2027-03-28T01:00Z", "2027-03-29T00:00Z"],
  },
  {
    name: "a repeated time occurs once",
    cron: "30 2 * * *",
    zone: "Europe/Berlin",
    after: "2027-10-30T12:00Z",
    next: ["2027-10-31T00:30Z", "2027-11-01T01:30Z"],
  },
  {
    name: "an interval continues through repeated times",
    cron: "*/30 * * * *",
    zone: "Europe/Berlin",
    after: "2027-10-31T00:00Z",
    next: ["2027-10-31T00:30Z", "2027-10-31T01:00Z", "2027-10-31T01:30Z", "2027-10-31T02:00Z"],
  },
  {
    name: "a clock change of 30 minutes is handled",
    cron: "15 2 * * *",
    zone: "Australia/Lord_Howe",
    after: "2027-10-02T00:00Z",
    next: ["2027-10-02T15:30Z", "2027-10-03T15:15Z"],
  },
  {
    name: "six fields begin with seconds",
    cron: "20 0 3 * * *",
    zone: "UTC",
    after: "2027-01-01",
    next: ["2027-01-01T03:00:20Z"],
  },
  { name: "@daily is midnight", cron: "@daily", zone: "Asia/Tokyo", after: "2027-01-01", next: ["2027-01-01T15:00Z"] },
  {
    name: "names of days are accepted",
    cron: "0 0 * * MON-FRI",
    zone: "UTC",
    after: "2027-01-01",
    next: ["2027-01-04"],
  },
  {
    name: "the day of month or the day of week must match",
    cron: "0 0 13 * FRI",
    zone: "UTC",
    after: "2027-01-09",
    next: ["2027-01-13", "2027-01-15"],
  },
];

for (const { name, cron, zone, after, next } of cases) {
  Deno.test(`cron: ${name}`, () => {
    const schedule = cronSchedule(cron, zone);
    const found: Date[] = [];
    for (let at = Date.parse(after); found.length < next.length;) found.push(new Date(at = schedule.next(at)));

    assert.deepEqual(found, next.map((time) => new Date(time)));
  });
}

Deno.test("cron: a time is not after itself, and milliseconds are considered", () => {
  const schedule = cronSchedule("0 3 * * *");
  const [first, second] = [Date.UTC(YEAR, 0, 1, 3), Date.UTC(YEAR, 0, 2, 3)];

  assert.equal(schedule.next(first - 1), first);
  assert.equal(schedule.next(first), second);
  assert.equal(schedule.next(first - 1), first);
});

const invalid: { cron: string; zone?: string; error: string }[] = [
  { cron: "", error: "SyntaxError" },
  { cron: "61 * * * *", error: "SyntaxError" },
  { cron: "* * * *", error: "SyntaxError" },
  { cron: "* * * * * * *", error: "SyntaxError" },
  { cron: "*/0 * * * *", error: "SyntaxError" },
  { cron: "@reboot", error: "SyntaxError" },
  { cron: "2027-01-01T03:00:00", error: "SyntaxError" },
  { cron: "0 0 30 2 *", error: "RangeError" },
  { cron: "0 3 * * *", zone: "Europe/Atlantis", error: "RangeError" },
  { cron: "0 3 * * *", zone: "+02:00", error: "RangeError" },
  { cron: "0 3 * * *", zone: "", error: "RangeError" },
];

for (const { cron, zone = "UTC", error } of invalid) {
  Deno.test(`cron: ${JSON.stringify(cron)} in time zone ${JSON.stringify(zone)} is rejected`, () => {
    assert.throws(() => cronSchedule(cron, zone), { name: error });
  });
}

/** The local time of each minute of a year, in minutes since the epoch as if it were UTC. */
function localMinutes(zone: string): readonly number[] {
  const format = new Intl.DateTimeFormat("en", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
  });
  const result: number[] = [];
  // Offsets change at full quarters of an hour only.
  for (let at = Date.UTC(YEAR, 0, 1); at < Date.UTC(YEAR + 1, 0, 1); at += 15 * MINUTE) {
    const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
    const local = Date.UTC(parts["year"]!, parts["month"]! - 1, parts["day"]!, parts["hour"]!, parts["minute"]!);
    for (let i = 0; i < 15; i++) result.push(local / MINUTE + i);
  }
  return result;
}

interface Fields {
  readonly minute: string;
  readonly hour: string;
  readonly day: string;
  readonly weekday: string;
}

/** Returns the occurrences in a year by looking at each minute. */
function* occurrences(fields: Fields, local: readonly number[]): Generator<number> {
  const [minute, hour] = [values(fields.minute, 0, 59), values(fields.hour, 0, 23)];
  const [day, weekday] = [values(fields.day, 1, 31), values(fields.weekday, 0, 6)];
  const isMatch = (time: number): boolean => {
    const date = new Date(time * MINUTE);
    if (!minute.has(date.getUTCMinutes()) || !hour.has(date.getUTCHours())) return false;
    const [isDay, isWeekday] = [day.has(date.getUTCDate()), weekday.has(date.getUTCDay())];
    return fields.day !== "*" && fields.weekday !== "*" ? isDay || isWeekday : isDay && isWeekday;
  };
  const isInterval = /[*/]/.test(fields.minute + fields.hour);
  let latest = local[0]! - 1;
  for (const [i, time] of local.entries()) {
    let isDue = isMatch(time);
    if (!isInterval) {
      if (time <= latest) isDue = false;
      for (let skipped = latest + 1; skipped < time; skipped++) isDue ||= isMatch(skipped);
    }
    latest = Math.max(latest, time);
    if (isDue) yield Date.UTC(YEAR, 0, 1) + i * MINUTE;
  }
}

/** Returns the values of a field with numbers, ranges, steps and lists. */
function values(field: string, min: number, max: number): ReadonlySet<number> {
  const result = new Set<number>();
  for (const item of field.split(",")) {
    const [range = "", step = "1"] = item.split("/");
    const [first = min, last = range === "*" ? max : first] = range === "*" ? [] : range.split("-").map(Number);
    for (let value = first; value <= last; value += Number(step)) result.add(value);
  }
  return result;
}

const number = (min: number, max: number) => fc.integer({ min, max }).map(String);
const range = (min: number, max: number) =>
  fc.tuple(fc.integer({ min, max }), fc.integer({ min, max })).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`);
const list = (min: number, max: number) =>
  fc.array(fc.oneof(number(min, max), range(min, max)), { minLength: 1, maxLength: 3 }).map((items) => items.join());
const step = (max: number) => fc.integer({ min: 2, max }).map((by) => `*/${by}`);

// Most hours are those of clock changes.
const fields: fc.Arbitrary<Fields> = fc.record({
  minute: fc.oneof(number(0, 59), list(0, 59), step(30), fc.constant("*")),
  hour: fc.oneof(number(1, 3), list(0, 4), number(0, 23), step(12), fc.constant("*")),
  day: fc.oneof({ weight: 3, arbitrary: fc.constant("*") }, list(1, 31)),
  weekday: fc.oneof({ weight: 3, arbitrary: fc.constant("*") }, list(0, 6)),
});

for (const zone of ZONES) {
  Deno.test(`cron: a year in ${zone} is as a search minute by minute finds it`, () => {
    const local = localMinutes(zone);
    fc.assert(
      fc.property(fields, (each) => {
        const expected = [...occurrences(each, local)];
        const { minute, hour, day, weekday } = each;
        const schedule = cronSchedule(`${minute} ${hour} ${day} * ${weekday}`, zone);
        // Frequent schedules are compared in the days around the clock changes only.
        const isFrequent = expected.length > 2000;
        let at = Date.UTC(YEAR, 0, 1) - 1;
        for (const time of expected) {
          if (isFrequent && !isNearChange(time, local)) {
            at = time;
            continue;
          }
          assert.equal(new Date(schedule.next(at)).toISOString(), new Date(time).toISOString());
          at = time;
        }
        assert(schedule.next(at) >= Date.UTC(YEAR + 1, 0, 1));
      }),
      { numRuns: 15 },
    );
  });
}

/** Returns whether the offset changes within four hours of a time. */
function isNearChange(time: number, local: readonly number[]): boolean {
  const i = (time - Date.UTC(YEAR, 0, 1)) / MINUTE;
  const offset = (index: number) =>
    local[Math.min(Math.max(index, 0), local.length - 1)]! -
    Math.min(Math.max(index, 0), local.length - 1);
  return offset(i - 240) !== offset(i + 240);
}
