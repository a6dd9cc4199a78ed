/** Paths, checked by the type system step by step: a union of all paths would not end on schemas that contain themselves. */

/** A path's first name and what follows it: both `.` and `[` end a name, and `\.` is a dot within it. */
type FirstName<P extends string, Before extends string = ""> = P extends `${infer Name}[${infer After}`
  ? Name extends `${string}.${string}` ? UpToDot<P, Before> : [`${Before}${Name}`, `[${After}`]
  : UpToDot<P, Before>;

type UpToDot<P extends string, Before extends string> = P extends `${infer Name}.${infer After}`
  ? Name extends `${infer Start}\\` ? FirstName<After, `${Before}${Start}.`> : [`${Before}${Name}`, `.${After}`]
  : [`${Before}${P}`, ""];

/** What is at a key: of any JSON anything, of nothing nothing. */
type At<T, Name extends string> = unknown extends T ? unknown
  : T extends readonly unknown[] ? never
  : Name extends keyof T ? Present<T[Name]>
  : never;

type Item<T> = unknown extends T ? unknown : T extends readonly (infer I)[] ? Present<I> : never;

type Present<T> = unknown extends T ? unknown : NonNullable<T>;

/**
 * The type of what a path leads to; `never` where it leads nowhere. As the server reads it, a quoted key is a name like any other: its dots
 * too have to be written as `\.`.
 */
export type PathTarget<T, P extends string> = [T] extends [never] ? never
  : P extends "" ? T
  : P extends `.${infer After}`
    ? FirstName<After> extends [infer Name extends string, infer Rest extends string] ? PathTarget<At<T, Name>, Rest>
    : never
  : P extends `['${infer Name}']${infer Rest}` ? PathTarget<PathTarget<T, `.${Name}`>, Rest>
  : P extends `[?(@${infer Filter})]${infer Rest}`
    ? [PathTarget<Item<T>, FilterPath<Filter>>] extends [never] ? never : PathTarget<Item<T>, Rest>
  : P extends `[${number | "*" | Slice}]${infer Rest}` ? PathTarget<Item<T>, Rest>
  : never;

/** Some items of a list: `1:3`, `:2`, `0:`. */
type Slice = `${number | ""}:${number | ""}`;

/** What a filter looks at: all of it, or what stands before the comparison. */
type FilterPath<Filter extends string> = Trimmed<UpTo<UpTo<UpTo<UpTo<Filter, "=">, "!">, "<">, ">">>;

type UpTo<Text extends string, End extends string> = Text extends `${infer Before}${End}${string}` ? Before : Text;

type Trimmed<P extends string> = P extends `${infer Path} ` ? Trimmed<Path> : P;

type NotKnown = "write the path where it is used, or add `as const` where it is written";

/** The path itself where it leads somewhere; otherwise the sentence that the compiler shows. */
export type CheckedPath<T, P extends string> = string extends P ? NotKnown
  : [PathTarget<T, P>] extends [never] ? `${P} is not in the schema`
  : P;

/** The type of what a path of plain names leads to, as `.spec.replicas`; `never` where it leads nowhere. */
type NamesTarget<T, P extends string> = [T] extends [never] ? never
  : P extends `.${infer Name}.${infer Rest}` ? NamesTarget<At<T, Name>, `.${Rest}`>
  : P extends `.${infer Name}` ? At<T, Name>
  : never;

/** The path itself where it leads to what is wanted; otherwise the sentence that the compiler shows. */
export type CheckedNames<T, P extends string, Wanted, What extends string> = string extends P ? NotKnown
  : [NamesTarget<T, P>] extends [never] ? `${P} is not in the schema`
  : unknown extends NamesTarget<T, P> ? P
  : [NamesTarget<T, P>] extends [Wanted] ? P
  : `${P} is not ${What}`;
