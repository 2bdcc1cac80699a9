import { accessSync, constants, existsSync, readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { type CreatedExport, exportOperation } from "@satchel/server";
import { askPassphrase } from "../passphrase.js";
import { type CommonOptions, runLocally, withContext } from "../session.js";
import { createProgress, note, paint, print, printJson } from "../terminal.js";
import { UsageError } from "../usage-error.js";

export interface ExportOptions extends CommonOptions {
  out: string;
  encryptTo: string[];
  recipientsFile: string[];
  passphrase?: boolean;
  audit: boolean;
}

/** Writes everything into one archive that is this person's. */
export async function exportContext(options: ExportOptions): Promise<void> {
  const out = resolve(options.out);
  verifyPlace(out);
  const recipients = [...options.encryptTo, ...options.recipientsFile.flatMap(readRecipients)];
  if (options.passphrase && recipients.length > 0)
    throw new UsageError("An archive is encrypted under a passphrase or to keys, not both.");
  const passphrase = options.passphrase
    ? await askPassphrase("Passphrase for the archive", { confirm: true })
    : undefined;
  const progress = createProgress("Exporting");
  const { show: onProgress } = progress;
  const operation = exportOperation({ out, onProgress, ...(passphrase !== undefined && { passphrase }) });
  const asked = { encrypt_to: recipients, include_audit: options.audit };
  const made = await withContext(options, (context) => runLocally(context, operation, asked));
  progress.end();
  if (options.json) printJson({ file: out, ...made });
  else printMade(made, { file: options.out, isEncrypted: recipients.length > 0 || passphrase !== undefined });
}

/** Before anybody is asked for anything. A folder that is not there yet is made later. @throws UsageError */
function verifyPlace(out: string): void {
  let folder = dirname(out);
  while (!existsSync(folder)) folder = dirname(folder);
  if (!statSync(folder).isDirectory()) throw new UsageError(`${folder} is a file: --out names a place in a folder.`);
  try {
    accessSync(folder, constants.W_OK);
  } catch {
    throw new UsageError(`Nothing can be written to ${folder}: choose another place with --out.`);
  }
}

/** A file of public keys, one a line: as age takes with -R, or an authorized_keys file. */
function readRecipients(file: string): string[] {
  const lines = readFileSync(file, "utf8").split(/\r?\n/);
  return lines.map((line) => line.trim()).filter((line) => line !== "" && !line.startsWith("#"));
}

function printMade(made: CreatedExport, { file, isEncrypted }: { file: string; isEncrypted: boolean }): void {
  const { pageCount, bytes, sha256, coverage, omitted } = made;
  print(`${paint("green", file)}: ${pageCount} pages, ${bytes} bytes, ${coverage}.`);
  print(`sha256 ${sha256}`);
  for (const { part, reason } of omitted) note(`Not in it: ${part} (${reason}).`);
  if (!isEncrypted)
    note("It is not encrypted: whoever has the file can read it. --encrypt-to and --passphrase encrypt.");
}
