/** The command lines of `op deploy` and `op uninstall`. */
import { Command } from "@commander-js/extra-typings";
import { ADOPT, ALLOW_BREAKING, examples, OPERATOR_FILE, withCluster, withPlace } from "../command_options.ts";
import type { Io } from "../io.ts";

/** Returns the command `op deploy`. */
export function deployCommand(io: Io) {
  return withCluster(
    new Command("deploy").description("Deploy an operator with server-side apply, and wait until it is ready"),
  )
    .argument(
      "<overlay>",
      "name of an overlay, a folder with a kustomization, a file with objects, or - for standard input",
    )
    .option("--dir <folder>", "folder of the overlays", "config")
    .option("--dry-run", "let the API server validate the changes without storing them")
    .option(...ALLOW_BREAKING)
    .option(...ADOPT)
    .option("--release-finalizers", "remove the finalizers of controllers that the new version no longer has")
    .option("--take-back", "take over webhooks and conversions that a running op dev has redirected to itself")
    .option("--no-wait", "do not wait until the operator is ready")
    .option("--timeout <duration>", "how long to wait", "2m")
    .addHelpText("after", examples("op deploy prod", "op deploy prod --dry-run", "op deploy config/samples"))
    .action(async (overlay, options) => (await import("./deploy.ts")).deploy(overlay, options, io));
}

/** Returns the command `op uninstall`. */
export function uninstallCommand(io: Io) {
  return withPlace(
    withCluster(
      new Command("uninstall").description("Delete an operator, its kinds and all their objects from a cluster"),
    ),
  )
    .argument("[file]", OPERATOR_FILE, "main.ts")
    .option("--yes", "delete (default: print what would be deleted)")
    .option("--adopt", "also delete objects that belong to another operator of the same name")
    .option("--keep-objects", "keep the operator's kinds and their objects")
    .option(
      "--release-finalizers",
      "remove the operator's finalizers from objects that it does not clean up in time, and from objects of other kinds",
    )
    .option("--orphan-dependents", "delete the kinds even if dependents of their objects still exist")
    .option("--timeout <duration>", "how long to wait for cleanup, and again for garbage collection", "2m")
    .addHelpText("after", examples("op uninstall", "op uninstall --yes", "op uninstall --yes --keep-objects"))
    .action(async (file, options) => (await import("./uninstall.ts")).uninstall(file, options, io));
}
