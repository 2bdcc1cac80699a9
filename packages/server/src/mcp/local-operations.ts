import { isPartitionName } from "@satchel/pcp";
import { type ImportFile, type ImportOptions, type ImportSummary, importPages } from "../context/import-pages.js";
import { type ContextReport, inspectContext } from "../context/inspect.js";
import { type PageRead, readPage } from "../context/read-page.js";
import { type RemovePageInput, removePage } from "../context/remove-page.js";
import { chooseSetting, type SettingChange } from "../context/settings.js";
import { type Caller, isInPerson, isOwner } from "../domain/access.js";
import { invalidInput, isRefusal, type Refusal } from "../domain/refusal.js";
import { parsePathArgument, parseTimeArgument } from "./arguments.js";
import type { Operation } from "./dispatch.js";

/*
 * What the terminal offers beyond the tools of the schema. The same dispatch, for an owner in person only.
 */

function ownerInPerson(caller: Caller): Refusal | undefined {
  if (isOwner(caller) && isInPerson(caller)) return undefined;
  return { refused: "forbidden", message: "Only an owner in person can do this." };
}

/** A page's own text: frontmatter block and body as they were written. */
export const pageTextOperation: Operation<{ path: string }, PageRead> = {
  name: "page_text",
  permit: ownerInPerson,
  parse: ({ path }) => {
    const parsed = parsePathArgument(String(path));
    return isRefusal(parsed) ? parsed : { path: parsed };
  },
  run: readPage,
};

export const pageRemoveOperation: Operation<RemovePageInput, { path: string; id: string; updated: string }> = {
  name: "page_remove",
  permit: ownerInPerson,
  parse: ({ path, expected_updated }) => {
    const parsed = parsePathArgument(String(path));
    if (isRefusal(parsed)) return parsed;
    const expectedUpdated = parseTimeArgument("expected_updated", expected_updated as string | undefined);
    if (isRefusal(expectedUpdated)) return expectedUpdated;
    return { path: parsed, ...(expectedUpdated !== undefined && { expectedUpdated }) };
  },
  run: removePage,
};

/** `files` and `onProgress` come from the terminal itself, so only what the person typed is checked. */
export function importOperation(files: ImportFile[], options: ImportOptions): Operation<ImportOptions, ImportSummary> {
  return {
    name: "import",
    permit: ownerInPerson,
    parse: () => {
      const { partition } = options;
      const isKnown = partition === undefined || isPartitionName(partition);
      return isKnown ? options : invalidInput([`partition: "${partition}" is no partition name (a-z, 0-9, - and _)`]);
    },
    run: (context, caller) => importPages(context, caller, { files, options }),
  };
}

export const inspectOperation: Operation<Record<string, unknown>, ContextReport> = {
  name: "doctor",
  permit: ownerInPerson,
  parse: (args) => args,
  run: (context) => inspectContext(context),
};

export const settingOperation: Operation<SettingChange, Record<string, string>> = {
  name: "config",
  permit: ownerInPerson,
  parse: (args) => args as SettingChange,
  run: (context, _caller, input) => chooseSetting(context, input),
};
