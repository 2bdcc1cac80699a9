#!/usr/bin/env node
/*
 * Verifies one journal proof, offline. On purpose it shares nothing with the package beside it: a second reading of
 * docs/journal-format.md, small enough to be read before it is trusted. Node's own modules are all that it needs.
 */
import { createPublicKey, hash, verify } from "node:crypto";
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";

const usage = `Usage: verify-proof FILE... --key KEY [--key KEY ...] [--json]

Checks, for each proof file, that its entry was in the log when its checkpoint was signed.
KEY is the log's verifier key, from somewhere else than the proof.
--json prints one JSON object a line for each file.

  verify-proof proof.json --key 'satchel/0190c7a2+1d2f2a5b+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz'

Exit status: 0 all are valid, 1 one is not valid, 2 one could not be checked.`;

const kinds = ["prp.input", "prp.result", "prp.reconciled", "audit", "erasure", "redaction", "key"];
const reasons = {
  bad_form: "this is no proof",
  bad_opening: "a body is not the one that the entry commits to",
  unknown_key: "the checkpoint is not signed by the given key",
  bad_signature: "the signature does not fit the checkpoint",
  bad_path: "the entry is not in the signed log",
};

class Invalid extends Error {}
class Unchecked extends Error {}

function ensure(condition, reason = "bad_form") {
  if (!condition) throw new Invalid(reason);
}

const sha256 = (...parts) => hash("sha256", Buffer.concat(parts.map((part) => Buffer.from(part))), "buffer");

function decode(text, length) {
  ensure(typeof text === "string");
  const bytes = Buffer.from(text, "base64");
  ensure(bytes.toString("base64") === text && (length === undefined || bytes.length === length));
  return bytes;
}

function ensureMembers(value, names) {
  ensure(typeof value === "object" && value !== null && !Array.isArray(value));
  ensure(Object.keys(value).length === names.length && names.every((name) => Object.hasOwn(value, name)));
}

/** RFC 8785 of a parsed JSON value. */
function canonical(value) {
  if (typeof value === "string") ensure(value.isWellFormed());
  if (typeof value === "number") ensure(Number.isFinite(value));
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${canonical(name)}:${canonical(value[name])}`).join(",")}}`;
}

function checkEntry(entry) {
  ensureMembers(entry, ["seq", "at", "kind", "commitments"]);
  const { seq, at, kind, commitments } = entry;
  ensure(Number.isSafeInteger(seq) && seq >= 0 && kinds.includes(kind) && Array.isArray(commitments));
  ensure(typeof at === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(at));
  ensure(!Number.isNaN(Date.parse(at)) && new Date(at).toISOString() === at);
  ensure(commitments.length === (kind === "audit" ? 2 : 1));
  ensure(commitments.every((text) => typeof text === "string" && /^[0-9a-f]{64}$/.test(text)));
}

/** The commitment that salt and body open; undefined for an erased body. */
function recommit(opening) {
  if (opening === null) return undefined;
  ensureMembers(opening, ["salt", "body"]);
  return sha256("satchel/journal/v1", decode(opening.salt, 32), canonical(opening.body)).toString("hex");
}

function parseSignature(line) {
  const [, name, text] = /^— ([^\s+]+) ([A-Za-z0-9+/]+=*)$/.exec(line) ?? [];
  const bytes = decode(text);
  ensure(bytes.length > 4);
  return { name, id: bytes.toString("hex", 0, 4), signature: bytes.subarray(4) };
}

function parseCheckpoint(note) {
  ensure(typeof note === "string" && note.isWellFormed() && !/[\0-\x09\x0b-\x1f]/.test(note));
  const end = note.lastIndexOf("\n\n");
  ensure(end >= 0 && note.endsWith("\n"));
  const text = note.slice(0, end + 1);
  const signatures = note
    .slice(end + 2, -1)
    .split("\n")
    .map(parseSignature);
  const [origin, size, root, ...extensions] = text.slice(0, -1).split("\n");
  ensure(origin && /^(0|[1-9][0-9]*)$/.test(size) && Number.isSafeInteger(Number(size)) && !extensions.includes(""));
  return { origin, size: Number(size), root: decode(root, 32), text, signatures };
}

/** @returns the first key that signed the checkpoint; a signature by any given key has to fit */
function checkSignatures({ origin, text, signatures }, keys) {
  const signers = [];
  for (const { name, id, signature } of signatures) {
    const key = keys.find((each) => each.name === origin && each.name === name && each.id === id);
    if (!key) continue;
    ensure(verify(null, Buffer.from(text), key.key, signature), "bad_signature");
    signers.push(key);
  }
  ensure(signers.length > 0, "unknown_key");
  return signers[0];
}

