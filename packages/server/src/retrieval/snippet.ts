import { isWordKind, Kind, kindOf, traitsOf, unitsOf } from "./characters.js";
import { STOP_WORDS } from "./stop-words.js";
import { type OffsetToken, type QueryPlan, tokeniseWithOffsets } from "./tokens.js";

/** A stretch of the body, UTF-16 offsets, `end` exclusive. */
interface Stretch {
  start: number;
  end: number;
}

/** The least that is never cut apart: a character with its marks, or a few ASCII letters at once. */
interface Atom {
  text: string;
  at: number;
  kind: number;
  marked: boolean;
  spaceBefore: boolean;
}

/** Atoms that are shown together or not at all. */
interface Segment {
  atoms: Atom[];
  units: number;
}

interface Passage {
  body: string;
  hits: OffsetToken[];
  best: Stretch;
  maxChars: number;
}

const REQUIRED_VALUE = 16;
const OPTIONAL_VALUE = 1;
const MARK = "**";
const MARK_UNITS = 2 * MARK.length;
const LEADING_ELLIPSIS = "… ";
const TRAILING_ELLIPSIS = " …";
const ELLIPSES_UNITS = LEADING_ELLIPSIS.length + TRAILING_ELLIPSIS.length;
/** Longer chunks (addresses, paths, encoded data) may be cut inside, at punctuation or, failing that, anywhere. */
const MAX_WHOLE_UNITS = 40;
/** Letters of one atom, and room for as much again in marks: a character may carry them without end. */
const MAX_ATOM_UNITS = 16;
/** The share of the room that goes to the text before the matches. */
const LEAD_SHARE = 1 / 3;

const ASTERISK = 0x2a;
const HASH = 0x23;
const LINE_FEED = 0x0a;
const HIDDEN = /^[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cc}\p{Cs}]$/u;
const ATTACHED = /^[\p{M}\p{Emoji_Modifier}\uff9e\uff9f\u1160-\u11ff]$/u;
const REGIONAL = /^\p{Regional_Indicator}$/u;

/**
 * The best passage of a body for a query (pcp section 7): the one with most distinct terms, required ones first, closest
 * together; the start of the body when none occurs. At most `maxChars` UTF-16 units, marks and ellipses included; whole
 * words; each matched word in `**` (function words only where the query has no others), white space as single spaces, the text's own emphasis and hidden characters left out.
 */
export function buildSnippet(body: string, plan: QueryPlan, maxChars = 300): string {
  const terms = new Set(plan.terms.filter((term) => plan.required.includes(term) || !STOP_WORDS.has(term)));
  const hits = tokeniseWithOffsets(body).filter(({ token }) => terms.has(token));
  hits.sort((a, b) => a.start - b.start || a.end - b.end);
  return showPassage({ body, hits, best: bestStretch(hits, plan, maxChars - ELLIPSES_UNITS), maxChars });
}

/** The start of a body as plain text: whole words, at most `maxChars` UTF-16 units with the ellipsis. */
export function excerpt(body: string, maxChars: number): string {
  return showPassage({ body, hits: [], best: { start: 0, end: 0 }, maxChars });
}

/** The richest stretch of hits that fits in `room` UTF-16 units; of equals the shortest, then the earliest. */
function bestStretch(hits: OffsetToken[], plan: QueryPlan, room: number): Stretch {
  const required = new Set(plan.required);
  const termValue = (token: string) => (required.has(token) ? REQUIRED_VALUE : OPTIONAL_VALUE);
  const counts = new Map<string, number>();
  let best: Stretch = { start: 0, end: 0 };
  let bestValue = 0;
  let value = 0;
  let first = 0;
  hits.forEach(({ token, end }, index) => {
    const count = counts.get(token) ?? 0;
    counts.set(token, count + 1);
    if (count === 0) value += termValue(token);
    for (; first < index; first += 1) {
      const leaving = hits[first]!;
      const remaining = counts.get(leaving.token)! - 1;
      const isTooWide = end - leaving.start + MARK_UNITS * counts.size > room;
      if (remaining === 0 && !isTooWide) break;
      counts.set(leaving.token, remaining);
      if (remaining === 0) value -= termValue(leaving.token);
    }
    const { start } = hits[first]!;
    if (value > bestValue || (value === bestValue && end - start < best.end - best.start)) {
      best = { start, end };
      bestValue = value;
    }
  });
  return best;
}

