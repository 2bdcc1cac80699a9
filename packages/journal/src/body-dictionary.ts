/**
 * Text that bodies are likely to share, for compression; likelier text comes later. What was stored with it can only be
 * read with it, so this one never changes: another dictionary gets another form in body-packing.ts.
 */
export const bodyDictionary = Buffer.from(
  [
    "sha256:0123456789abcdef0123456789abcdef",
    '{"entries":[[1,1,1],[2,1,2]],"receipt":"era_","signatures":{"key":"","previous":""}',
    ...[
      "workspace",
      "contradicts",
      "supersedes",
      "refines",
      "episodic",
      "semantic",
      "procedural",
      "projects/",
      "people/",
    ],
    ...["profile_get", "profile_update", "memory_list", "memory_propose", "review_list", "review_resolve"],
    ...["partition_list", "audit_list", "export_create", "erase_request", "context_brief", "memory_write"],
    ...["memory_search", "memory_read"].map((name) => `"operationId":"${name}"`),
    ...["company_mismatch", "approval_required", "approval_denied", "approval_expired", "operation_absent"],
    ...["delegated_authorization_required", "tool_not_exposed", "operation_unsupported", "rate_limited"],
    ...["context_locked", "provider_unavailable", "tool_failed", "output_invalid", "call_cancelled", "internal"],
    ...["idempotency_conflict", "idempotency_in_progress", "result_erased", "call_id_conflict", "path_conflict"],
    ...["document_revision_conflict", "revision_resolved", "required_claim_missing", "actor_role_denied"],
    ...["reviewer_denied", "input_invalid", "input_too_large", "protected_data_denied", "target_not_found"],
    ...["approval", "decision", "artifact", "task", "interaction", "work_product", "operation"].map(kindMember),
    '"immutable":true,"kind":"document_revision","decisionId":"dec_","revisionId":"rev_"}],"artifactRefs":[{"id":"exp_',
    '"duplicateOfReceiptId":"semantic_receipt:","outcome":"duplicate","code":"duplicate"',
    '"code":"proposal_stored","outcome":"conflict","outcome":"unavailable","outcome":"failed","outcome":"denied"',
    '"authorizationBoundary":"governed_action","authorizationBoundary":"company","authorizationBoundary":"lock"',
    '"authorizationBoundary":"actor","authorizationBoundary":"grant","retryable":true,"targets":[{"id":"pg_',
    '"redactionDisposition":"redacted","references":[]},"phase":"reconciled"',
    '"redactionDisposition":"allowlisted_references","references":[{"id":"ver_","kind":"document_revision"},{"id":"pg_',
    '{"action":"delete","action":"deny","action":"propose","action":"resolve","action":"export","action":"erase"',
    '"category":"profile.core","category":"review","category":"export","category":"erase","category":"admin"',
    '"outcome":"not_found","outcome":"forbidden","outcome":"conflict","outcome":"invalid_input"',
    '{"action":"write","at":"2026-","category":"memory","client":"stdio","id":"aud_01","outcome":"ok"',
    '{"action":"read","category":"memory","client":"","id":"aud_01","outcome":"ok","principal":"user:owner",',
    '"targets":["memory/","notes/"],"tool":"memory_search"}{"targets":["ver_01","pg_01"]}',
    '{"auditReceiptId":"aud_01","authorizationBoundary":"revision","authorizationBoundary":"active_task","callId":"call_',
    '"causalRefs":[{"id":"semantic_receipt:","kind":"operation"},{"id":"aud_01","kind":"audit"}],"code":"ok",',
    '"content":{"digest":"sha256:","redactionDisposition":"digest_only","references":[]},"correlation":{"itemId":"item_',
    '"normalizedSessionId":"session_","requestId":"req_","runId":"run_","turnId":"turn_"},"currentRevision":"ver_01',
    '"idempotencyKey":"","idempotencyKey":null,"operationId":"memory_","operationReceiptId":"semantic_receipt:',
    '"outcome":"succeeded","phase":"input","phase":"result","retryable":false,',
    '"schema":"paperclip.prp.semantic_tool.v1","schemaVersion":1}',
  ].join(""),
);

function kindMember(kind: string): string {
  return `{"id":"","kind":"${kind}"}`;
}
