import { isSecretText } from "./protected-text.js";
import { isStableId } from "./stable-id.js";

export const REFERENCE_KINDS = [
  "task",
  "document_revision",
  "interaction",
  "approval",
  "decision",
  "artifact",
  "work_product",
  "wake",
  "monitor",
  "audit",
  "operation",
] as const;

export type ReferenceKind = (typeof REFERENCE_KINDS)[number];

/** An object a reader may look up, by id only. */
export interface Reference {
  kind: ReferenceKind;
  id: string;
}

export const TARGET_KINDS = ["document_revision", "interaction", "approval", "decision"] as const;

/** What a governed action is bound to: this very state of it, never a later one. */
export interface Target {
  kind: (typeof TARGET_KINDS)[number];
  id: string;
  immutable: true;
  revisionId?: string;
  decisionId?: string;
}

export const ARTIFACT_KINDS = ["artifact", "work_product"] as const satisfies readonly ReferenceKind[];

const MAX_LISTED = 200;

const isSafeId = (id: unknown): id is string => typeof id === "string" && isStableId(id) && !isSecretText(id);

/** Items in their order, the first of each `kind:id…`, at most 200. */
function listDistinct<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[] {
  const distinct = new Map<string, Item>();
  for (const item of items) {
    const key = keyOf(item);
    if (!distinct.has(key)) distinct.set(key, item);
  }
  return [...distinct.values()].slice(0, MAX_LISTED);
}

/**
 * Kind and id of each reference in its order, the first of each pair, at most 200. One of another kind is left out, and
 * so is one whose id is no stableId or has the form of a credential.
 */
export function listReferences(
  references: readonly Reference[] = [],
  kinds: readonly ReferenceKind[] = REFERENCE_KINDS,
): Reference[] {
  const fitting = references.filter(({ kind, id }) => kinds.includes(kind) && isSafeId(id));
  const bare = fitting.map(({ kind, id }) => ({ id, kind }));
  return listDistinct(bare, ({ kind, id }) => `${kind}:${id}`);
}

/** Like `listReferences`, for targets; an unfitting revision or decision id is left out of its target. */
export function listTargets(targets: readonly Target[] = []): Target[] {
  const fitting = targets.filter(({ kind, id }) => TARGET_KINDS.includes(kind) && isSafeId(id));
  const bare = fitting.map(({ kind, id, revisionId, decisionId }): Target => {
    return {
      ...(isSafeId(decisionId) && { decisionId }),
      id,
      immutable: true,
      kind,
      ...(isSafeId(revisionId) && { revisionId }),
    };
  });
  return listDistinct(bare, (target) => JSON.stringify(target));
}
