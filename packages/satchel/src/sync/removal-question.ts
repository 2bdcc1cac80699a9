import { createInterface } from "node:readline/promises";
import type { Readable, Writable } from "node:stream";
import { showHidden } from "../terminal.js";
import { type Answer, openKind, type Removal } from "./removals.js";

const saidOf = {
  "file deleted": "its file was deleted: remove the page (its history is kept)",
  "page removed": "its page was removed: delete the file",
  "page erased": "its page was erased: delete the file",
} as const;

/** One question for all of them. Anything but a clear answer leaves them open. */
export async function askRemovals(
  removals: Removal[],
  { input, output, onInterrupt }: { input: Readable; output: Writable; onInterrupt(): void },
): Promise<Answer> {
  for (const removal of removals) output.write(`  ${showHidden(removal.path)}: ${saidOf[openKind(removal)]}\n`);
  const lines = createInterface({ input, output });
  const interrupted = new Promise<string>((resolve) => {
    lines.once("SIGINT", () => {
      resolve("");
      onInterrupt();
    });
    lines.once("close", () => resolve(""));
  });
  const question =
    "Delete these? y: delete them, k: keep them (bring the missing side back), anything else: decide later ";
  try {
    const typed = (await Promise.race([lines.question(question), interrupted])).trim().toLowerCase();
    if (typed === "y" || typed === "yes") return "delete";
    return typed === "k" || typed === "keep" ? "keep" : "later";
  } finally {
    lines.close();
  }
}
