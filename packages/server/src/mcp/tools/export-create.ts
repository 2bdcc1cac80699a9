import { type ExportCreateInput, validateInput } from "@satchel/pcp";
import { type CreatedExport, createExport, type ExportInput } from "../../context/create-export.js";
import { invalidInput, type Refusal } from "../../domain/refusal.js";
import { defineTool, needsAnyScope } from "../tool.js";

export const exportCreate = defineTool({
  name: "export_create",
  permit: needsAnyScope("export:read"),
  parse(args): ExportInput | Refusal {
    const violations = validateInput("export_create", args);
    if (violations.length > 0) return invalidInput(violations);
    const { encrypt_to = [], include_audit = true } = args as ExportCreateInput;
    return { encryptTo: encrypt_to, includeAudit: include_audit };
  },
  run: createExport,
  refused: { category: "export", action: "export" },
  audit: ({ id }) => ({ category: "export", action: "export", targets: [id] }),
  receipt: ({ id }) => ({
    references: [{ kind: "artifact", id }],
    artifactRefs: [{ kind: "artifact", id }],
  }),
  replay: () => ({ scopes: ["export:read"] }),
  present: ({ id, coverage, sha256, bytes, pageCount, download }) => ({
    export_id: id,
    status: "ready",
    coverage,
    ...(download && { download_url: download.url, expires_at: download.expiresAt }),
    sha256,
    bytes,
    page_count: pageCount,
  }),
  links: ({ download, bytes }) => (download ? [toLink(download, bytes)] : []),
});

function toLink({ url, name }: NonNullable<CreatedExport["download"]>, size: number) {
  const mimeType = name.endsWith(".age") ? "application/octet-stream" : "application/gzip";
  return { type: "resource_link" as const, uri: url, name, mimeType, size };
}
