import assert from "node:assert/strict";
import { variablesOf } from "./setting_list.ts";
import { fileSettings } from "./config_file.ts";
import { httpClient, rateLimit } from "./run_settings.ts";
import { flagSettings, merged, type Settings, variableSettings } from "./settings.ts";

const FILE = `
[operator]
log_level = "debug"
namespaces = ["shop", "blog"]
[operator.leader_election]
enabled = false
lease_duration = "30s"
[operator.controllers.websites]
concurrency = 3
[build.image]
registry = "registry.example.com"
`;

Deno.test("fileSettings reads the table [operator] and ignores the other tables", () => {
  assert.deepEqual(valuesOf(fileSettings(FILE, "operator.toml")), {
    log_level: "debug",
    namespaces: ["shop", "blog"],
    "leader_election.enabled": false,
    "leader_election.lease_duration": "30s",
    "controllers.websites.concurrency": 3,
  });
  assert.deepEqual(valuesOf(fileSettings("", "operator.toml")), {});
});

const INVALID: readonly { name: string; text: string; message: string }[] = [
  {
    name: "a misspelled key",
    text: '[operator]\nlog_levle = "debug"',
    message: 'Cannot read "f": unknown key "log_levle". Did you mean "log_level"?',
  },
  {
    name: "a misspelled key in a table",
    text: "[operator.leader_election]\nenabeld = true",
    message: 'Cannot read "f": unknown key "leader_election.enabeld". Did you mean "leader_election.enabled"?',
  },
  {
    name: "a key that resembles no valid key",
    text: "[operator.health]\ncolour = 1",
    message: 'Cannot read "f": unknown key "health.colour". Available keys: health.port, health.hostname.',
  },
  {
    name: "a limit that does not exist",
    text: "[operator.controllers.websites]\nconcurency = 1",
    message:
      'Cannot read "f": unknown key "controllers.websites.concurency". Did you mean "controllers.websites.concurrency"?',
  },
  {
    name: "a key of the operator outside of its table",
    text: 'log_level = "debug"',
    message: 'Cannot read "f": unknown key "log_level". Available keys: operator, project, build, generate.',
  },
  {
    name: "a number instead of a table",
    text: "[operator]\nhealth = 1",
    message: 'Cannot read "f": "health" must be a table, got 1.',
  },
  {
    name: "a value that is not one of the choices",
    text: '[operator]\nlog_level = "loud"',
    message: 'Invalid setting "log_level" in "f": must be one of debug, info, warn, error, got "loud".',
  },
  {
    name: "a string instead of a number",
    text: '[operator.health]\nport = "80"',
    message: 'Invalid setting "health.port" in "f": must be a positive integer, got "80".',
  },
  {
    name: "a duration without a unit",
    text: '[operator]\ngraceful_shutdown_timeout = "30"',
    message: 'Invalid setting "graceful_shutdown_timeout" in "f": must be a duration, such as "30s", got "30".',
  },
  {
    name: "a list with an empty name",
    text: '[operator]\nnamespaces = [""]',
    message: 'Invalid setting "namespaces" in "f": must be a list of non-empty names, got [""].',
  },
  {
    name: "a pattern instead of a namespace",
    text: '[operator]\nnamespaces = ["blog", "shop-*"]',
    message:
      'Invalid setting "namespaces" in "f": must be names of namespaces, got "shop-*". Patterns are not supported: list each namespace, or watch all and set "selector".',
  },
  {
    name: "an invalid selector",
    text: '[operator]\nselector = "tier in front"',
    message:
      'Invalid setting "selector" in "f": must be a label selector, such as app=web or tier in (front,back),!legacy, got "tier in front": ' +
      "unable to parse requirement: found 'front' expected: '('.",
  },
  {
    name: "a selector that is a table",
    text: '[operator.selector]\napp = "web"',
    message:
      'Invalid setting "selector" in "f": must be a label selector, such as app=web or tier in (front,back),!legacy, got {"app":"web"}.',
  },
  {
    name: "a misspelled key of the image",
    text: '[build.image]\nregistri = "r"',
    message: 'Cannot read "f": unknown key "build.image.registri". Did you mean "build.image.registry"?',
  },
  {
    name: "a misspelled key of a policy",
    text: '[[generate.rbac.policies]]\napi_group = [""]\nresources = ["pods"]\nverbs = ["get"]',
    message:
      'Invalid setting "generate.rbac.policies" in "f": policy 1 has an unknown key "api_group". Did you mean "api_groups"?',
  },
  {
    name: "a policy without verbs",
    text: '[[generate.rbac.policies]]\napi_groups = [""]\nresources = ["pods"]',
    message: 'Invalid setting "generate.rbac.policies" in "f": policy 1 has no "verbs". Add it.',
  },
  {
    name: "a string instead of a list in a policy",
    text: '[[generate.rbac.policies]]\napi_groups = ""\nresources = ["pods"]\nverbs = ["get"]',
    message:
      'Invalid setting "generate.rbac.policies" in "f": "api_groups" of policy 1 must be a list of strings, got "".',
  },
  {
    name: "a table instead of a list of policies",
    text: '[generate.rbac.policies]\nverbs = ["get"]',
    message:
      'Invalid setting "generate.rbac.policies" in "f": must be a list of tables. Write [[generate.rbac.policies]] above each.',
  },
  { name: "invalid TOML", text: "[operator\n", message: 'Cannot read "f": invalid TOML at line 1, column 10.' },
];

