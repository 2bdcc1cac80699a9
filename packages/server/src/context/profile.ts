import { coversScope, isExtensionNamespace, profileScope, validateExtension, validateProfile } from "@satchel/pcp";
import type { Access, Caller } from "../domain/access.js";
import { applyMergePatch, changedPointers } from "../domain/merge-patch.js";
import type { ContextRecord, ProfileType } from "../domain/records.js";
import { invalidInput, missingScope, type Refusal } from "../domain/refusal.js";
import type { ProfileChange, WriteTransaction } from "../store/store.js";
import { loadAccess } from "./access.js";
import type { Context } from "./context.js";
import { validateRegistered } from "./extensions.js";

/** A profile document may hold this many bytes of JSON. */
export const profileLimitBytes = 64 * 1024;

export interface ReadProfile {
  profileType: ProfileType;
  profile: Record<string, unknown> | null;
  extensions: Record<string, Record<string, unknown>>;
}

/**
 * Whether the caller may read or write the document of a namespace. Profiles have no access list: they are the owners',
 * and a team's own profile is read by its users too.
 */
export function coversProfile(access: Access, namespace: string, operation: "read" | "write" = "read"): boolean {
  const isOpen = access.isOwner || (namespace === "team" && operation === "read");
  return isOpen && coversScope(access.caller.scopes, profileScope(namespace, operation));
}

function refuseProfile(access: Access, scope: string): Refusal {
  if (!coversScope(access.caller.scopes, scope)) return missingScope([scope]);
  return { refused: "forbidden", message: `${access.caller.principal} has no right to this profile. Ask an owner.` };
}

/** `profile_get` (pcp section 4). A namespace that is not covered is forbidden, whether or not it holds anything. */
export async function readProfile(
  context: Context,
  caller: Caller,
  input: { namespaces?: string[] },
): Promise<ReadProfile | Refusal> {
  const asked = input.namespaces?.map((name) => name.trim());
  const unknown = asked?.filter((name) => !isExtensionNamespace(name)) ?? [];
  if (unknown.length > 0)
    return invalidInput(unknown.map((name) => `/namespaces: "${name.slice(0, 100)}" is no extension namespace`));
  return context.store.read(async (transaction) => {
    const access = await loadAccess(transaction, caller);
    const refused = asked?.find((namespace) => !coversProfile(access, namespace));
    if (refused !== undefined) return refuseProfile(access, profileScope(refused, "read"));
    const { profileType } = await transaction.context();
    if (!access.isOwner && !coversProfile(access, profileType))
      return refuseProfile(access, profileScope(profileType, "read"));
    const documents = await transaction.profiles();
    const own = documents.find(({ namespace }) => namespace === profileType);
    const extensions = documents
      .filter(({ namespace }) => isExtensionNamespace(namespace) && coversProfile(access, namespace))
      .filter(({ namespace }) => !asked || asked.includes(namespace));
    return {
      profileType,
      profile: own && coversProfile(access, profileType) ? own.document : null,
      extensions: Object.fromEntries(
        extensions.map(({ namespace, document }) => [namespace, context.documents.open(namespace, document)]),
      ),
    };
  });
}

export interface UpdatedProfile {
  namespace: string;
  updated: string;
  changed: string[];
}

/** `profile_update`: an RFC 7396 patch, applied whole or not at all. Refuses with invalid_input, forbidden, too_large. */
export async function updateProfile(
  context: Context,
  caller: Caller,
  input: { namespace?: string; patch: Record<string, unknown> },
): Promise<UpdatedProfile | Refusal> {
  return context.store.write(async (transaction) =>
    patchProfile(context, transaction, { ...input, access: await loadAccess(transaction, caller) }),
  );
}

export async function patchProfile(
  context: Context,
  transaction: WriteTransaction,
  { access, patch, ...asked }: { access: Access; namespace?: string; patch: Record<string, unknown> },
): Promise<UpdatedProfile | Refusal> {
  const namespace = chooseNamespace(await transaction.context(), asked.namespace);
  if (typeof namespace !== "string") return namespace;
  if (!coversProfile(access, namespace, "write")) return refuseProfile(access, profileScope(namespace, "write"));
  const before = await transaction.profile(namespace);
  const stored = before && context.documents.open(namespace, before.document);
  const document = patchDocument(namespace, stored, patch);
  const changed = changedPointers(stored ?? {}, document).filter((pointer) => !isServerKey(namespace, pointer));
  if (before && changed.length === 0) return { namespace, updated: before.updated, changed };
  const stamped = isExtensionNamespace(namespace)
    ? document
    : { pcp_version: "0.3", ...document, updated: new Date(context.environment.now()).toISOString() };
  const problem = verifyDocument(namespace, stamped, await transaction.extensionSchema(namespace));
  if (problem) return problem;
  const updated = await transaction.tick(context.environment.now());
  if (!isExtensionNamespace(namespace)) Object.assign(stamped, { updated });
  const { principal, client } = access.caller;
  await putDocument(context, transaction, { namespace, document: stamped, changed, principal, client, at: updated });
  return { namespace, updated, changed };
}

/** Stores a change of a document, sealed where its namespace is. */
export async function putDocument(
  context: Context,
  transaction: WriteTransaction,
  change: ProfileChange,
): Promise<void> {
  const { namespace, document, changed } = change;
  const sealed = context.documents.seal(namespace, document);
  // The names of members tell of what is sealed.
  await transaction.putProfile({ ...change, document: sealed, changed: sealed === document ? changed : [] });
}

export function chooseNamespace({ profileType }: ContextRecord, asked: string | undefined): string | Refusal {
  const namespace = asked ?? profileType;
  if (namespace === profileType && profileType !== "none") return namespace;
  if (isExtensionNamespace(namespace)) return namespace;
  const own = profileType === "none" ? "keeps no profile" : `keeps the profile "${profileType}"`;
  return invalidInput([`/namespace: this context ${own}; otherwise name an extension such as pcp.health`]);
}

/** Members the server writes; what a patch says of them is ignored. */
function isServerKey(namespace: string, pointer: string): boolean {
  return !isExtensionNamespace(namespace) && (pointer === "/pcp_version" || pointer === "/updated");
}

function patchDocument(
  namespace: string,
  before: Record<string, unknown> | undefined,
  patch: Record<string, unknown>,
): Record<string, unknown> {
  const own = isExtensionNamespace(namespace)
    ? patch
    : Object.fromEntries(Object.entries(patch).filter(([key]) => !isServerKey(namespace, `/${key}`)));
  return applyMergePatch(before ?? {}, own) as Record<string, unknown>;
}

export function verifyDocument(
  namespace: string,
  document: Record<string, unknown>,
  registered: Record<string, unknown> | undefined,
): Refusal | undefined {
  if (Buffer.byteLength(JSON.stringify(document)) > profileLimitBytes) {
    return {
      refused: "too_large",
      message: `A profile document holds at most ${profileLimitBytes / 1024} KiB of JSON.`,
    };
  }
  const violations =
    namespace === "core" || namespace === "team"
      ? validateProfile(namespace, document)
      : [...validateExtension(namespace, document), ...(registered ? validateRegistered(registered, document) : [])];
  return violations.length > 0 ? invalidInput(violations) : undefined;
}
