/** Words for text that does not fit the grammar: those of cel-go, which has them from ANTLR. */
import type { Macro } from "../macro.ts";
import type { Issues } from "../source.ts";
import { buildNetwork, type Network } from "./network.ts";
import { GivesUp, readTolerantly } from "./recovery.ts";
import { checkRemains } from "./remains.ts";
import { TokenSource } from "./tokens.ts";

// Built when the first text does not fit.
let network: Network | undefined;

// As many as cel-go tells of.
const MOST_MISTAKES = 100;

/**
 * Notes what is wrong with a text that does not fit the grammar.
 *
 * @param text The text.
 * @param macros What is rewritten, by `macroKey`.
 * @param issues Where it goes.
 */
export function describeSyntaxErrors(text: string, macros: ReadonlyMap<string, Macro>, issues: Issues): void {
  network ??= buildNetwork();
  let mistakes = 0;
  const tell = (offset: number, message: string) => {
    if (mistakes++ < MOST_MISTAKES) {
      issues.add(offset, `Syntax error: ${message}`);
      return;
    }
    issues.add(offset, `Syntax error: More than ${MOST_MISTAKES} syntax errors`);
    throw new GivesUp("too many mistakes", true);
  };
  try {
    const tree = readTolerantly(network, new TokenSource(text, tell), (offset, message) => {
      tell(offset, reworded(message));
    });
    checkRemains(tree, macros, issues);
  } catch (error) {
    if (!(error instanceof GivesUp)) throw error;
    if (!error.isTold) issues.add(undefined, error.message);
  }
}

// cel-go keeps the words of an earlier version for keywords where a name is wanted.
const KEYWORD = /no viable alternative at input '.(true|false|null)'/gu;

function reworded(message: string): string {
  return message.replace(KEYWORD, "mismatched input '$1' expecting IDENTIFIER");
}