/** The root that a leaf and its path lead to, by the shape of a tree of `size` leaves from the top down (RFC 6962). */
function rootOf(leaf, position, { size, path }) {
  if (size === 1) {
    ensure(path.length === 0, "bad_path");
    return leaf;
  }
  ensure(path.length > 0, "bad_path");
  let left = 1;
  while (left * 2 < size) left *= 2;
  const [sibling, rest] = [path.at(-1), path.slice(0, -1)];
  return position < left
    ? sha256([1], rootOf(leaf, position, { size: left, path: rest }), sibling)
    : sha256([1], sibling, rootOf(leaf, position - left, { size: size - left, path: rest }));
}

function verifyProof(proof, keys) {
  ensureMembers(proof, ["format", "entry", "openings", "path", "checkpoint"]);
  const { format, entry, openings } = proof;
  ensure(format === "satchel/journal-proof/v1" && Array.isArray(openings) && Array.isArray(proof.path));
  checkEntry(entry);
  ensure(openings.length === entry.commitments.length);
  const path = proof.path.map((text) => decode(text, 32));
  const opened = openings.map(recommit);
  const checkpoint = parseCheckpoint(proof.checkpoint);
  ensure(
    opened.every((text, slot) => text === undefined || text === entry.commitments[slot]),
    "bad_opening",
  );
  const { name, id } = checkSignatures(checkpoint, keys);
  const { origin, size, root } = checkpoint;
  ensure(entry.seq < size, "bad_path");
  ensure(rootOf(sha256([0], canonical(entry)), entry.seq, { size, path }).equals(root), "bad_path");
  return {
    entry,
    bodies: openings.map((opening) => opening?.body),
    checkpoint: { origin, size, key: `${name}+${id}` },
  };
}

function parseKey(text) {
  const [, name, id, encoded] = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+=*)$/.exec(text) ?? [];
  const typed = Buffer.from(encoded ?? "", "base64");
  const isKey = typed.length === 33 && typed[0] === 1 && typed.toString("base64") === encoded;
  if (!isKey || sha256(`${name}\n`, typed).toString("hex", 0, 4) !== id)
    throw new Unchecked("what follows --key is no verifier key");
  const der = Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), typed.subarray(1)]);
  return { name, id, key: createPublicKey({ key: der, format: "der", type: "spki" }) };
}

function readArguments() {
  const key = { type: "string", multiple: true };
  const flag = { type: "boolean" };
  try {
    return parseArgs({ options: { key, json: flag, help: { ...flag, short: "h" } }, allowPositionals: true });
  } catch (error) {
    throw new Unchecked(`${error.message}\n\n${usage}`);
  }
}

function readProof(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new Unchecked(`it is no readable JSON: ${error.message}`);
  }
}

/** @returns what `--json` prints of one file */
function checkFile(file, keys) {
  try {
    return { file, valid: true, ...verifyProof(readProof(file), keys) };
  } catch (error) {
    if (error instanceof Invalid) return { file, valid: false, reason: error.message };
    // What nests too deeply for this program is no proof either.
    if (error instanceof RangeError) return { file, valid: false, reason: "bad_form" };
    if (error instanceof Unchecked) return { file, error: error.message };
    throw error;
  }
}

function describe({ file, valid, reason, error, entry, bodies, checkpoint }) {
  if (error) return `${file}: COULD NOT CHECK: ${error}`;
  if (!valid) return `${file}: NOT VALID: ${reasons[reason]} (${reason})`;
  const erased = bodies.filter((body) => body === undefined).length;
  const state = erased === 0 ? "with its content" : `${erased} of ${bodies.length} contents erased`;
  return [
    `${file}: VALID: entry ${entry.seq} (${entry.kind}, ${entry.at}) is in the log, ${state}.`,
    `Signed by ${checkpoint.key} when the log had ${checkpoint.size} entries.`,
  ].join("\n");
}

const statusOf = ({ valid, error }) => (error ? 2 : valid ? 0 : 1);

/** @returns the exit status */
function run({ values, positionals: files }) {
  if (values.help) {
    console.log(usage);
    return 0;
  }
  if (files.length === 0) throw new Unchecked(`a proof file is needed\n\n${usage}`);
  if (!values.key) throw new Unchecked(`a key is needed: --key KEY\n\n${usage}`);
  const keys = values.key.map(parseKey);
  const results = files.map((file) => checkFile(file, keys));
  for (const result of results) console.log(values.json ? JSON.stringify(result) : describe(result));
  return Math.max(...results.map(statusOf));
}

try {
  process.exitCode = run(readArguments());
} catch (error) {
  if (!(error instanceof Unchecked)) throw error;
  console.error(`verify-proof: ${error.message}`);
  process.exitCode = 2;
}
