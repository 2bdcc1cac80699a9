/*
 * The audit of another context, which came with an archive and is kept as its lines were (pcp section 9). What is read of
 * it, and what an erasure takes out of it.
 */

interface AttachedEntry {
  targets?: string[];
  call_id?: string;
  /** Every other member. */
  head: Record<string, unknown>;
}

/** Members of a head that are no content: who called what, when, and how it ended (pcp section 10). */
const ownMembers = new Set(["id", "at", "principal", "client", "tool", "category", "action", "outcome", "receipt"]);
/** A verifier key, as they stand in `journal.pub`. */
const verifierKey = /^[^+\s]+\+[0-9a-f]{8}\+[\w+/=]+$/;

/** What came from content and callers: targets and call ids, what we know no member for, and lines that are no entries. */
export function attachedTexts(text: string): string[] {
  return text.split("\n").flatMap(textsOf);
}

/** The same lines, those without their detail that name something for which `isErased` holds; empty ones for the rest. */
export function withoutErased(
  text: string,
  isErased: (entry: { targets: string[]; call_id: string }) => boolean,
): { text: string; details: number } {
  let details = 0;
  const lines = text.split("\n").map((line) => {
    const { targets = [], call_id = "", head = {} } = parseEntry(line) ?? {};
    if (isErased({ targets, call_id })) {
      details++;
      return isErasedAnywhere(JSON.stringify(head)) ? "" : JSON.stringify(head);
    }
    if (!isErasedAnywhere(line)) return line;
    details++;
    return "";
  });
  return { text: lines.join("\n"), details };

  function isErasedAnywhere(line: string): boolean {
    return isErased({ targets: textsOf(line), call_id: "" });
  }
}

function textsOf(line: string): string[] {
  if (line === "" || verifierKey.test(line)) return [];
  const entry = parseEntry(line);
  if (!entry) return [line];
  const { targets = [], call_id, head } = entry;
  const others = Object.entries(head).filter(([name]) => !ownMembers.has(name));
  return [...targets, ...(call_id === undefined ? [] : [call_id]), ...others.flatMap(stringsIn)];
}

function stringsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  const names = Array.isArray(value) ? [] : Object.keys(value);
  return [...names, ...Object.values(value).flatMap(stringsIn)];
}

function parseEntry(line: string): AttachedEntry | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    const { targets, call_id, ...head } = JSON.parse(line) as Record<string, unknown>;
    return {
      head,
      ...(targets !== undefined && { targets: stringsIn(targets) }),
      ...(call_id !== undefined && { call_id: typeof call_id === "string" ? call_id : JSON.stringify(call_id) }),
    };
  } catch {
    return undefined;
  }
}
