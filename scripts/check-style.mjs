// Enforces the style limits (CONTRIBUTING.md). Usage: node scripts/check-style.mjs [root]
import { readdirSync } from "node:fs";
import ts from "typescript";
import {
  isGenerated,
  isSource,
  isTest,
  lineAt,
  listFiles,
  listPackages,
  parseSource,
  readRoot,
  report,
} from "./source-tree.mjs";

const maxFunctionLines = 70;
const maxFileLines = 600;
const maxParameters = 3;

const kebabCase = /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)+$/;
const emptyNames = /(^|[-./])(managers?|helpers?|utils?)([-./]|$)/;
const configFile = /\.config\.[cm]?[jt]s$/;
const unfinished = /\b(TODO|FIXME)\b/;
const testFunctions = new Set(["it", "test", "describe", "suite", "bench"]);
const testModifiers = new Set(["only", "skip", "todo"]);

function* checkNames(path) {
  const name = path.split("/").at(-1);
  if (!kebabCase.test(name)) yield { line: 1, rule: `file name ${name} is not kebab-case` };
  const empty = emptyNames.exec(path.replace(/^packages\//, ""));
  if (empty) yield { line: 1, rule: `"${empty[2]}" says nothing in a file name: use the domain's noun` };
}

function* checkFileLength(source) {
  const lines = lineAt(source, source.text.trimEnd().length);
  if (lines > maxFileLines) yield { line: 1, rule: `${lines} lines, at most ${maxFileLines}` };
}

/** A row of a test's table is spread over a callback: its length is no signature that anyone calls. */
function isTableCallback(node, path) {
  return isTest(path) && ts.isCallExpression(node.parent) && node.parent.arguments.includes(node);
}

function* checkFunction(node, source, path) {
  if (!ts.isFunctionLike(node)) return;
  const line = lineAt(source, node.getStart(source));
  const positional = node.parameters.filter((parameter) => parameter.name.getText(source) !== "this");
  if (positional.length > maxParameters && !isTableCallback(node, path)) {
    yield { line, rule: `${positional.length} positional parameters, at most ${maxParameters}` };
  }
  if (!node.body || isTest(path)) return;
  const lines = lineAt(source, node.getEnd()) - line + 1;
  if (lines > maxFunctionLines) yield { line, rule: `function of ${lines} lines, at most ${maxFunctionLines}` };
}

function isDefaultExport(node) {
  if (ts.isExportAssignment(node)) return !node.isExportEquals;
  if (ts.isExportSpecifier(node)) return node.name.text === "default";
  const modifiers = ts.canHaveModifiers(node) ? ts.getModifiers(node) : undefined;
  return modifiers?.some((modifier) => modifier.kind === ts.SyntaxKind.DefaultKeyword) ?? false;
}

function* checkExport(node, source, path) {
  if (configFile.test(path) || !isDefaultExport(node)) return;
  yield { line: lineAt(source, node.getStart(source)), rule: "default export: export by name" };
}

/** The name a chain such as `describe.each(rows).only` starts from. */
function chainStart(node) {
  let start = node;
  while (ts.isPropertyAccessExpression(start) || ts.isCallExpression(start)) start = start.expression;
  return ts.isIdentifier(start) ? start.text : undefined;
}

function* checkTestModifier(node, source, path) {
  if (!isTest(path) || !ts.isPropertyAccessExpression(node) || !testModifiers.has(node.name.text)) return;
  const start = chainStart(node.expression);
  if (!testFunctions.has(start)) return;
  yield { line: lineAt(source, node.getStart(source)), rule: `${start}.${node.name.text} leaves a test out` };
}

// Comments are what lies between tokens, so a string that talks about a to-do list is no failure.
function* checkComments(node, source) {
  if (node.getChildCount(source) > 0) return;
  const start = node.getFullStart();
  const lines = source.text.slice(start, node.getStart(source)).split("\n");
  const first = lineAt(source, start);
  for (const [index, text] of lines.entries()) {
    const found = unfinished.exec(text);
    if (found) yield { line: first + index, rule: `${found[1]} in a comment: do it or file an issue` };
  }
}

const nodeChecks = [checkFunction, checkExport, checkTestModifier, checkComments];

function* walk(node, source) {
  if (node.kind >= ts.SyntaxKind.FirstJSDocNode && node.kind <= ts.SyntaxKind.LastJSDocNode) return;
  yield node;
  for (const child of node.getChildren(source)) yield* walk(child, source);
}

function checkFile(root, path) {
  const source = parseSource(root, path);
  const failures = [...checkNames(path), ...checkFileLength(source)];
  for (const node of walk(source, source)) {
    for (const check of nodeChecks) failures.push(...check(node, source, path));
  }
  return failures.map((failure) => ({ file: path, ...failure }));
}

function listSources(root) {
  const top = readdirSync(root).filter(isSource);
  const folders = ["test", "scripts", "bench", ...listPackages(root).flatMap((name) => packageFolders(name))];
  return [...top, ...folders.flatMap((folder) => listFiles(root, folder))].filter(
    (path) => isSource(path) && !isGenerated(path),
  );
}

const packageFolders = (name) => [`packages/${name}/src`, `packages/${name}/bin`];

function checkStyle(root) {
  return listSources(root).flatMap((path) => checkFile(root, path));
}

report("style", checkStyle(readRoot()));
