import { type CommonOptions, callLocally, withContext } from "../session.js";
import { print, printJson, showHidden } from "../terminal.js";
import { UsageError } from "../usage-error.js";
import { readText } from "./page.js";

interface Profile {
  profile_type: string;
  profile: Record<string, unknown> | null;
  extensions: Record<string, unknown>;
}

export async function profileGet(namespace: string | undefined, options: CommonOptions): Promise<void> {
  const args = namespace === undefined ? {} : { namespaces: [namespace] };
  const profile = await withContext(options, (context) => callLocally<Profile>(context, "profile_get", args));
  if (options.json) {
    printJson(profile);
    return;
  }
  const document = namespace === undefined ? profile.profile : profile.extensions[namespace];
  if (document) {
    print(showHidden(JSON.stringify(document, null, 2)));
    return;
  }
  print(`Nothing is set yet. ${namespace === undefined ? 'Start with: satchel profile set name="…"' : ""}`.trim());
}

interface Updated {
  namespace: string;
  updated: string;
  changed: string[];
}

/** A patch as `key=value` pairs (dots go deeper), a JSON object, or `-` for a JSON object on standard input. */
export async function profileSet(patch: string[], options: CommonOptions & { namespace?: string }): Promise<void> {
  const args = { patch: parsePatch(patch), ...(options.namespace !== undefined && { namespace: options.namespace }) };
  const updated = await withContext(options, (context) => callLocally<Updated>(context, "profile_update", args));
  if (options.json) {
    printJson(updated);
    return;
  }
  if (updated.changed.length === 0) {
    print("Nothing changed.");
    return;
  }
  for (const pointer of updated.changed) print(`${updated.namespace} ${showHidden(pointer)}`);
}

function parsePatch(words: string[]): Record<string, unknown> {
  const [first = ""] = words;
  if (words.length === 1 && (first === "-" || first.trimStart().startsWith("{"))) {
    return parseObject(first === "-" ? readText(undefined) : first);
  }
  const patch: Record<string, unknown> = {};
  for (const word of words) setMember(patch, word);
  return patch;
}

export function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch (error) {
    throw new UsageError(`Not valid JSON: ${(error as Error).message}`);
  }
  throw new UsageError("It must be a JSON object.");
}

function setMember(patch: Record<string, unknown>, word: string): void {
  const at = word.indexOf("=");
  const keys = word.slice(0, at).split(".");
  const last = keys.pop();
  if (at < 1 || !last || keys.includes(""))
    throw new UsageError(`"${word}" is not key=value. Example: work.role="Engineer"`);
  let object = patch;
  for (const key of keys) {
    if (!Object.hasOwn(object, key)) object[key] = {};
    object = object[key] as Record<string, unknown>;
    if (typeof object !== "object" || object === null)
      throw new UsageError(`"${word}" goes deeper than a value set before.`);
  }
  object[last] = parseValue(word.slice(at + 1));
}

/** JSON where it is an array, an object or null (which removes the member); any other text is a string. */
function parseValue(text: string): unknown {
  if (!/^(\[|\{|null$)/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
