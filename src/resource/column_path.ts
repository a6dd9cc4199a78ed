/** Type-checks paths step by step. A union of all paths would be infinite for recursive schemas. */

/**
 * The first name of a path and the rest: both `.` and `[` end a name, and `\.` is a dot within it.
 */
export type FirstName<P extends string, Before extends string = ""> = P extends `${infer Name}[${infer After}`
  ? Name extends `${string}.${string}` ? UpToDot<P, Before> : [`${Before}${Name}`, `[${After}`]
  : UpToDot<P, Before>;

/** The first name of a path without brackets, and the rest. */
export type UpToDot<P extends string, Before extends string> = P extends `${infer Name}.${infer After}`
  ? Name extends `${infer Start}\\` ? FirstName<After, `${Before}${Start}.`> : [`${Before}${Name}`, `.${After}`]
  : [`${Before}${P}`, ""];

/** The type of a property, or `never` if it does not exist. */
export type At<T, Name extends string> = unknown extends T ? unknown
  : T extends readonly unknown[] ? never
  : Name extends keyof T ? Present<T[Name]>
  : never;

type Item<T> = unknown extends T ? unknown : T extends readonly (infer I)[] ? Present<I> : never;

/** The type without `null` and `undefined`. */
export type Present<T> = unknown extends T ? unknown : NonNullable<T>;

/**
 * The type of a path's target; `never` if the path does not resolve. As on the server, dots must be
 * escaped as `\.` even in a quoted key.
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

/** A slice of a list: `1:3`, `:2`, `0:`. */
type Slice = `${number | ""}:${number | ""}`;

/** The path in a filter: the whole filter, or the part before the comparison. */
type FilterPath<Filter extends string> = WithoutTrailingSpaces<UpTo<UpTo<UpTo<UpTo<Filter, "=">, "!">, "<">, ">">>;

type UpTo<Text extends string, End extends string> = Text extends `${infer Before}${End}${string}` ? Before : Text;

type WithoutTrailingSpaces<P extends string> = P extends `${infer Path} ` ? WithoutTrailingSpaces<Path> : P;

/** The message that the compiler shows if a path is not a literal. */
export type NotLiteral = "the type of the path must be a literal: write the path inline, or declare it `as const`";

/** The path itself if it resolves; otherwise the message that the compiler shows. */
export type CheckedPath<T, P extends string> = string extends P ? NotLiteral
  : [PathTarget<T, P>] extends [never] ? `${P} is not in the schema`
  : P;

/**
 * The type of the target of a path with plain names, such as `.spec.replicas`; `never` if it does
 * not resolve.
 */
type NamesTarget<T, P extends string> = [T] extends [never] ? never
  : P extends `.${infer Name}.${infer Rest}` ? NamesTarget<At<T, Name>, `.${Rest}`>
  : P extends `.${infer Name}` ? At<T, Name>
  : never;

/**
 * The path itself if its target has the expected type; otherwise the message that the compiler
 * shows.
 */
export type CheckedNames<T, P extends string, Expected, What extends string> = string extends P ? NotLiteral
  : [NamesTarget<T, P>] extends [never] ? `${P} is not in the schema`
  : unknown extends NamesTarget<T, P> ? P
  : [NamesTarget<T, P>] extends [Expected] ? P
  : `${P} is not ${What}`;
