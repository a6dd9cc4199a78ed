/** The rules of docs/contributing/writing.md that a program can check. */

/** A word or phrase that we do not write, and what to write. */
export interface BannedPhrase {
  readonly pattern: RegExp;
  readonly advice: string;
}

/** Words and phrases that stand for a riddle, or for which the field has a better word. */
export const BANNED: readonly BannedPhrase[] = [
  { pattern: /\b(told|tells)\b/i, advice: "write reports, returns, receives, logs or configures" },
  { pattern: /\bbefalls?\b/i, advice: "name the error" },
  { pattern: /\b(whom|whoever|whomever)\b/i, advice: "say who does what, as subject, verb and object" },
  { pattern: /\bnobody\b/i, advice: "say who does what: no caller, no client" },
  { pattern: /\banew\b/i, advice: "write again" },
  { pattern: /\bbeside\b/i, advice: "write next to, or in addition to" },
  { pattern: /\bgo(es)? on\b/i, advice: "write continues, retries or resumes" },
  { pattern: /\b(is|are|was|were) gone\b/i, advice: "write is deleted, or has ended" },
  { pattern: /\blets? pass\b/i, advice: "write allows" },
  { pattern: /\bmended\b/i, advice: "write fixed" },
  { pattern: /\blive copy\b/i, advice: "write cache, or informer cache" },
  { pattern: /\bis said\b/i, advice: "write omitted, or by default" },
  {
    pattern: /(^|[.:;,*] +)(and |but )?[Ww]ho (does|holds|has|says|gives|throws|waits|wants|reads|writes|asks)\b/,
    advice: "no clause with who as subject",
  },
  {
    pattern: /(^|[.:;*] +)(and |but )?[Ww]hat (\w+ ){1,4}(is|are|was|goes|has|does)\b(?![^.]*\?)/,
    advice: "no clause with what as subject",
  },
];

/** The most columns of a line with a comment. */
export const COMMENT_WIDTH = 100;

/**
 * Phrases that are right although a rule matches: names and sentences of Kubernetes and other
 * projects, and code.
 */
export const ALLOWED: readonly RegExp[] = [
  /who-can/,
  /https?:\/\/\S+/,
];

/**
 * Returns the violations in a piece of prose.
 *
 * @param text A comment, a message or a paragraph.
 * @returns One sentence for each phrase that is not allowed.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.deepEqual(violations("The caller retries."), []);
 * ```
 */
export function violations(text: string): string[] {
  const prose = ALLOWED.reduce((rest, allowed) => rest.replace(new RegExp(allowed, "g"), ""), text);
  return BANNED.flatMap(({ pattern, advice }) => {
    const found = pattern.exec(prose);
    return found === null ? [] : [`"${found[0].trim()}" is not allowed here: ${advice}`];
  });
}

/**
 * Returns the violations in the subject of a commit.
 *
 * @param subject The first line of the message.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.deepEqual(subjectViolations("Fix port merge in kustomize overlays"), []);
 * assert.deepEqual(subjectViolations("Fixes the merge."), [
 *   'commit "Fixes the merge.": begin with an imperative verb',
 *   'commit "Fixes the merge.": do not end with a period',
 * ]);
 * ```
 */
export function subjectViolations(subject: string): string[] {
  const wrong = [
    ...(subject.length > 72 ? ["use at most 72 characters"] : []),
    ...(startsWithVerb(subject) ? [] : ["begin with an imperative verb"]),
    ...(subject.endsWith(".") ? ["do not end with a period"] : []),
    ...violations(subject),
  ];
  return wrong.map((one) => `commit "${subject}": ${one}`);
}

/** Verbs that look like another form of a verb, or like a plural. */
const VERBS = ["Bring", "Embed", "Feed", "Focus", "Need", "Ping", "Seed", "Speed"];

/** A program cannot know all verbs: it finds articles, third persons, participles and gerunds. */
function startsWithVerb(subject: string): boolean {
  const [word = ""] = subject.split(/,? /, 1);
  if (VERBS.includes(word)) return true;
  return /^[A-Z][a-z-]+$/.test(word) && !/^(The|An?|It|This|What|Who|When|.*[^s]s|.*ed|.*ing)$/.test(word);
}
