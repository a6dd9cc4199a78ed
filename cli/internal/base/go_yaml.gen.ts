// Made by tools/cli_internal.ts from src/base/go_yaml.ts: do not edit.
interface Tag {
  readonly tag: string;
  readonly format?: string | undefined;
}

const OCTAL = {
  tag: "tag:yaml.org,2002:int",
  default: true,
  test: /^[-+]?0o[0-7]+$/,
  resolve: (text: string) => Number(text.replace(/^[-+]/, "")) * (text.startsWith("-") ? -1 : 1),
};

const BOOLEAN = {
  tag: "tag:yaml.org,2002:bool",
  default: true,
  test: /^(?:[Tt]rue|TRUE|[Ff]alse|FALSE)$/,
  resolve: (text: string) => text.toLowerCase() === "true",
};

export interface GoYaml {
  readonly version: "1.1";
  readonly customTags: <T>(tags: T[]) => T[];
  readonly logLevel: "error";
}

export const GO_YAML: GoYaml = options([OCTAL], ({ tag }) => tag !== "tag:yaml.org,2002:timestamp");

export const KUSTOMIZE_YAML: GoYaml = options([OCTAL, BOOLEAN], ({ tag }) => tag !== BOOLEAN.tag);

function options(added: readonly unknown[], keeps: (tag: Tag) => boolean): GoYaml {
  const isKept = (tag: Tag) => tag.format !== "TIME" && keeps(tag);
  return {
    version: "1.1",
    customTags: <T>(tags: T[]) => [...added as T[], ...tags.filter((tag) => isKept(tag as unknown as Tag))],
    logLevel: "error",
  };
}
