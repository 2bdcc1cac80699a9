import { holdsPhrase, textsIn, valueHoldsPhrase, withoutPhrase } from "../domain/subject.js";
import type { ProfileChange, ReadTransaction } from "../store/store.js";
import type { Context } from "./context.js";
import { verifyDocument } from "./profile.js";
import type { Read } from "./stored-walks.js";

export interface ProfileRewrite {
  namespace: string;
  changes: ProfileChange[];
  /** The texts of the documents that change. */
  before: string[];
}

export interface ProfilePlan {
  rewrites: ProfileRewrite[];
  /** Documents, present or earlier, that their key does not open: they stay, for nobody can look into them. */
  unreadable: number;
}

/** The history of each document without what holds the phrase. Where the document can't be without it, all of it goes. */
export async function planProfiles(
  { documents }: Pick<Context, "documents">,
  read: Read,
  phrase: string,
): Promise<ProfilePlan> {
  return read(async (transaction) => {
    const plan: ProfilePlan = { rewrites: [], unreadable: 0 };
    for (const { namespace } of await transaction.profiles()) {
      const { rewrite, unreadable } = await planProfile(documents, transaction, { namespace, phrase });
      plan.unreadable += unreadable;
      if (rewrite) plan.rewrites.push(rewrite);
    }
    return plan;
  });
}

async function planProfile(
  documents: Context["documents"],
  transaction: ReadTransaction,
  { namespace, phrase }: { namespace: string; phrase: string },
): Promise<{ rewrite?: ProfileRewrite; unreadable: number }> {
  const registered = await transaction.extensionSchema(namespace);
  const before: string[] = [];
  let unreadable = 0;
  const kept = (await transaction.profileChanges(namespace)).flatMap((change) => {
    const document = openDocument(documents, change);
    if (!document) {
      unreadable++;
      return [change];
    }
    if (!valueHoldsPhrase([document, change.changed], phrase)) return [change];
    before.push(...textsIn(document));
    const rest = (withoutPhrase(document, phrase) ?? {}) as Record<string, unknown>;
    if (verifyDocument(namespace, rest, registered)) return [];
    const changed = change.changed.filter((pointer) => !holdsPhrase(pointer, phrase));
    return [{ ...change, changed, document: documents.seal(namespace, rest) }];
  });
  if (before.length === 0) return { unreadable };
  const isWhole = kept.at(-1)?.at !== (await transaction.profile(namespace))?.updated;
  return { unreadable, rewrite: { namespace, changes: isWhole ? [] : kept, before } };
}

function openDocument(
  documents: Context["documents"],
  { namespace, document }: ProfileChange,
): Record<string, unknown> | undefined {
  try {
    return documents.open(namespace, document);
  } catch {
    return undefined;
  }
}