for (const { name, text, message } of INVALID) {
  Deno.test(`fileSettings rejects ${name}`, () => {
    assert.throws(() => fileSettings(text, "f"), { name: "SettingError", message });
  });
}

Deno.test("variableSettings reads each type of value and ignores empty variables", () => {
  const env: Record<string, string> = {
    OP_NAMESPACES: "shop, blog",
    OP_PAUSED: "true",
    OP_HEALTH_PORT: "9000",
    OP_LEADER_ELECTION: "false",
    OP_LOG_LEVEL: "",
  };
  assert.deepEqual(valuesOf(variableSettings((name) => env[name])), {
    namespaces: ["shop", "blog"],
    paused: true,
    "health.port": 9000,
    "leader_election.enabled": false,
  });
  for (const name of Object.keys(env)) {
    assert(variablesOf(true).includes(name), `variablesOf() lacks ${name}`);
  }
  assert.throws(() => variableSettings((name) => name === "OP_PAUSED" ? "yes" : undefined), {
    message: 'Invalid setting OP_PAUSED: must be true or false, got "yes".',
  });
});

Deno.test("flagSettings and variableSettings reject invalid selectors and accept valid ones", () => {
  const reason =
    `must be a label selector, such as app=web or tier in (front,back),!legacy, got "=web": found '=', expected: !, identifier, or 'end of string'.`;
  const variable = (text: string) => variableSettings((name) => name === "OP_SELECTOR" ? text : undefined);
  assert.throws(() => flagSettings({ selector: "=web" }), {
    name: "SettingError",
    message: `Invalid setting --selector: ${reason}`,
  });
  assert.throws(() => variable("=web"), { name: "SettingError", message: `Invalid setting OP_SELECTOR: ${reason}` });
  assert.throws(() => variable(" "), /Invalid setting OP_SELECTOR: must be a label selector, .*, got " "\.$/);
  const right = "app=web,tier in (front, back),!legacy,weight>5,example.com/of!=x,any";
  assert.deepEqual(valuesOf(flagSettings({ selector: right })), { selector: right });
  assert.deepEqual(valuesOf(variable(right)), { selector: right });
});

Deno.test("flagSettings accepts repeated flags, and no- with boolean flags", () => {
  const values = { namespace: ["a", "b"], "no-leader-election": true, "log-level": "warn", kubeconfig: "/x" };
  assert.deepEqual(valuesOf(flagSettings(values)), {
    namespaces: ["a", "b"],
    log_level: "warn",
    "leader_election.enabled": false,
  });
});

Deno.test("merged prefers flags over variables, and variables over the file", () => {
  const settings = merged(
    flagSettings({ "log-level": "error" }),
    variableSettings((name) => ({ OP_LOG_LEVEL: "warn", OP_LOG_FORMAT: "text" })[name]),
    fileSettings('[operator]\nlog_level = "debug"\nlog_format = "json"\npaused = true', "f"),
  );
  assert.deepEqual(valuesOf(settings), { log_level: "error", log_format: "text", paused: true });
  assert.equal(settings.get("log_format")?.where, "OP_LOG_FORMAT");
});

function valuesOf(settings: Settings): Record<string, unknown> {
  return Object.fromEntries([...settings].map(([key, { value }]) => [key, value]));
}

