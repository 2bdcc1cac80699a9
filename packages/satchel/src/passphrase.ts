import { UsageError } from "./usage-error.js";

const endOfInput = "\u0004";
const interrupt = "\u0003";
const erasing = new Set(["\b", "\u007f"]);

/**
 * A passphrase from the person: from the terminal, which does not show it, else the first line of standard input.
 * With `confirm` a terminal asks twice. @throws UsageError when it is empty or the two differ
 */
export async function askPassphrase(question: string, { confirm = false } = {}): Promise<string> {
  const isTerminal = process.stdin.isTTY === true;
  const passphrase = isTerminal ? await readHidden(question) : await readFirstLine();
  if (passphrase === "") throw new UsageError("The passphrase is empty.");
  if (confirm && isTerminal && (await readHidden("The same again")) !== passphrase)
    throw new UsageError("The two passphrases differ.");
  return passphrase;
}

/** What was typed up to Enter. The question goes to standard error, and the terminal is as before afterwards. */
async function readHidden(question: string): Promise<string> {
  const { stdin, stderr } = process;
  stdin.setRawMode(true);
  stdin.setEncoding("utf8").resume();
  stderr.write(`${question}: `);
  try {
    return await new Promise<string>((resolve, reject) => {
      const typed: string[] = [];
      stdin.on("data", (text: string) => {
        const [first = text, ...later] = text.split(/[\r\n]/);
        if (first.includes(interrupt)) reject(new UsageError("No passphrase was given."));
        type(typed, first);
        if (later.length > 0 || first.includes(endOfInput)) resolve(typed.join(""));
      });
      stdin.once("end", () => resolve(typed.join("")));
    });
  } finally {
    stdin.removeAllListeners("data").removeAllListeners("end").pause();
    stdin.setRawMode(false);
    stderr.write("\n");
  }
}

function type(typed: string[], text: string): void {
  for (const character of text) {
    if (erasing.has(character)) typed.pop();
    else if (character !== endOfInput) typed.push(character);
  }
}

const longestLine = 64 * 1024;

async function readFirstLine(): Promise<string> {
  let text = "";
  for await (const chunk of process.stdin.setEncoding("utf8")) {
    text += chunk;
    if (text.includes("\n") || text.length > longestLine) break;
  }
  return text.split(/\r?\n/, 1)[0] ?? "";
}
