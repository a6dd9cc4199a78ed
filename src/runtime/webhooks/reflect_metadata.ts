/**
 * The part of the `Reflect` metadata API that `@peculiar/x509` needs while it loads, because it
 * uses tsyringe's decorators. Import this file first. If the package `reflect-metadata` is already
 * loaded, this file does nothing.
 */
type MetadataReflect = {
  getMetadata?(key: unknown, target: object): unknown;
  getOwnMetadata?(key: unknown, target: object): unknown;
  defineMetadata?(key: unknown, value: unknown, target: object): void;
};

const reflect = Reflect as MetadataReflect;

if (reflect.getMetadata === undefined) {
  const store = new WeakMap<object, Map<unknown, unknown>>();
  reflect.getOwnMetadata = (key, target) => store.get(target)?.get(key);
  reflect.getMetadata = (key, target) => {
    for (let holder: object | null = target; holder !== null; holder = Object.getPrototypeOf(holder)) {
      if (store.get(holder)?.has(key)) return store.get(holder)?.get(key);
    }
    return undefined;
  };
  reflect.defineMetadata = (key, value, target) => {
    const values = store.get(target) ?? new Map<unknown, unknown>();
    store.set(target, values.set(key, value));
  };
}
