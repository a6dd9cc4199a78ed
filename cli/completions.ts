/** `op completions`: what a shell needs to complete the commands, made from the commands themselves. */
import type { Command } from "@commander-js/extra-typings";
import { UsageError } from "./exit_code.ts";
import { byNearness } from "./internal/mod.gen.ts";

/** The shells that are served. */
const SHELLS = ["bash", "zsh", "fish"] as const;

/** What can be said behind some words. */
interface Place {
  /** The words before: `""`, `"new"`, `"new operator"`. */
  readonly path: string;
  readonly words: readonly { readonly word: string; readonly told: string }[];
  /** Options that take a value, with the values that are known. */
  readonly values: readonly { readonly flags: readonly string[]; readonly choices: readonly string[] }[];
}

/**
 * A script that completes commands, options and values; files where nothing else is known.
 *
 * @param shell The shell.
 * @param op The command with all its commands.
 * @throws {UsageError} If the shell is not one of {@linkcode SHELLS}.
 */
export function completions(shell: string, op: Command): string {
  const places = placesOf(op, "");
  switch (shell) {
    case "bash":
      return bash(places);
    case "zsh":
      // zsh reads what is made for bash.
      return `#compdef op\nautoload -U +X bashcompinit && bashcompinit\n${bash(places)}`;
    case "fish":
      return fish(places);
    default:
      throw new UsageError(
        `Cannot complete for "${shell}": there is ${SHELLS.join(", ")}; did you mean ${byNearness(shell, SHELLS)[0]}?`,
      );
  }
}

function placesOf(command: Command, path: string): Place[] {
  const help = command.createHelp();
  const options = [...help.visibleOptions(command), ...help.visibleGlobalOptions(command), ...ancestors(command)];
  const commands = help.visibleCommands(command).map((each) => ({ word: each.name(), told: each.description() }));
  const flags = options.flatMap(({ long, short, description }) =>
    [long, short].flatMap((flag) => flag == null ? [] : [{ word: flag, told: description }])
  );
  const values = options.filter(({ required, optional }) => required || optional).map((
    { long, short, argChoices },
  ) => ({
    flags: [long, short].flatMap((flag) => flag ?? []),
    choices: argChoices ?? [],
  }));
  const inner = (command.commands as unknown as Command[]).flatMap((each) =>
    placesOf(each, `${path} ${each.name()}`.trim())
  );
  return [{ path, words: [...commands, ...flags], values }, ...inner];
}

/** Options of the commands above count behind them too. */
function ancestors(command: Command) {
  const found = [];
  for (let above = command.parent; above !== null; above = above.parent) found.push(...above.options);
  return found.filter(({ long }) => long !== "--version");
}

function bash(places: readonly Place[]): string {
  const words = places.map(({ path, words }) =>
    `    ${quoted(path)}) words=${quoted(words.map(({ word }) => word).join(" "))} ;;\n`
  );
  const values = places.flatMap(({ path, values }) =>
    values.flatMap(({ flags, choices }) =>
      flags.map((flag) =>
        `    ${quoted(`${path} ${flag}`.trim())}) values=${quoted(choices.join(" ") || "files")} ;;\n`
      )
    )
  );
  const paths = places.map(({ path }) => path).filter((path) => path !== "");
  return `# Completion of op, made by "op completions".
_op() {
  local word path="" words="" values="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    case " ${
    paths.join(" | ").replaceAll(" | ", "|").replaceAll(" ", "_")
  } " in *[\\ \\|]"\${path:+\${path// /_}_}$word"[\\ \\|]*) path="\${path:+$path }$word" ;; esac
  done
  case "\${path:+$path }\${COMP_WORDS[COMP_CWORD-1]}" in
${values.join("")}  esac
  case "$path" in
${words.join("")}  esac
  local current="\${COMP_WORDS[COMP_CWORD]}"
  if [ "$values" = files ]; then COMPREPLY=($(compgen -f -- "$current"))
  elif [ -n "$values" ]; then COMPREPLY=($(compgen -W "$values" -- "$current"))
  else COMPREPLY=($(compgen -W "$words" -- "$current") $(compgen -f -- "$current")); fi
}
complete -o filenames -F _op op
`;
}

function fish(places: readonly Place[]): string {
  const lines = places.flatMap(({ path, words, values }) => {
    const isHere = path === "" ? "__fish_use_subcommand" : `__op_at ${path}`;
    return words.map(({ word, told }) => {
      const found = values.find(({ flags }) => flags.includes(word));
      const flag = word.startsWith("--")
        ? `-l ${word.slice(2)}`
        : word.startsWith("-")
        ? `-s ${word.slice(1)}`
        : `-f -a ${word}`;
      const value = found === undefined
        ? ""
        : found.choices.length > 0
        ? ` -x -a ${quoted(found.choices.join(" "))}`
        : " -r";
      return `complete -c op -n ${quoted(isHere)} ${flag}${value} -d ${quoted(told)}\n`;
    });
  });
  return `# Completion of op, made by "op completions".
function __op_at
  set -l words (commandline -opc | string match -v -- '-*')
  test (count $words) -gt (count $argv); and test "$words[2..(math (count $argv) + 1)]" = "$argv"
end
${lines.join("")}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
