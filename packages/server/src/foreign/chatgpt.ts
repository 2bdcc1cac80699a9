import { addConversation } from "./chatgpt-conversation.js";
import { ChatMemories } from "./chatgpt-memories.js";
import { baseName, headOf, isHidden, jsonOf } from "./file-text.js";
import type { ForeignFile, ForeignFormat } from "./foreign-format.js";
import { ReadingBuilder } from "./reading-builder.js";
import { isObject, listOf, member } from "./values.js";

/** The export of a ChatGPT account: conversations, and memories where the export has any. */
export const chatgpt: ForeignFormat = {
  name: "chatgpt",
  title: "ChatGPT's account export",
  detect: (files) => files.some(isConversations) || (files.length > 0 && files.every(isMemories)),
  read(files) {
    const reading = new ReadingBuilder();
    const memories = new ChatMemories(reading);
    for (const file of files) {
      if (isConversations(file) || isMemories(file) || isUser(file)) readFile(file, reading, memories);
      else reading.count("other files of the export (attachments, feedback, chat.html)");
    }
    memories.addPages();
    return reading.build();
  },
};

const isJson = (file: ForeignFile): boolean => !isHidden(file) && /\.json$/i.test(file.name);
const isConversations = (file: ForeignFile): boolean => isJson(file) && /"mapping"\s*:\s*[{n]/.test(headOf(file));
const isUser = (file: ForeignFile): boolean => baseName(file.name).toLowerCase() === "user.json";
const isMemories = (file: ForeignFile): boolean =>
  isJson(file) && /^memor(?:y|ies)\.json$/i.test(baseName(file.name)) && /"(?:content|text)"\s*:/.test(headOf(file));

function readFile(file: ForeignFile, reading: ReadingBuilder, memories: ChatMemories): void {
  const json = jsonOf(file);
  if (!json.ok) {
    reading.addRefused(json.refused);
    return;
  }
  const { value } = json;
  const whole = isObject(value) ? value : {};
  const isOne = isObject(whole.mapping);
  const entries = Array.isArray(value) ? value : isOne ? [value] : listOf(whole.conversations);
  for (const entry of entries) {
    const place = { file: file.name, line: json.lineOf(entry) };
    if (isObject(entry) && Object.hasOwn(entry, "mapping")) {
      addConversation({ ...place, value: entry }, reading, memories);
    } else memories.addSaved(place, entry);
  }
  if (isOne) return;
  for (const entry of [...listOf(whole.memory), ...listOf(whole.memories), ...listOf(member(whole.user, "memory"))]) {
    memories.addSaved({ file: file.name, line: json.lineOf(entry) }, entry);
  }
}
