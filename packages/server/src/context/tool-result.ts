/** A CallToolResult without `_meta`: the structured content, and the same JSON as a text block (pcp section 12). */
export interface ToolResult {
  structuredContent: Record<string, unknown>;
  content: { type: "text"; text: string }[];
  isError?: true;
}

export function toolResult(structuredContent: Record<string, unknown>): ToolResult {
  return { structuredContent, content: [{ type: "text", text: JSON.stringify(structuredContent) }] };
}
