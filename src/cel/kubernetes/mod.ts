/**
 * Kubernetes' CEL libraries for validation rules (`k8s.io/apiserver/pkg/cel/library`). The
 * authorizer and the JSON patch library are not included, because only admission policies can use
 * them.
 */
import type { Library } from "../library.ts";
import { CIDRS } from "./cidr.ts";
import { NAMED_FORMATS } from "./format.ts";
import { IPS } from "./ip.ts";
import { LISTS } from "./lists.ts";
import { QUANTITIES } from "./quantity.ts";
import { REGEX } from "./regex.ts";
import { SEMVERS } from "./semver.ts";
import { URLS } from "./urls.ts";

/** The libraries, in the order in which an API server adds them. */
export const KUBERNETES_LIBRARIES: readonly Library[] = [
  URLS,
  REGEX,
  LISTS,
  QUANTITIES,
  IPS,
  CIDRS,
  NAMED_FORMATS,
  SEMVERS,
];
