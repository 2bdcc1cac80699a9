import type { Lifecycle } from "./records.js";

/** What decides whether a page counts as current at an instant (pcp section 6). */
interface Validity {
  lifecycle: Lifecycle;
  validFrom?: string;
  validUntil?: string;
}

const dayMs = 86_400_000;

/** Archived, or stale by lifecycle or validity window. Supersession is judged apart: it depends on who asks. */
export function standingAt(page: Validity, atMs: number): "current" | "stale" | "archived" {
  if (page.lifecycle === "archived") return "archived";
  if (page.lifecycle === "stale") return "stale";
  if (page.validFrom !== undefined && atMs < startOf(page.validFrom)) return "stale";
  if (page.validUntil !== undefined && atMs > endOf(page.validUntil)) return "stale";
  return "current";
}

function isDate(text: string): boolean {
  return text.length === 10;
}

/** A date is UTC and begins at midnight. */
function startOf(text: string): number {
  return Date.parse(isDate(text) ? `${text}T00:00:00Z` : text);
}

/** The last day counts whole. */
function endOf(text: string): number {
  return isDate(text) ? startOf(text) + dayMs - 1 : Date.parse(text);
}

interface Successor extends Validity {
  path: string;
  updated: string;
}

/**
 * The pages that make `page` stale: current ones that say they supersede it. Of two pages that supersede each other
 * only the later written one counts.
 */
export function currentSuccessors<Page extends Successor>(
  page: { path: string; updated: string },
  claims: { target: string; page: Page }[],
  atMs: number,
): Page[] {
  const isMutual = (by: Page) => claims.some((claim) => claim.page.path === page.path && claim.target === by.path);
  return claims
    .filter((claim) => claim.target === page.path && claim.page.path !== page.path)
    .map((claim) => claim.page)
    .filter((by) => standingAt(by, atMs) === "current" && !(isMutual(by) && by.updated < page.updated));
}