/** Reads only the neighbourhood of the stretch, so that showing a passage costs the same in a body of any length. */
function showPassage(passage: Passage): string {
  const { body, best, maxChars } = passage;
  const from = startOfLead(body, best.start, maxChars);
  const to = Math.min(body.length, Math.max(best.end, from) + maxChars + 2 * MAX_WHOLE_UNITS);
  const segments = toSegments(readAtoms(passage, from, to));
  const open = { before: from > 0, after: hasText(body, to) };
  const chosen = chooseSegments(segments, passage, open);
  for (let last = chosen.end; last > chosen.start; last -= 1) {
    const text = render(segments.slice(chosen.start, last).flatMap((segment) => segment.atoms));
    const before = open.before || chosen.start > 0 ? LEADING_ELLIPSIS : "";
    const after = open.after || last < segments.length ? TRAILING_ELLIPSIS : "";
    if (before.length + text.length + after.length <= maxChars) return before + text + after;
  }
  return cutPlain(segments, maxChars);
}

/** At most `maxChars` before the matches, from the start of a chunk (or of an unspaced character) on. */
function startOfLead(body: string, start: number, maxChars: number): number {
  const lead = start - maxChars;
  if (lead <= 0) return 0;
  for (let at = lead; at < start; at += 1) if (kindAt(body, at) === Kind.space) return at;
  for (let at = lead; at < start; at += 1) {
    const code = body.charCodeAt(at);
    if (kindOf(traitsOf(code)) === Kind.unspaced && !ATTACHED.test(String.fromCharCode(code))) return at;
  }
  return start;
}

function hasText(body: string, from: number): boolean {
  for (let at = from; at < body.length; at += 1) if (kindAt(body, at) !== Kind.space) return true;
  return false;
}

function kindAt(text: string, at: number): number {
  return at >= 0 && at < text.length ? kindOf(traitsOf(text.charCodeAt(at))) : Kind.space;
}

function readAtoms(passage: Passage, from: number, to: number): Atom[] {
  const { body } = passage;
  const isMarked = markReader(passage.hits, from);
  const atoms: Atom[] = [];
  let spaceBefore = false;
  for (let at = from; at < to; ) {
    const codePoint = body.codePointAt(at)!;
    const kind = kindOf(traitsOf(codePoint));
    const marked = isMarked(at);
    let next = codePoint === ASTERISK ? endOfRun(body, at) : at + unitsOf(codePoint);
    if (codePoint < 0x80 && isWordKind(kind)) {
      const limit = Math.min(to, at + MAX_ATOM_UNITS);
      while (next < limit && isAsciiWord(body.charCodeAt(next)) && isMarked(next) === marked) next += 1;
    }
    const last = atoms.at(-1);
    if (kind === Kind.space || isLineSign(body, at, next)) spaceBefore = true;
    else if (codePoint === ASTERISK && !isPlainAsterisk(body, at, next)) {
      // Emphasis: what it surrounds stays, joined as Markdown would show it.
    } else if (last && !spaceBefore && codePoint === ASTERISK && (last.marked || isMarked(next))) spaceBefore = true;
    else if (!isHidden(codePoint, kind)) {
      const text = body.slice(at, next);
      if (last && !spaceBefore && isAttachedTo(last, codePoint, text)) {
        if (last.text.length + text.length <= 2 * MAX_ATOM_UNITS) last.text += text;
      } else {
        atoms.push({ text, at, kind, marked: marked && codePoint !== ASTERISK, spaceBefore });
        spaceBefore = false;
      }
    }
    at = next;
  }
  return atoms;
}

/** Says of places asked for in rising order whether a hit covers them. */
function markReader(hits: OffsetToken[], from: number): (at: number) => boolean {
  let index = hits.findIndex((hit) => hit.end > from);
  if (index < 0) index = hits.length;
  let coveredTo = 0;
  return (at) => {
    for (; index < hits.length && hits[index]!.start <= at; index += 1) {
      coveredTo = Math.max(coveredTo, hits[index]!.end);
    }
    return at < coveredTo;
  };
}

function endOfRun(body: string, at: number): number {
  let end = at + 1;
  while (body.charCodeAt(end) === ASTERISK) end += 1;
  return end;
}

/** A single asterisk between spaces or between words (2*3) is text; any other is emphasis. */
function isPlainAsterisk(body: string, at: number, next: number): boolean {
  if (next - at > 1) return false;
  const before = kindAt(body, at - 1);
  const after = kindAt(body, next);
  return (before === Kind.space && after === Kind.space) || (isWordKind(before) && isWordKind(after));
}

/** The hashes of a Markdown heading. */
function isLineSign(body: string, at: number, next: number): boolean {
  if (body.charCodeAt(at) !== HASH) return false;
  let start = at;
  while (start > 0 && body.charCodeAt(start - 1) === HASH && at - start < 6) start -= 1;
  let end = next;
  while (body.charCodeAt(end) === HASH && end - start < 7) end += 1;
  const startsLine = start === 0 || body.charCodeAt(start - 1) === LINE_FEED;
  return startsLine && end - start <= 6 && kindAt(body, end) === Kind.space;
}

