import { type ErasureReceipt, parsePath } from "@satchel/pcp";
import { type ErasureItem, type ErasureSelector, erasureSaltMetaKey, previewErasure } from "@satchel/server";
import { answerLocally, type CommonOptions, chooseHandle, withContext } from "../session.js";
import { chooseDataDir, createEnvironment } from "../system.js";
import { note, paint, print, printJson, printTable } from "../terminal.js";
import { UsageError } from "../usage-error.js";

export interface EraseOptions extends CommonOptions {
  subject?: string;
  path: string[];
  id: string[];
  derived: boolean;
  yes?: boolean;
}

/** Shows page by page what an erasure would take; with `--yes` it is done. */
export async function erase(options: EraseOptions): Promise<void> {
  const selector = parseSelector(options);
  const request = { selector, includeDerived: options.derived };
  if (options.yes) return eraseForReal(options, selector);
  const dataDir = chooseDataDir(options.data);
  const place = {
    dataDir,
    handle: chooseHandle(dataDir, options.context),
    environment: createEnvironment(options.now),
  };
  const { items, counts } = await previewErasure(place, request);
  if (options.json) {
    printJson({ dry_run: true, would_erase: counts, items });
    return;
  }
  printItems(items);
  if (items.length === 0) note("Nothing matches: there is nothing to erase.");
  else {
    print(`\nWould be erased: ${printCounts(counts)}.`);
    note("Nothing was changed. Do it with --yes; it can't be undone.");
  }
}

function parseSelector({ subject, path, id }: EraseOptions): ErasureSelector {
  const given = [subject !== undefined, path.length > 0, id.length > 0].filter(Boolean);
  if (given.length !== 1) throw new UsageError("Say what to erase with exactly one of --subject, --path and --id.");
  if (subject !== undefined) return { kind: "subject", subject };
  if (id.length > 0) return { kind: "ids", ids: id };
  const paths = path.map((text) => {
    const parsed = parsePath(text);
    if (!parsed.ok) throw new UsageError(`--path ${text}: ${parsed.violations.join("; ")}`);
    return parsed.path;
  });
  return { kind: "paths", paths };
}

function printItems(items: ErasureItem[]): void {
  const rows = items.map(({ what, name, id, versions }) => [
    what,
    name,
    versions === undefined ? "" : String(versions),
    id ?? "",
  ]);
  if (rows.length > 0) printTable(["WHAT", "NAME", "VERSIONS", "ID"], rows);
}

function printCounts(counts: Record<string, number>): string {
  const some = Object.entries(counts).filter(([, count]) => count > 0);
  return some.map(([store, count]) => `${count} ${store.replaceAll("_", " ")}`).join(", ") || "nothing";
}

async function eraseForReal(options: EraseOptions, selector: ErasureSelector): Promise<void> {
  const { kind, ...named } = selector;
  note(`Erasing by ${kind}. The context is locked until every file is clean.`);
  const args = { ...named, include_derived: options.derived, dry_run: false };
  const { structuredContent, _meta } = await withContext(options, (context) =>
    answerLocally(context, "erase_request", args),
  );
  const { receipt } = structuredContent as { receipt: ErasureReceipt };
  const salt = _meta?.[erasureSaltMetaKey];
  if (!receipt.residual.clean) process.exitCode = 1;
  if (options.json) {
    printJson({ dry_run: false, receipt, salt });
    return;
  }
  const { counts, residual, id } = receipt;
  print(`Erased: ${printCounts(counts)}.`);
  if (residual.clean) print(paint("green", `No trace is left in ${residual.files_scanned} files.`));
  else if (residual.unsearched) note(paint("red", "The files could not be searched: traces may be left."));
  else note(paint("red", `Traces are left in: ${String(residual.traced)}.`));
  if (residual.remaining_mentions) print(`${residual.remaining_mentions} other pages still name an erased path.`);
  print(`Receipt ${id}, signed by key ${receipt.key_id}. Selector salt, shown only now: ${salt}`);
}
