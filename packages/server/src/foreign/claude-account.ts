import { datedPart, digestOf, idPart, pathOfName } from "./entry-path.js";
import { baseName, headOf, jsonOf } from "./file-text.js";
import type { ForeignFile } from "./foreign-format.js";
import type { ReadingBuilder } from "./reading-builder.js";
import { instantOf, isObject, listOf, member, textIn } from "./values.js";

const MEMORY_KEY = /"(?:conversations_memory|project_memories|memory_files)"\s*:/;

/** `memories.json` or `memories/<id>.json` of an account's export. */
export const isClaudeAccount = (file: ForeignFile): boolean =>
  file.name.toLowerCase().endsWith(".json") &&
  !/^conversations/i.test(baseName(file.name)) &&
  MEMORY_KEY.test(headOf(file));

export function readClaudeAccount(file: ForeignFile, reading: ReadingBuilder): void {
  const json = jsonOf(file);
  if (!json.ok) {
    reading.addRefused(json.refused);
    return;
  }
  const accounts = Array.isArray(json.value) ? json.value : [json.value];
  for (const account of accounts) {
    const place = { file: file.name, line: json.lineOf(account) };
    if (isObject(account)) readAccount(place, account, reading);
    else reading.refuse(place, "not an account's memory: an object is expected here");
  }
}

interface Place {
  file: string;
  line?: number | undefined;
}

function readAccount(place: Place, account: Record<string, unknown>, reading: ReadingBuilder): void {
  const { conversations_memory, project_memories, memory_files, ...rest } = account;
  const owner = textIn(account.account_uuid) ?? "account";
  const shared = { ...place, client: "claude", keys: { type: "semantic" } };
  const text = textIn(conversations_memory);
  if (text) {
    const path = `imported/claude-memory/account-${digestOf(owner)}`;
    reading.add({ ...shared, path, title: "Claude's memory", body: text, kept: rest });
  }
  for (const [project, memory] of Object.entries(isObject(project_memories) ? project_memories : {})) {
    const body = textIn(memory);
    if (!body) reading.refuse(place, "a project's memory is no text: export the file again");
    else {
      const path = `imported/claude-memory/projects/${idPart(project)}`;
      reading.add({ ...shared, path, title: `Claude's memory of a project`, body, kept: { project } });
    }
  }
  for (const item of listOf(memory_files)) addFile(shared, item, reading);
}

function addFile(shared: Place & { client: string; keys: object }, item: unknown, reading: ReadingBuilder): void {
  const content = textIn(member(item, "content"));
  if (!isObject(item) || !content) {
    reading.refuse(shared, "a memory file has no text: export the file again");
    return;
  }
  const { content: _, path: given, updated_at, ...rest } = item;
  const name = textIn(given)?.replace(/^\/+/, "");
  const at = instantOf(updated_at);
  const own = name ? pathOfName(name) : datedPart({ at, text: content });
  reading.add({
    file: shared.file,
    line: shared.line,
    client: shared.client,
    keys: { type: "semantic" },
    path: `imported/claude-memory/files/${own}`,
    title: name && baseName(name).replace(/\.md$/i, ""),
    body: content,
    at,
    kept: { ...rest, path: given, ...(at === undefined && { updated_at }) },
  });
}
