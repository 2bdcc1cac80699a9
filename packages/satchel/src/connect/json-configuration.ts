import { isDeepStrictEqual } from "node:util";
import type { Edit, Node, ParseError } from "jsonc-parser";
// The package is a UMD module, whose names Node cannot import one by one.
import jsonc from "jsonc-parser";
import type { Client } from "./clients.js";
import { ConnectError, type Position } from "./connect-error.js";
import { serverName } from "./server-name.js";

/** How a file is laid out, so that what is inserted looks like the rest of it. */
interface Layout {
  unit: string;
  lineEnd: string;
}

interface Property {
  key: string;
  value: unknown;
}

function positionAt(text: string, offset: number): Position {
  const before = text.slice(0, offset).split("\n");
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

function parseRoot(text: string, client: Client): Node {
  const errors: ParseError[] = [];
  const relaxed = client.format === "jsonc";
  const root = jsonc.parseTree(text, errors, { disallowComments: !relaxed, allowTrailingComma: relaxed });
  const error = errors[0];
  if (error || !root) {
    const reason = error ? jsonc.printParseErrorCode(error.error) : "ValueExpected";
    const position = positionAt(text, error?.offset ?? 0);
    const expected = relaxed ? "JSON with comments" : "JSON";
    throw new ConnectError("configuration_unparsable", `not valid ${expected}: ${reason}`, { position });
  }
  return root;
}

function parseValue(text: string): unknown {
  return jsonc.parse(text, [], { allowTrailingComma: true });
}

function readLayout(text: string): Layout {
  const unit = /^([ \t]+)\S/m.exec(text)?.[1] ?? "  ";
  return { unit: unit.startsWith("\t") ? "\t" : unit, lineEnd: text.includes("\r\n") ? "\r\n" : "\n" };
}

/** The white space in front of the line that `offset` is on. */
function indentAt(text: string, offset: number): string {
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start))?.[0] ?? "";
}

function printValue(value: unknown, indent: string, layout: Layout): string {
  return JSON.stringify(value, null, layout.unit).replaceAll("\n", layout.lineEnd + indent);
}

function insertAfterLast(text: string, object: Node, property: Property): Edit {
  const last = object.children?.at(-1) as Node;
  const offset = last.offset + last.length;
  const name = JSON.stringify(property.key);
  if (!text.slice(object.offset, object.offset + object.length).includes("\n")) {
    return { offset, length: 0, content: `, ${name}: ${JSON.stringify(property.value)}` };
  }
  const layout = readLayout(text);
  const indent = indentAt(text, last.offset);
  const content = `,${layout.lineEnd}${indent}${name}: ${printValue(property.value, indent, layout)}`;
  return { offset, length: 0, content };
}

function insertFirst(text: string, object: Node, property: Property): Edit {
  const layout = readLayout(text);
  const closing = object.offset + object.length - 1;
  const outer = indentAt(text, object.offset);
  const indent = outer + layout.unit;
  const printed = `${indent}${JSON.stringify(property.key)}: ${printValue(property.value, indent, layout)}`;
  const lineStart = text.lastIndexOf("\n", closing - 1) + 1;
  const ownLine = lineStart > object.offset && text.slice(lineStart, closing).trim() === "";
  if (ownLine) return { offset: lineStart, length: 0, content: printed + layout.lineEnd };
  return { offset: closing, length: 0, content: layout.lineEnd + printed + layout.lineEnd + outer };
}

function insertProperty(text: string, object: Node, property: Property): string {
  const edit = object.children?.length ? insertAfterLast(text, object, property) : insertFirst(text, object, property);
  return jsonc.applyEdits(text, [edit]);
}

function findProperty(object: Node, key: string): Node | undefined {
  return object.children?.find((property) => property.children?.[0]?.value === key)?.children?.[1];
}

function replaceValue(text: string, node: Node, value: unknown): string {
  const content = printValue(value, indentAt(text, node.offset), readLayout(text));
  return jsonc.applyEdits(text, [{ offset: node.offset, length: node.length, content }]);
}

function verifyObject(text: string, node: Node, name: string): void {
  if (node.type === "object") return;
  const position = positionAt(text, node.offset);
  throw new ConnectError("configuration_conflict", `${name} is no object`, { position });
}

/** One key of our entry, set to its value: the rest of the entry is the person's. */
function mergeProperty(text: string, client: Client, property: Property): string {
  const object = jsonc.findNodeAtLocation(parseRoot(text, client), [client.container, serverName]) as Node;
  const node = findProperty(object, property.key);
  if (!node) return insertProperty(text, object, property);
  if (isDeepStrictEqual(jsonc.getNodeValue(node), property.value)) return text;
  return replaceValue(text, node, property.value);
}

function mergeText(text: string, client: Client, values: Record<string, unknown>): string {
  const root = parseRoot(text, client);
  verifyObject(text, root, "the file");
  const container = findProperty(root, client.container);
  if (!container) return insertProperty(text, root, { key: client.container, value: { [serverName]: values } });
  verifyObject(text, container, client.container);
  const existing = findProperty(container, serverName);
  if (!existing) return insertProperty(text, container, { key: serverName, value: values });
  verifyObject(text, existing, serverName);
  return Object.entries(values).reduce((merged, [key, value]) => mergeProperty(merged, client, { key, value }), text);
}

function withEntry(value: unknown, client: Client, values: Record<string, unknown>): unknown {
  const root = value as Record<string, Record<string, Record<string, unknown>> | undefined>;
  const servers = root[client.container] ?? {};
  const entry = { ...servers[serverName], ...values };
  return { ...root, [client.container]: { ...servers, [serverName]: entry } };
}

/** See `mergeConfiguration`: the JSON half of it. */
export function mergeJson(text: string, client: Client, values: Record<string, unknown>): string {
  const existing = text.trim() === "" ? "{}\n" : text;
  const merged = mergeText(existing, client, values);
  // A key that stands twice, for one, would be edited in one place and read from the other.
  if (!isDeepStrictEqual(parseValue(merged), withEntry(parseValue(existing), client, values))) {
    const reason = `${client.container}.${serverName} cannot be set without changing something else`;
    throw new ConnectError("configuration_conflict", reason);
  }
  return merged;
}
