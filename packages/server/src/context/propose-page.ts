import { encodeId, twinKey } from "@satchel/pcp";
import type { Caller } from "../domain/access.js";
import { decideProposal, verifyExpectedUpdated } from "../domain/page-write.js";
import type { PageContent, PageVersion, Part } from "../domain/records.js";
import { isRefusal, type Refusal } from "../domain/refusal.js";
import type { ReadTransaction, WriteTransaction } from "../store/store.js";
import { loadAccess } from "./access.js";
import type { Context } from "./context.js";
import { checkSecrets, loadWriteState, parseWrite, type WritePageInput } from "./write-page.js";

export interface ProposePageInput extends WritePageInput {
  note?: string;
}

export interface ProposedPage extends Part {
  path: string;
  revision: string;
  targetExists: boolean;
  /** The page's current version, where there is a page the caller sees. */
  version?: string;
}

/** `memory_propose` (pcp section 5): stores a revision for review. Refuses as `memory_write` does. */
export async function proposePage(
  context: Context,
  caller: Caller,
  input: ProposePageInput,
): Promise<ProposedPage | Refusal> {
  const request = parseWrite(input);
  if (isRefusal(request)) return request;
  const secrets = await checkSecrets(context, `${request.head}${request.body}\n${input.note ?? ""}`);
  if (isRefusal(secrets)) return secrets;
  return context.store.write(async (transaction) => {
    const access = await loadAccess(transaction, caller);
    const state = await loadWriteState(transaction, access, input.path);
    const base = await chooseBase(transaction, input, state.existing);
    if (isRefusal(base)) return base;
    const decided = decideProposal(access, request, state);
    if (isRefusal(decided)) return decided;
    const { path, note } = input;
    const revision = await addRevision(context, transaction, {
      caller,
      path,
      decided,
      ...(base && { base }),
      ...(note !== undefined && { note }),
    });
    const { partition, sensitivity } = decided;
    const { existing } = state;
    return {
      path,
      revision,
      partition,
      sensitivity,
      targetExists: existing !== undefined,
      ...(existing && { version: existing.version }),
    };
  });
}

/** The version that `expected_updated` names, else the current one the caller may read. */
async function chooseBase(
  transaction: ReadTransaction,
  { path, expectedUpdated }: ProposePageInput,
  existing: PageVersion | undefined,
): Promise<string | undefined | Refusal> {
  if (expectedUpdated === undefined || expectedUpdated === existing?.updated) return existing?.version;
  const named = existing && (await transaction.versionAt(existing, expectedUpdated));
  const wasReadable = named?.partition === existing?.partition && named?.sensitivity === existing?.sensitivity;
  if (named && wasReadable) return named.version;
  return verifyExpectedUpdated({ path, expectedUpdated }, existing);
}

/** @returns the revision's id */
export async function addRevision(
  context: Context,
  transaction: WriteTransaction,
  proposal: { caller: Caller; path: string; decided: PageContent & Part; base?: string; note?: string },
): Promise<string> {
  const { caller, path, decided, base, note } = proposal;
  const { newUuid, now } = context.environment;
  const { head, body, keys, partition, sensitivity } = decided;
  const id = encodeId("rev", newUuid());
  const at = await transaction.tick(now());
  await transaction.addRevision({
    id,
    path,
    twinKey: twinKey(path),
    head,
    body,
    keys,
    partition,
    sensitivity,
    generated: { principal: caller.principal, client: caller.client, at },
    ...(base !== undefined && { base }),
    ...(note !== undefined && { note }),
  });
  return id;
}
