// The Mara corpus: its pages into one context per bundle, its 60 questions to `memory_search`, and the leak checks.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { dispatch, openContext, pageTextOperation } from "@satchel/server";
import { localCaller, stderrLog } from "satchel/dist/session.js";
import { createEnvironment } from "satchel/dist/system.js";
import { openSatchel } from "./connection.mjs";
import { importFolder, note } from "./workspace.mjs";

export const clock = "2026-09-09T12:00:00Z";
const history = { include_stale: true, include_archived: true };

export function readMara(folder) {
  const read = (name) => readFileSync(join(folder, name), "utf8");
  const pages = read("pages.jsonl").trimEnd().split("\n");
  return {
    pages: pages.map((line) => JSON.parse(line)),
    questions: JSON.parse(read("questions.json")),
    visibility: JSON.parse(read("visibility.json")),
  };
}

/**
 * The pages of a bundle's context: all but those that only the namespace keeps from it. The namespace stands beside the
 * pages, not in them, so no scope can hide these; every sensitive page is there for a bundle that may not see it.
 */
function pagesOfContext({ pages, visibility }, bundle) {
  const readable = visibility.bundle_namespaces[bundle];
  const seesSensitive = visibility.bundles[bundle].includes("memory.sensitive:read");
  return pages.filter(({ path }) => {
    const { namespace, sensitivity } = visibility.pages[path];
    return namespace === null || readable.includes(namespace) || (sensitivity === "sensitive" && !seesSensitive);
  });
}

/** Writes pages as files, imports them and compares every page's own text with the file's. */
async function loadPages(dataDir, folder, pages) {
  for (const { path, markdown } of pages) {
    const file = join(folder, `${path}.md`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, markdown);
  }
  const { applied, added, refused } = await importFolder(dataDir, folder);
  if (!applied) throw new Error(`The import was refused: ${JSON.stringify(refused.slice(0, 5))}`);
  const context = openContext(dataDir, "me", createEnvironment());
  const different = [];
  try {
    for (const { path, markdown } of pages) {
      const call = { context, caller: localCaller, args: { path }, log: stderrLog };
      const { ok, output } = await dispatch(pageTextOperation, call);
      const same = ok && output.kind === "page" && output.version.head + output.version.body === markdown;
      if (!same) different.push(path);
    }
  } finally {
    await context.store.close();
  }
  return { imported: added.length, different };
}

/** Every answer of one query, all cursors followed. */
async function searchAll(connection, args) {
  const answers = [];
  let cursor;
  do {
    const page = { ...args, limit: 100, ...(cursor !== undefined && { cursor }) };
    const { structuredContent } = await connection.call("memory_search", page);
    answers.push(structuredContent);
    cursor = structuredContent.next_cursor;
  } while (cursor !== undefined);
  return answers;
}

/** One question as a person would have it asked: ten results, and all of them. */
async function ask(connection, question, options) {
  const first = await connection.call("memory_search", { query: question, limit: 10, ...options });
  const all = await searchAll(connection, { query: question, ...options });
  const hits = all.flatMap(({ results }) => results);
  const paths = hits.map(({ path }) => path);
  const { results, stale_fallback: fallback = false } = first.structuredContent;
  const top = results.map(({ path }) => path);
  if (top.some((path, at) => path !== paths[at])) throw new Error(`The order depends on the limit: ${question}`);
  return { hits, top, paths, fallback, text: JSON.stringify([first.structuredContent, all]) };
}

/** All questions with history off and on, and every page the bundle may see, through one server. */
async function askBundle(connection, corpus, bundle) {
  const { questions, visibility, pages } = corpus;
  const asked = new Map();
  for (const { id, question } of questions) {
    const off = await ask(connection, question, {});
    const on = await ask(connection, question, history);
    asked.set(id, { off, on });
  }
  const views = new Map();
  for (const { path } of pages) {
    if (!visibility.pages[path].bundles.includes(bundle)) continue;
    views.set(path, (await connection.call("memory_read", { path })).structuredContent);
  }
  return { asked, views };
}

/** @returns per bundle: what was imported, what was answered and what could be read */
export async function measureBundles(corpus, workFolder) {
  const measured = new Map();
  for (const [bundle, scopes] of Object.entries(corpus.visibility.bundles)) {
    const pages = pagesOfContext(corpus, bundle);
    note(`${bundle}: ${pages.length} pages`);
    const dataDir = join(workFolder, bundle, "data");
    const loaded = await loadPages(dataDir, join(workFolder, bundle, "pages"), pages);
    const connection = await openSatchel(dataDir, "--now", clock, "--scopes", scopes.join(" "));
    try {
      measured.set(bundle, { ...loaded, ...(await askBundle(connection, corpus, bundle)) });
    } finally {
      await connection.close();
    }
  }
  return measured;
}
