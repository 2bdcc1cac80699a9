import { withoutErased } from "../domain/attached-audit.js";
import type { Attachment } from "../domain/records.js";
import { holdsPhraseInAny } from "./called-texts.js";
import type { ErasureItem } from "./erasure-findings.js";
import type { Read } from "./stored-walks.js";

/** Archives that hold something that goes. */
export interface ExportPlan {
  ids: string[];
  items: ErasureItem[];
  /** Of them, those whose file is ours. */
  files: number;
}

/**
 * By what was remembered of their content, since they may be encrypted. One that is being made may hold anything.
 * @param archived ids of pages and proposals, and namespaces @param audited the first audit detail that goes
 */
export async function planExports(
  read: Read,
  { archived, audited }: { archived: ReadonlySet<string>; audited: number },
): Promise<ExportPlan> {
  return read(async (transaction) => {
    const plan: ExportPlan = { ids: [], items: [], files: 0 };
    if (archived.size === 0 && audited === Number.POSITIVE_INFINITY) return plan;
    for (const { id, made, file, auditSize } of await transaction.exports()) {
      const holds = audited < auditSize || (await transaction.exportedItems(id)).some((item) => archived.has(item));
      if (made && !holds) continue;
      plan.ids.push(id);
      plan.items.push({ what: file === undefined ? "export taken out" : "export", name: id, id });
      if (file !== undefined) plan.files++;
    }
    return plan;
  });
}

/** Attached audit without the details that name something that goes. */
export async function planAttachments(
  read: Read,
  names: { paths: ReadonlySet<string>; ids: ReadonlySet<string>; phrase: string | undefined },
): Promise<{ changed: Attachment[]; details: number }> {
  const { paths, ids, phrase } = names;
  const attachments = await read((transaction) => transaction.attachments());
  let details = 0;
  const changed = attachments.flatMap(({ path, text }) => {
    const rest = withoutErased(
      text,
      ({ targets, call_id }) =>
        targets.some((target) => paths.has(target) || ids.has(target)) ||
        (phrase !== undefined && holdsPhraseInAny([...targets, call_id], phrase)),
    );
    details += rest.details;
    return rest.details > 0 ? [{ path, text: rest.text }] : [];
  });
  return { changed, details };
}
