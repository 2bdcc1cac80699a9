export { type Checkpoint, makeCheckpoint, parseCheckpoint } from "./checkpoint.js";
export {
  countSlots,
  ENTRY_KINDS,
  type Entry,
  type EntryKind,
  type Opening,
  type StoredEntry,
} from "./entry.js";
export { JournalError, type JournalErrorCode } from "./errors.js";
export { currentKey, type Rotation, rotateKey, startLog } from "./key-rotation.js";
export { appendEntries, type JournalTools, type NewEntry } from "./log.js";
export {
  emptyRoot,
  type InclusionProof,
  joinHashes,
  type Subtree,
  storedLevels,
  type TreeHead,
  type TreeState,
  verifyConsistency,
  verifyInclusion,
} from "./merkle-tree.js";
export { type Proof, type ProofFault, type ProofVerdict, proveEntry, verifyProof } from "./proof.js";
export {
  parseRedaction,
  type RedactedRun,
  type RedactionBody,
  type RedactionRequest,
  redactEntries,
} from "./redaction.js";
export { type NoteSignature, parseNote, type SignedNote, signNote, verifyNote } from "./signed-note.js";
export {
  generateSigningKey,
  parseSigningKey,
  parseVerifierKey,
  SigningKey,
  VerifierKey,
} from "./signing-key.js";
export type { Addition, JournalReader, JournalStorage, Slot, StoredCheckpoint } from "./storage.js";
export { proveConsistency } from "./tree-proof.js";
export type { Verdict, VerdictName } from "./verdict.js";
export { type VerifyLogOptions, verifyLog } from "./verify-log.js";
