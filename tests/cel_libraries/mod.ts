/** Expressions of Kubernetes' own libraries, by library. */
import type { Case } from "./case.ts";
import { CIDRS } from "./cidr.ts";
import { FORMATS } from "./format.ts";
import { IPS } from "./ip.ts";
import { LISTS } from "./lists.ts";
import { QUANTITIES } from "./quantity.ts";
import { REGEX } from "./regex.ts";
import { SEMVERS } from "./semver.ts";
import { URLS } from "./urls.ts";

/** The tables by library. */
export const LIBRARY_TABLES: Readonly<Record<string, readonly Case[]>> = {
  Lists: LISTS,
  Regex: REGEX,
  Urls: URLS,
  Quantities: QUANTITIES,
  Ips: IPS,
  Cidrs: CIDRS,
  Formats: FORMATS,
  Semvers: SEMVERS,
};
