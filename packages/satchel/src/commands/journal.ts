import { readFileSync, writeFileSync } from "node:fs";
import { JournalError, type Proof, type ProofFault, parseVerifierKey, verifyProof } from "@satchel/journal";
import {
  type JournalLine,
  type JournalVerdict,
  journalCheckpointOperation,
  journalListOperation,
  journalProveOperation,
  journalRotateOperation,
  journalShowOperation,
  journalUnsettledOperation,
  parseCheckpoints,
  verifyContextJournal,
} from "@satchel/server";
import { type CommonOptions, chooseHandle, runLocally, withContext } from "../session.js";
import { chooseDataDir } from "../system.js";
import { createProgress, note, paint, print, printJson, printTable, showHidden } from "../terminal.js";
import { UsageError } from "../usage-error.js";

/** The entries of the journal, newest first. */
export async function journalList(options: CommonOptions & { limit: string; before?: string }): Promise<void> {
  const { before } = options;
  if (before !== undefined && !/^\d{1,15}$/.test(before))
    throw new UsageError(`--before takes a number, not "${before}".`);
  const asked = { limit: parseLimit(options.limit), ...(before !== undefined && { before: Number(before) }) };
  const entries = await withContext(options, (context) => runLocally(context, journalListOperation, asked));
  if (options.json) {
    printJson({ entries });
    return;
  }
  printTable(
    ["SEQ", "AT", "KIND", "WHAT"],
    entries.map((entry) => [String(entry.seq), entry.at, entry.kind, describe(entry)]),
  );
}

export function parseLimit(text: string): number {
  const limit = Number(text);
  if (!/^[1-9]\d*$/.test(text) || limit > 1000)
    throw new UsageError(`--limit takes a number from 1 to 1000, not "${text}".`);
  return limit;
}

function describe({ bodies }: JournalLine): string {
  const [body, detail] = bodies;
  if (!body) return "erased";
  const facts = [body.operationId ?? body.tool, body.action, body.outcome, body.code].filter(
    (fact) => fact !== undefined,
  );
  const isErased = bodies.length > 1 && !detail ? ["(targets erased)"] : [];
  return [...facts, body.id ?? body.key ?? body.receipt ?? "", ...isErased].map(String).join(" ").trim();
}

export async function journalShow(name: string, options: CommonOptions): Promise<void> {
  const entry = await withContext(options, (context) => runLocally(context, journalShowOperation, { name }));
  if (options.json) {
    printJson(entry);
    return;
  }
  print(`${paint("bold", `Entry ${entry.seq}`)}  ${entry.kind}, ${entry.at}`);
  for (const [at, body] of entry.bodies.entries()) {
    print(`commitment ${entry.commitments[at]}`);
    print(body ? showHidden(JSON.stringify(body, null, 2)) : "erased");
  }
}

export interface VerifyOptions extends CommonOptions {
  key: string[];
  checkpoint: string[];
}

/** Exit codes: 0 valid, 1 invalid, 2 can't check, 3 valid with unsettled calls. */
export async function journalVerify(options: VerifyOptions): Promise<void> {
  const dataDir = chooseDataDir(options.data);
  const place = { dataDir, handle: chooseHandle(dataDir, options.context) };
  const progress = createProgress("Verifying");
  const checkpoints = options.checkpoint.flatMap(readCheckpoints);
  const keys = options.key.map(parseKey);
  const { cause, ...verdict } = await verifyContextJournal(place, {
    keys,
    checkpoints,
    onProgress: progress.show,
  }).catch(toUnreadable);
  progress.end();
  if (cause instanceof Error && !verdict.message.includes(cause.message)) verdict.message += ` (${cause.message})`;
  if (options.json) printJson(verdict);
  else printVerdict(verdict);
  process.exitCode = exitCodeOf(verdict);
}

/** What keeps the log from being read at all is a verdict too. */
function toUnreadable(error: unknown): JournalVerdict {
  const { name, message: said } = error as Error;
  if (!["SqliteError", "StoreError", "JournalError"].includes(name)) throw error;
  // Given keys were parsed before.
  const message = name === "JournalError" ? `journal.pub: ${said}` : `${said.replace(/\.$/, "")}.`;
  return { verdict: "unreadable", message, size: 0, root: "", redacted: 0, unsettled: [] };
}