const SCOPES: readonly {
  name: string;
  flags?: object;
  env?: Record<string, string>;
  file?: string;
  expected: unknown;
}[] = [
  {
    name: "namespaces of a flag over all_namespaces of the file",
    flags: { namespace: ["a"] },
    file: "all_namespaces = true",
    expected: ["a"],
  },
  {
    name: "namespaces of a flag over all_namespaces of a variable",
    flags: { namespace: ["a"] },
    env: { OP_ALL_NAMESPACES: "true" },
    expected: ["a"],
  },
  {
    name: "namespaces of a variable over all_namespaces of the file",
    env: { OP_NAMESPACES: "a,b" },
    file: "all_namespaces = true",
    expected: ["a", "b"],
  },
  {
    name: "all_namespaces of a flag over namespaces of a variable and of the file",
    flags: { "all-namespaces": true },
    env: { OP_NAMESPACES: "a" },
    file: 'namespaces = ["b"]',
    expected: "all",
  },
  {
    name: "namespaces of the file if a flag sets all_namespaces to false",
    flags: { "no-all-namespaces": true },
    file: 'namespaces = ["b"]',
    expected: ["b"],
  },
  {
    name: "namespaces of a flag over all_namespaces of a variable and namespaces of the file",
    flags: { namespace: ["a"] },
    env: { OP_ALL_NAMESPACES: "true" },
    file: 'namespaces = ["b"]',
    expected: ["a"],
  },
];

for (const { name, flags = {}, env = {}, file = "", expected } of SCOPES) {
  Deno.test(`merged prefers ${name}`, () => {
    const settings = merged(
      flagSettings(flags as Record<string, unknown>),
      variableSettings((name) => env[name]),
      fileSettings(`[operator]\n${file}`, "f"),
    );
    const isAll = settings.get("all_namespaces")?.value === true;
    assert.deepEqual(isAll ? "all" : settings.get("namespaces")?.value, expected);
  });
}

Deno.test("merged rejects both some and all namespaces from one source", () => {
  assert.throws(() => merged(flagSettings({ namespace: ["a"], "all-namespaces": true })), {
    name: "SettingError",
    message: "Settings --namespace and --all-namespaces contradict each other. Remove one of them.",
  });
  assert.throws(() => merged(fileSettings('[operator]\nnamespaces = ["a"]\nall_namespaces = true', "f")), {
    message: 'Settings "namespaces" in "f" and "all_namespaces" contradict each other. Remove one of them.',
  });
});

Deno.test("rateLimit is off unless qps is set, by flag, variable or file", () => {
  const file = fileSettings("[operator.kube_api]\nqps = 5\nburst = 7", "f");
  const variables = variableSettings((name) => ({ OP_KUBE_API_QPS: "20" })[name]);
  const flags = flagSettings({ "kube-api-qps": "30", "kube-api-burst": "40" });
  assert.deepEqual(rateLimit(merged()), {});
  assert.deepEqual(rateLimit(variables), { rateLimit: { qps: 20 } });
  assert.deepEqual(rateLimit(merged(variables, file)), { rateLimit: { qps: 20, burst: 7 } });
  assert.deepEqual(rateLimit(merged(flags, variables, file)), { rateLimit: { qps: 30, burst: 40 } });
});

Deno.test("httpClient is the default unless it is set, by flag, variable or file", () => {
  assert.deepEqual(httpClient(merged()), { httpClient: undefined });
  const file = fileSettings('[operator]\nhttp_client = "http2"', "f");
  const variables = variableSettings((name) => ({ OP_HTTP_CLIENT: "fetch" })[name]);
  assert.deepEqual(httpClient(merged(variables, file)), { httpClient: "fetch" });
  assert.deepEqual(httpClient(merged(flagSettings({ "http-client": "http2" }), variables)), { httpClient: "http2" });
  assert.throws(() => variableSettings((name) => name === "OP_HTTP_CLIENT" ? "curl" : undefined), {
    name: "SettingError",
    message: /OP_HTTP_CLIENT.*http2, fetch.*"curl"/,
  });
});

Deno.test("rateLimit rejects a burst without qps, and a rate that is not a positive integer", () => {
  const wrong = [
    () => rateLimit(flagSettings({ "kube-api-burst": "40" })),
    () => flagSettings({ "kube-api-qps": "0" }),
    () => flagSettings({ "kube-api-qps": "-1" }),
    () => variableSettings((name) => name === "OP_KUBE_API_QPS" ? "many" : undefined),
    () => fileSettings("[operator.kube_api]\nqps = 0.5", "f"),
  ];
  for (const settings of wrong) assert.throws(settings, { name: "SettingError" });
});
