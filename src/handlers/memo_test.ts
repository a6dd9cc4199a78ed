import assert from "node:assert/strict";
import { memo, MemoStore } from "./memo.ts";

const site = { metadata: { uid: "1" } };
const otherSite = { metadata: { uid: "2" } };

/** A store whose errors are collected. */
function storeWithErrors(): { store: MemoStore; errors: [unknown, string][] } {
  const errors: [unknown, string][] = [];
  return { store: new MemoStore((error, uid) => errors.push([error, uid])), errors };
}

/** A memo that records which values were disposed of. */
function recordedMemo(name: string, disposals: string[]) {
  return memo(({ metadata: { uid } }) => ({ [Symbol.dispose]: () => void disposals.push(`${name} of ${uid}`) }));
}

Deno.test("memo: a value is created once for each object", () => {
  const { store } = storeWithErrors();
  const pings = memo(({ metadata: { uid } }) => ({ uid, count: 0 }));

  store.get(pings, site).count++;
  store.get(pings, { metadata: { uid: "1" } }).count++;

  assert.deepEqual(store.get(pings, site), { uid: "1", count: 2 });
  assert.deepEqual(store.get(pings, otherSite), { uid: "2", count: 0 });
  assert.equal(store.size, 2);
});

Deno.test("memo: a value of undefined is stored", () => {
  const { store } = storeWithErrors();
  let created = 0;
  const empty = memo(() => void created++);

  store.get(empty, site);
  store.get(empty, site);

  assert.equal(created, 1);
});

Deno.test("memo: two memos have separate values, also if one uses the other", () => {
  const { store } = storeWithErrors();
  const inner = memo(() => ({ name: "inner" }));
  const outer = memo(() => ({ name: "outer", inner: store.get(inner, site) }));

  const value = store.get(outer, site);

  assert.equal(value.inner, store.get(inner, site));
  assert.equal(value, store.get(outer, site));
});

Deno.test("memo: the values of a deleted object are disposed of, the last one first", async () => {
  const { store } = storeWithErrors();
  const disposals: string[] = [];
  const [first, second] = [recordedMemo("first", disposals), recordedMemo("second", disposals)];
  for (const object of [site, otherSite]) for (const each of [first, second]) store.get(each, object);

  await store.delete("1");

  assert.deepEqual(disposals, ["second of 1", "first of 1"]);
  assert.equal(store.size, 1);
});

Deno.test("memo: an object with a new uid gets a new value", async () => {
  const { store } = storeWithErrors();
  const pings = memo(() => ({}));
  const before = store.get(pings, site);
  await store.delete("1");

  assert.notEqual(store.get(pings, site), before);
});

Deno.test("memo: asynchronous disposal is awaited and preferred", async () => {
  const { store } = storeWithErrors();
  const disposals: string[] = [];
  const connection = memo(() => ({
    [Symbol.dispose]: () => void disposals.push("dispose"),
    [Symbol.asyncDispose]: async () => {
      await Promise.resolve();
      disposals.push("asyncDispose");
    },
  }));
  store.get(connection, site);

  await store[Symbol.asyncDispose]();

  assert.deepEqual(disposals, ["asyncDispose"]);
  assert.equal(store.size, 0);
});

Deno.test("memo: an error of a disposal is reported, and the other values are disposed of", async () => {
  const { store, errors } = storeWithErrors();
  const disposals: string[] = [];
  const failure = new Error("no connection");
  const failing = memo(() => ({
    [Symbol.dispose]() {
      throw failure;
    },
  }));
  store.get(recordedMemo("value", disposals), site);
  store.get(failing, site);

  await store.delete("1");

  assert.deepEqual(errors, [[failure, "1"]]);
  assert.deepEqual(disposals, ["value of 1"]);
});

Deno.test("memo: a value that could not be created is created by the next use", async () => {
  const { store, errors } = storeWithErrors();
  let attempts = 0;
  const sync = memo(() => {
    if (++attempts === 1) throw new Error("first");
    return attempts;
  });
  assert.throws(() => store.get(sync, site), { message: "first" });
  assert.equal(store.get(sync, site), 2);

  attempts = 0;
  const async = memo(() => ++attempts === 1 ? Promise.reject(new Error("first")) : Promise.resolve(attempts));
  await assert.rejects(store.get(async, otherSite), { message: "first" });
  assert.equal(await store.get(async, otherSite), 2);
  assert.deepEqual(errors, []);
});

Deno.test("memo: the value of a promise is disposed of", async () => {
  const { store } = storeWithErrors();
  const disposals: string[] = [];
  const connection = memo(() => Promise.resolve({ [Symbol.dispose]: () => void disposals.push("closed") }));
  store.get(connection, site);

  await store.delete("1");

  assert.deepEqual(disposals, ["closed"]);
});

Deno.test("memo: no value is created after the store was disposed of", async () => {
  const { store } = storeWithErrors();
  await store[Symbol.asyncDispose]();

  assert.throws(() => store.get(memo(() => 1), site), { name: "Error" });
});