function exitCodeOf({ verdict, unsettled }: JournalVerdict): number {
  if (verdict === "valid") return unsettled.length > 0 ? 3 : 0;
  return verdict === "unreadable" ? 2 : 1;
}

function printVerdict(verdict: JournalVerdict): void {
  const { size, checkpointSize = 0, redacted, unsettled, message, seq } = verdict;
  const isValid = verdict.verdict === "valid";
  print(
    `${paint(isValid ? "green" : "red", verdict.verdict)}${seq === undefined ? "" : ` at entry ${seq}`}: ${message}`,
  );
  if (verdict.verdict === "unreadable") return;
  print(`${size} entries, ${checkpointSize} of them under a signed checkpoint, ${redacted} bodies erased.`);
  const count = unsettled.length === 1 ? "1 call is" : `${unsettled.length} calls are`;
  if (unsettled.length > 0) print(`${count} unsettled: ${unsettled.slice(0, 10).join(", ")}`);
}

function parseKey(text: string): string {
  try {
    return parseVerifierKey(text).text;
  } catch (error) {
    if (error instanceof JournalError) throw new UsageError(`--key ${text.slice(0, 200)}: ${error.message}`);
    throw error;
  }
}

function readCheckpoints(file: string): string[] {
  const notes = parseCheckpoints(readFileSync(file, "utf8"));
  if (notes.length === 0) throw new UsageError(`${file} holds no signed checkpoint.`);
  return notes;
}

/** Writes a proof that the log holds an entry. */
export async function journalProve(name: string, options: CommonOptions & { out?: string }): Promise<void> {
  const proof = await withContext(options, (context) => runLocally(context, journalProveOperation, { name }));
  const text = `${JSON.stringify(proof)}\n`;
  if (options.out === undefined) print(text);
  else {
    writeFileSync(options.out, text);
    note(
      `Wrote ${options.out} (${text.length} bytes). Check it anywhere: satchel journal verify-proof ${options.out} --key …`,
    );
  }
}

/** Checks a proof file, without any context. Exit codes: 0 valid, 1 invalid, 2 can't check. */
export async function journalVerifyProof(file: string, options: { key: string[]; json?: boolean }): Promise<void> {
  if (options.key.length === 0)
    throw new UsageError("Say whose log it is with --key: the line in journal.pub of its context.");
  const trusted = options.key.map((text) => parseVerifierKey(parseKey(text)));
  const verdict = verifyProof(readProof(file), trusted);
  if (options.json) printJson(verdict);
  else if (verdict.valid)
    print(`${paint("green", "valid")}: entry ${verdict.entry.seq}, ${verdict.entry.kind}, ${verdict.entry.at}`);
  else print(`${paint("red", "invalid")}: ${faults[verdict.reason]} (${verdict.reason})`);
  if (!verdict.valid) process.exitCode = 1;
}

const faults: Record<ProofFault, string> = {
  bad_form: "this is no proof",
  bad_opening: "a body is not the one that the entry commits to",
  unknown_key: "the checkpoint is not signed by the given key",
  bad_signature: "the signature does not fit the checkpoint",
  bad_path: "the entry is not in the signed log",
};

function readProof(file: string): Proof {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    if (error instanceof SyntaxError) throw new UsageError(`${file} is no JSON file.`);
    throw error;
  }
}

/** Signs what the log holds now and prints the signed note. */
export async function journalCheckpoint(options: CommonOptions): Promise<void> {
  const { checkpoint } = await withContext(options, (context) => runLocally(context, journalCheckpointOperation, {}));
  if (options.json) printJson({ checkpoint });
  else print(checkpoint);
}

export async function journalUnsettled(options: CommonOptions): Promise<void> {
  const calls = await withContext(options, (context) => runLocally(context, journalUnsettledOperation, {}));
  if (options.json) {
    printJson({ calls });
    return;
  }
  if (calls.length === 0) note("Every call is settled.");
  printTable(
    ["SEQ", "AT", "OPERATION", "CALL"],
    calls.map(({ seq, at, operation, callId }) => [String(seq), at, operation, callId]),
  );
}

export async function journalRotateKey(options: CommonOptions): Promise<void> {
  const rotated = await withContext(options, (context) => runLocally(context, journalRotateOperation, {}));
  if (options.json) printJson(rotated);
  else print(`The journal is signed by ${rotated.key} from now on.\nBefore: ${rotated.previous}`);
}
