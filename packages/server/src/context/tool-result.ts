import { errorBody, PcpError } from "@satchel/pcp";
import type { Refusal } from "../domain/refusal.js";

/** A CallToolResult without `_meta`: the structured content, and the same JSON as a text block (pcp section 12). */
export interface ToolResult {
  structuredContent: Record<string, unknown>;
  content: [{ type: "text"; text: string }, ...ResourceLink[]];
  isError?: true;
}

/** Something that is fetched by itself. */
export interface ResourceLink {
  type: "resource_link";
  uri: string;
  name: string;
  mimeType: string;
  size: number;
}

export function toolResult(structuredContent: Record<string, unknown>, links: ResourceLink[] = []): ToolResult {
  return { structuredContent, content: [{ type: "text", text: JSON.stringify(structuredContent) }, ...links] };
}

export function errorResult({ refused, message, violations, requiredScopes }: Refusal): ToolResult {
  const error = new PcpError(refused, message, {
    ...(violations && { violations }),
    ...(requiredScopes && { requiredScopes }),
  });
  return { ...toolResult(errorBody(error)), isError: true };
}
