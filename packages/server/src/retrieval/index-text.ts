import type { PageKeys } from "../domain/records.js";
import type { IndexedText } from "../store/store.js";
import { tokenise } from "./tokens.js";

/** The tokens of a page, per field of the word index. The path counts with the tags. */
export function indexText(page: { path: string; keys: PageKeys; body: string }): IndexedText {
  const { path, keys, body } = page;
  return {
    title: join(keys.title),
    tags: join([path, ...(keys.tags ?? [])].join("\n")),
    headings: join(headingLines(body).join("\n")),
    body: join(body),
  };
}

function join(text: string): string {
  return tokenise(text).join(" ");
}

function headingLines(body: string): string[] {
  return body.split("\n").filter((line) => /^ {0,3}#{1,6}[ \t]/.test(line));
}