function isAsciiWord(code: number): boolean {
  return code < 0x80 && isWordKind(kindOf(traitsOf(code)));
}

function isHidden(codePoint: number, kind: number): boolean {
  if (codePoint < 0x80) return codePoint < 0x20 || codePoint === 0x7f;
  return (kind === Kind.ignored || kind === Kind.split) && HIDDEN.test(String.fromCodePoint(codePoint));
}

function isAttachedTo(last: Atom, codePoint: number, text: string): boolean {
  if (codePoint < 0x300) return false;
  return ATTACHED.test(text) || (REGIONAL.test(text) && REGIONAL.test(last.text));
}

/** Cuts where a reader would: at white space, between unspaced characters, and inside chunks too long to keep whole. */
function toSegments(atoms: Atom[]): Segment[] {
  const chunks: Segment[] = [];
  let previous: Atom | undefined;
  for (const atom of atoms) {
    const starts = !previous || atom.spaceBefore || atom.kind === Kind.unspaced || previous.kind === Kind.unspaced;
    if (starts) chunks.push({ atoms: [], units: 0 });
    const chunk = chunks.at(-1)!;
    chunk.atoms.push(atom);
    chunk.units += unitsShown(atom, previous);
    previous = atom;
  }
  return chunks.flatMap((chunk) => (chunk.units <= MAX_WHOLE_UNITS ? [chunk] : splitLong(chunk)));
}

function unitsShown(atom: Atom, previous: Atom | undefined): number {
  const startsMark = atom.marked && (!previous?.marked || atom.spaceBefore);
  return atom.text.length + (atom.spaceBefore ? 1 : 0) + (startsMark ? MARK_UNITS : 0);
}

function splitLong(chunk: Segment): Segment[] {
  const parts: Segment[] = [];
  let previous: Atom | undefined;
  for (const atom of chunk.atoms) {
    const last = parts.at(-1);
    const isBorder = previous !== undefined && !isWordKind(previous.kind) && isWordKind(atom.kind);
    if (!last || isBorder || last.units >= MAX_WHOLE_UNITS) parts.push({ atoms: [], units: 0 });
    const part = parts.at(-1)!;
    part.atoms.push(atom);
    part.units += unitsShown(atom, previous);
    previous = atom;
  }
  return parts;
}

/** The segments of the best stretch, then some before it, then as many as fit after it, then before it again. */
function chooseSegments(
  segments: Segment[],
  { best, maxChars }: Passage,
  open: { before: boolean; after: boolean },
): Stretch {
  const all = segments.reduce((sum, segment) => sum + segment.units, 0);
  if (all <= maxChars && !open.before && !open.after) return { start: 0, end: segments.length };
  const room = maxChars - ELLIPSES_UNITS;
  const firstHit = segments.findIndex((segment) => segment.atoms.at(-1)!.at >= best.start);
  let start = best.end > 0 ? Math.max(0, firstHit) : 0;
  let end = start;
  let used = 0;
  const take = (index: number, limit: number) => {
    const units = segments[index]?.units;
    if (units === undefined || used + units > limit) return false;
    used += units;
    return true;
  };
  while (end < segments.length && segments[end]!.atoms[0]!.at < best.end && take(end, room)) end += 1;
  const lead = used + (room - used) * LEAD_SHARE;
  if (end > start) while (take(start - 1, lead)) start -= 1;
  while (take(end, room)) end += 1;
  while (end > start && take(start - 1, room)) start -= 1;
  return { start, end };
}

function render(atoms: Atom[]): string {
  let text = "";
  let isOpen = false;
  for (const atom of atoms) {
    if (isOpen && (!atom.marked || atom.spaceBefore)) {
      text += MARK;
      isOpen = false;
    }
    if (atom.spaceBefore && text !== "") text += " ";
    if (atom.marked && !isOpen) {
      text += MARK;
      isOpen = true;
    }
    text += atom.text;
  }
  return isOpen ? text + MARK : text;
}

/** For a limit too small to hold one word with its marks: what fits, unmarked. */
function cutPlain(segments: Segment[], maxChars: number): string {
  let text = "";
  for (const atom of segments.flatMap((segment) => segment.atoms)) {
    const next = text + (atom.spaceBefore && text !== "" ? " " : "") + atom.text;
    // Only an atom of plain letters may be cut inside.
    if (next.length > maxChars) return /^[a-z0-9]+$/i.test(atom.text) ? next.slice(0, maxChars).trimEnd() : text;
    text = next;
  }
  return text;
}
