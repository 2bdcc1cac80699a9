import type { ChatMemories } from "./chatgpt-memories.js";
import { datedPart, digestOf, idPart } from "./entry-path.js";
import type { ReadingBuilder } from "./reading-builder.js";
import { instantOf, isObject, listOf, member, textIn, without } from "./values.js";

export interface Conversation {
  file: string;
  line?: number | undefined;
  value: Record<string, unknown>;
}

interface Turn {
  role: "user" | "assistant";
  at: string | undefined;
  text: string;
}

const OWN_KEYS = ["mapping", "title", "create_time", "current_node", "id", "conversation_id"];
const BRANCH = "what the user and the assistant wrote on the branch shown last (no other branch, tool or attachment)";
const SPOKEN = new Set(["text", "multimodal_text"]);
const HEADINGS = { user: "User", assistant: "Assistant" } as const;

/** One page for the branch that the conversation shows last. Memories that were saved on the way go to `memories`. */
export function addConversation(conversation: Conversation, reading: ReadingBuilder, memories: ChatMemories): void {
  const { value, ...place } = conversation;
  const { mapping } = value;
  if (!isObject(mapping)) {
    reading.refuse(place, "the conversation has no message tree: export the file again");
    return;
  }
  const session = textIn(value.conversation_id) ?? textIn(value.id);
  for (const node of Object.values(mapping)) memories.addMessage(place, member(node, "message"), session);
  const branch = branchOf(mapping, value.current_node);
  const turns = branch.nodes.flatMap((node) => turnOf(member(node, "message")) ?? []);
  if (turns.length === 0) {
    reading.count("conversations without text");
    return;
  }
  reading.note(`Of each conversation, ${BRANCH} was taken.`);
  const at = instantOf(value.create_time) ?? turns[0]!.at;
  const text = turns.map(({ text: said }) => said).join("\n");
  const own = session ? idPart(session) : digestOf(at, text);
  reading.add({
    ...place,
    path: `imported/chatgpt/conversations/${at?.slice(0, 10) ?? "undated"}-${own}`,
    title: textIn(value.title) ?? turns[0]!.text.slice(0, 200),
    body: turns.map(renderTurn).join("\n"),
    keys: { type: "episodic" },
    at,
    client: "chatgpt",
    session,
    kept: {
      ...without(value, OWN_KEYS),
      ...(at === undefined && { create_time: value.create_time }),
      ...(branch.isCut && { incomplete: "the tree of messages is broken above the first one here" }),
    },
  });
}

/** From the root to the message that is shown last. Ends at a node that is missing or was met before. */
function branchOf(mapping: Record<string, unknown>, current: unknown): { nodes: unknown[]; isCut: boolean } {
  const nodes: unknown[] = [];
  const met = new Set<string>();
  let id: unknown = typeof current === "string" && Object.hasOwn(mapping, current) ? current : lastNode(mapping);
  while (typeof id === "string" && !met.has(id) && Object.hasOwn(mapping, id)) {
    met.add(id);
    nodes.push(mapping[id]);
    id = member(mapping[id], "parent");
  }
  return { nodes: nodes.reverse(), isCut: id !== null && id !== undefined };
}

// Without a usable `current_node`: the end that was written last, the later one in the file where times are equal.
function lastNode(mapping: Record<string, unknown>): string | undefined {
  let [last, latest] = [undefined as string | undefined, ""];
  for (const [id, node] of Object.entries(mapping)) {
    if (listOf(member(node, "children")).length > 0) continue;
    const at = instantOf(member(member(node, "message"), "create_time")) ?? "";
    if (at >= latest) [last, latest] = [id, at];
  }
  return last;
}

function turnOf(message: unknown): Turn | undefined {
  const role = member(member(message, "author"), "role");
  if (role !== "user" && role !== "assistant") return undefined;
  const recipient = member(message, "recipient");
  if (recipient !== undefined && recipient !== null && recipient !== "all") return undefined;
  if (member(member(message, "metadata"), "is_visually_hidden_from_conversation") === true) return undefined;
  const text = spokenText(member(message, "content"));
  return text === undefined ? undefined : { role, at: instantOf(member(message, "create_time")), text };
}

/** The text of a message's parts; images, files and the like have none. */
export function spokenText(content: unknown): string | undefined {
  const kind = member(content, "content_type");
  if (kind !== undefined && !(typeof kind === "string" && SPOKEN.has(kind))) return undefined;
  const parts = listOf(member(content, "parts")).map((part) => {
    if (typeof part === "string") return part;
    return member(part, "content_type") === "audio_transcription" ? member(part, "text") : undefined;
  });
  return textIn(parts.filter((part) => typeof part === "string").join("\n\n"));
}

const renderTurn = ({ role, at, text }: Turn): string =>
  `## ${HEADINGS[role]}${at ? ` (${at})` : ""}\n\n${text.trim()}\n`;

/** The path of a memory that ChatGPT saved. */
export const memoryPath = (at: string | undefined, text: string): string =>
  `imported/chatgpt/memories/${datedPart({ at, text })}`;
