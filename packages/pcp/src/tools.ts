/** The tools of PCP 0.3 in the standard's order, which is also the order of `tools/list` (pcp section 12). */
export const TOOL_NAMES = [
  "profile_get",
  "profile_update",
  "memory_search",
  "memory_read",
  "memory_list",
  "memory_write",
  "memory_propose",
  "review_list",
  "review_resolve",
  "partition_list",
  "context_brief",
  "audit_list",
  "export_create",
  "erase_request",
] as const;

export type ToolName = (typeof TOOL_NAMES)[number];

export function isToolName(text: string): text is ToolName {
  return (TOOL_NAMES as readonly string[]).includes(text);
}

export interface ToolAnnotations {
  title: string;
  readOnlyHint: boolean;
  /** True where something is lost for good. Replaced pages and profiles keep their history, so they are not. */
  destructiveHint: boolean;
  /** True where the same call again changes nothing more. */
  idempotentHint: boolean;
  openWorldHint: false;
}

export interface ToolText {
  /** One sentence that tells a model when to use the tool. */
  description: string;
  annotations: ToolAnnotations;
}

type Effect = "read" | "change" | "repeatable change" | "final change";

function tool(title: string, effect: Effect, description: string): ToolText {
  const annotations: ToolAnnotations = {
    title,
    readOnlyHint: effect === "read",
    destructiveHint: effect === "final change",
    idempotentHint: effect === "read" || effect === "repeatable change",
    openWorldHint: false,
  };
  return { description, annotations };
}

export const TOOL_TEXTS: Readonly<Record<ToolName, ToolText>> = {
  profile_get: tool(
    "Read the profile",
    "read",
    "Use when you need to know who you are working for: names, languages, preferences and standing instructions.",
  ),
  profile_update: tool(
    "Update the profile",
    "repeatable change",
    "Use when the user states a lasting fact or preference about themselves that belongs in the profile, not in memory.",
  ),
  memory_search: tool(
    "Search memory",
    "read",
    "Use before answering anything that may depend on what was said or decided earlier; takes plain words or a question.",
  ),
  memory_read: tool("Read a page", "read", "Use to get the whole text of a page whose path or id you know."),
  memory_list: tool(
    "List pages",
    "read",
    "Use to browse pages by folder or type when you have no words to search for.",
  ),
  memory_write: tool(
    "Write a page",
    "change",
    "Use to save or replace a memory page with something worth keeping beyond this conversation; read an existing page first.",
  ),
  memory_propose: tool(
    "Propose a page",
    "change",
    "Use to suggest a new page or a change that a person should approve before it counts.",
  ),
  review_list: tool("List proposals", "read", "Use to see which proposals wait for a decision or were rejected."),
  review_resolve: tool(
    "Decide on a proposal",
    "final change",
    "Use to approve or reject a proposal, only after a person told you the decision.",
  ),
  partition_list: tool(
    "List partitions",
    "read",
    "Use to learn which partitions exist for you and what you may do in each before writing to one.",
  ),
  context_brief: tool(
    "Get a briefing",
    "read",
    "Use once at the start of a conversation to get the profile and the most relevant memory in one answer.",
  ),
  audit_list: tool("List past calls", "read", "Use when the user asks who read or changed what, and when."),
  export_create: tool(
    "Create an export",
    "change",
    "Use when the user asks for a copy of their data: makes one archive of everything you may read.",
  ),
  erase_request: tool(
    "Erase data",
    "final change",
    "Use only when the user asks to erase something for good; counts first, erases when dry_run is false.",
  ),
};
