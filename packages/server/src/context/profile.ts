import { coversScope, isExtensionNamespace, profileScope, validateExtension, validateProfile } from "@satchel/pcp";
import { type Caller, isOwner } from "../domain/access.js";
import { applyMergePatch, changedPointers } from "../domain/merge-patch.js";
import type { ContextRecord, ProfileType } from "../domain/records.js";
import { invalidInput, missingScope, type Refusal } from "../domain/refusal.js";
import type { Context } from "./context.js";

/** A profile document may hold this many bytes of JSON. */
export const profileLimitBytes = 64 * 1024;

export interface ReadProfile {
  profileType: ProfileType;
  profile: Record<string, unknown> | null;
  extensions: Record<string, Record<string, unknown>>;
}

/** Whether the caller may read the document of a namespace. */
export function coversProfile(caller: Caller, namespace: string, operation: "read" | "write" = "read"): boolean {
  return isOwner(caller) && coversScope(caller.scopes, profileScope(namespace, operation));
}

function refuseProfile(caller: Caller, scope: string): Refusal {
  return isOwner(caller)
    ? missingScope([scope])
    : { refused: "forbidden", message: `${caller.principal} has no right to this profile. Ask the owner.` };
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
  const refused = asked?.find((namespace) => !coversProfile(caller, namespace));
  if (refused !== undefined) return refuseProfile(caller, profileScope(refused, "read"));
  if (!isOwner(caller)) return refuseProfile(caller, "");
  return context.store.read(async (transaction) => {
    const { profileType } = await transaction.context();
    const documents = await transaction.profiles();
    const own = documents.find(({ namespace }) => namespace === profileType);
    const extensions = documents
      .filter(({ namespace }) => isExtensionNamespace(namespace) && coversProfile(caller, namespace))
      .filter(({ namespace }) => !asked || asked.includes(namespace));
    return {
      profileType,
      profile: own && coversProfile(caller, profileType) ? own.document : null,
      extensions: Object.fromEntries(extensions.map(({ namespace, document }) => [namespace, document])),
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
  return context.store.write(async (transaction) => {
    const record = await transaction.context();
    const namespace = chooseNamespace(record, input.namespace);
    if (typeof namespace !== "string") return namespace;
    if (!coversProfile(caller, namespace, "write")) return refuseProfile(caller, profileScope(namespace, "write"));
    const before = await transaction.profile(namespace);
    const document = patchDocument(namespace, before?.document, input.patch);
    const changed = changedPointers(before?.document ?? {}, document).filter(
      (pointer) => !isServerKey(namespace, pointer),
    );
    if (before && changed.length === 0) return { namespace, updated: before.updated, changed };
    const stamped = isExtensionNamespace(namespace)
      ? document
      : { pcp_version: "0.3", ...document, updated: new Date(context.environment.now()).toISOString() };
    const problem = verifyDocument(namespace, stamped);
    if (problem) return problem;
    const updated = await transaction.tick(context.environment.now());
    if (!isExtensionNamespace(namespace)) Object.assign(stamped, { updated });
    const { principal, client } = caller;
    await transaction.putProfile({ namespace, document: stamped, changed, principal, client, at: updated });
    return { namespace, updated, changed };
  });
}

function chooseNamespace({ profileType }: ContextRecord, asked: string | undefined): string | Refusal {
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

function verifyDocument(namespace: string, document: Record<string, unknown>): Refusal | undefined {
  if (Buffer.byteLength(JSON.stringify(document)) > profileLimitBytes) {
    return {
      refused: "too_large",
      message: `A profile document holds at most ${profileLimitBytes / 1024} KiB of JSON.`,
    };
  }
  const violations =
    namespace === "core" || namespace === "team"
      ? validateProfile(namespace, document)
      : validateExtension(namespace, document);
  return violations.length > 0 ? invalidInput(violations) : undefined;
}
