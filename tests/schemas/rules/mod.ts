/** All tables of expressions. */
import { core } from "./core.ts";
import { addresses, blocks, formats, quantities, urls, versions } from "./kubernetes.ts";
import { lists, sets } from "./lists.ts";
import { comprehensions, optionals } from "./optionals.ts";
import { regex, strings } from "./strings.ts";
import { type ExpressionTable, PLAYGROUND } from "./_table.ts";
import { times } from "./time.ts";

export { type ExpressionTable, PLAYGROUND };

/** One table for each library. */
export const EXPRESSIONS: readonly ExpressionTable[] = [
  core,
  strings,
  regex,
  lists,
  sets,
  quantities,
  urls,
  addresses,
  blocks,
  formats,
  versions,
  times,
  optionals,
  comprehensions,
];
