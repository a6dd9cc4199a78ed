/** Extension libraries of API servers (k8s.io/apiserver, pkg/cel/environment/base.go). */
import type { Library } from "../library.ts";
import { AUTHORIZER_LIBRARY } from "./authorizer.ts";
import { LISTS_LIBRARY } from "./lists.ts";
import { OPTIONALS_LIBRARY } from "./optionals.ts";
import { SETS_LIBRARY } from "./sets.ts";
import { STRINGS_LIBRARY } from "./strings.ts";
import { TWO_VARIABLES_LIBRARY } from "./two_variables.ts";

/** All extension libraries. */
export const EXTENSION_LIBRARIES: readonly Library[] = [
  AUTHORIZER_LIBRARY,
  OPTIONALS_LIBRARY,
  STRINGS_LIBRARY,
  SETS_LIBRARY,
  TWO_VARIABLES_LIBRARY,
  LISTS_LIBRARY,
];
