import { memoryPath, spokenText } from "./chatgpt-conversation.js";
import { digestOf } from "./entry-path.js";
import type { ReadingBuilder } from "./reading-builder.js";
import { instantOf, isObject, isTextList, member, textIn, textsIn, without } from "./values.js";

interface Place {
  file: string;
  line?: number | undefined;
}

interface Found extends Place {
  text: string;
  at: string | undefined;
  session?: string | undefined;
  kept: Record<string, unknown>;
  tags: string[];
}

const TEXT_KEYS = ["content", "text", "memory"] as const;
const CONTEXT_LINE = /^\s*\d{1,5}\.\s*(?:\[([^\]]{1,40})\]\.?\s*)?(.+)$/;

/**
 * What ChatGPT remembers, from the three places it is found in: lists of saved memories, the messages that saved one
 * (`bio`), and the list that was shown to the model. The same text is one memory, with the earliest time known.
 */
export class ChatMemories {
  readonly #found = new Map<string, Found>();
  readonly #instructions = new Map<string, Found>();
  #shown: (Found & { lines: string[] }) | undefined;
  readonly #reading: ReadingBuilder;

  constructor(reading: ReadingBuilder) {
    this.#reading = reading;
  }

  addSaved(place: Place, value: unknown): void {
    if (typeof value === "string" && value.trim() !== "") {
      this.#keep({ ...place, text: value, at: undefined, kept: {}, tags: [] });
      return;
    }
    const key = TEXT_KEYS.find((name) => textIn(member(value, name)));
    if (!isObject(value) || !key) {
      this.#reading.refuse(place, "neither a conversation nor a saved memory: delete the entry, or export again");
      return;
    }
    if (value.deleted === true || value.enabled === false) {
      this.#reading.count("memories that were deleted or switched off");
      return;
    }
    const at = instantOf(value.created_at) ?? instantOf(value.create_time) ?? instantOf(value.updated_at);
    const kept = without(value, [
      key,
      ...(isTextList(value.tags) ? ["tags"] : []),
      ...(instantOf(value.created_at) ? ["created_at"] : []),
    ]);
    this.#keep({ ...place, text: value[key] as string, at, kept, tags: textsIn(value.tags) });
  }

  /** Looks for a memory in a message of a conversation. */
  addMessage(place: Place, message: unknown, session: string | undefined): void {
    const content = member(message, "content");
    const at = instantOf(member(message, "create_time"));
    const kind = member(content, "content_type");
    const found = { ...place, at, session, tags: [], kept: {} };
    if (member(message, "recipient") === "bio") {
      const text = spokenText(content);
      if (text) this.#keep({ ...found, text });
    } else if (kind === "model_editable_context") this.#show(found, textIn(member(content, "model_set_context")));
    else if (kind === "user_editable_context") this.#instruct(found, content);
  }

  addPages(): void {
    for (const line of this.#shown?.lines ?? []) this.#keepShown(this.#shown!, line);
    for (const found of this.#found.values()) this.#add(found, memoryPath(found.at, found.text), "semantic");
    for (const [text, found] of this.#instructions) {
      this.#add(found, `imported/chatgpt/custom-instructions/${digestOf(text)}`, "procedural");
    }
  }

  #keep(found: Found): void {
    const key = found.text.trim().replace(/\s+/g, " ");
    const known = this.#found.get(key);
    if (!known) this.#found.set(key, found);
    else if (found.at !== undefined && (known.at === undefined || found.at < known.at)) known.at = found.at;
  }

  // The list is shown again and again; the newest has all that still holds.
  #show(found: Omit<Found, "text">, text: string | undefined): void {
    if (!text || (this.#shown && (found.at ?? "") < (this.#shown.at ?? ""))) return;
    this.#shown = { ...found, text, lines: text.split("\n") };
  }

  #keepShown(shown: Found, line: string): void {
    const match = CONTEXT_LINE.exec(line);
    if (!match) return;
    const [, date, text = ""] = match;
    const at = instantOf(date);
    const kept = date !== undefined && at === undefined ? { date } : {};
    this.#keep({ ...shown, text, at, kept });
  }

  #instruct(found: Omit<Found, "text">, content: unknown): void {
    const parts = [
      ["About the user", textIn(member(content, "user_profile"))],
      ["How to answer", textIn(member(content, "user_instructions"))],
    ];
    const text = parts.flatMap(([heading, said]) => (said ? [`## ${heading}\n\n${said.trim()}\n`] : [])).join("\n");
    const known = this.#instructions.get(text);
    if (text !== "" && !(known && (known.at ?? "") <= (found.at ?? "")))
      this.#instructions.set(text, { ...found, text });
  }

  #add({ text, at, session, kept, tags, file, line }: Found, path: string, type: string): void {
    const title = type === "procedural" ? "Custom instructions" : undefined;
    const place = { file, line, path, title };
    this.#reading.add({
      ...place,
      body: text.trim(),
      keys: { type },
      tags: [...tags, "chatgpt-memory"],
      at,
      client: "chatgpt",
      session,
      kept,
    });
  }
}
