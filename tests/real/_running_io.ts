/** An Io for commands that go on until they are stopped. */
import assert from "node:assert/strict";
import { RecordedIo } from "../../cli/_recorded_io.ts";
import { HANG_LIMIT } from "../eventually.ts";

/** An Io that can be stopped, and tells when something was said. */
export class RunningIo extends RecordedIo {
  readonly #stop = new AbortController();
  readonly stop: AbortSignal = this.#stop.signal;
  #said = Promise.withResolvers<void>();

  #tell(): void {
    this.#said.resolve();
    this.#said = Promise.withResolvers();
  }
  override out = (text: string): void => {
    this.stdout += text;
    this.#tell();
  };
  override err = (text: string): void => {
    this.stderr += text;
    this.#tell();
  };
  /** Settles when that many whole lines match. Fails with what was said when the command ends first. */
  async says(pattern: RegExp, times: number, ended: Promise<number>): Promise<void> {
    let isOver = false;
    ended.then(() => {
      isOver = true;
      this.#tell();
    });
    const late = setTimeout(() => {
      isOver = true;
      this.#tell();
    }, HANG_LIMIT);
    // Text after the last line feed is still being written.
    const lines = () => [this.stdout, this.stderr].flatMap((text) => text.split("\n").slice(0, -1));
    const count = () => lines().filter((line) => pattern.test(line)).length;
    try {
      while (count() < times) {
        if (isOver) assert.fail(`it did not say ${pattern}:\n${this.stdout}\n${this.stderr}`);
        await this.#said.promise;
      }
    } finally {
      clearTimeout(late);
    }
  }
  /** Stops the command. */
  end(): void {
    this.#stop.abort();
  }
}
