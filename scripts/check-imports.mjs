// Enforces the direction of imports (ARCHITECTURE.md). Usage: node scripts/check-imports.mjs [root]
import { readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join, posix } from "node:path";
import ts from "typescript";
import { isTest, lineAt, listFiles, listPackages, parseSource, readRoot, report } from "./source-tree.mjs";

const leaves = ["pcp", "prp", "toolprovider", "journal"];

/** Which package folders each package folder may import. */
const direction = new Map([
  ...leaves.map((leaf) => [leaf, []]),
  ["server", leaves],
  ["host", leaves],
  ["web", []],
  ["satchel", [...leaves, "server", "host", "web"]],
]);

// Modules that compute only. Every other node: module reaches outside the process and is closed to leaves.
const pureBuiltins = new Set(["assert", "buffer", "crypto", "path", "punycode", "querystring", "string_decoder"]);
for (const name of ["url", "util", "zlib"]) pureBuiltins.add(name);

const randomCrypto = /^(random\w*|getRandomValues|generateKey\w*)$/;

// Who calls the store: the use cases, the store itself, and the package's entry, which only passes it on.
const storeCallers = new Set(["context", "store", "index"]);

function listWorkspaceNames(root) {
  const names = listPackages(root).map((folder) => {
    const manifest = JSON.parse(readFileSync(join(root, "packages", folder, "package.json"), "utf8"));
    return [manifest.name, folder];
  });
  return new Map(names);
}

function areaOf(path) {
  return (path.split("/")[3] ?? "").replace(/\.[cm]?[jt]sx?$/, "");
}

function describeFile(path) {
  const folder = path.split("/")[1];
  const area = areaOf(path);
  const pure = leaves.includes(folder) || (folder === "server" && (area === "domain" || area === "foreign"));
  return { path, folder, area, test: isTest(path), pure };
}

function specifierOf(node) {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return node.moduleSpecifier;
  if (ts.isImportTypeNode(node)) return node.argument.literal;
  if (ts.isExternalModuleReference(node)) return node.expression;
  if (!ts.isCallExpression(node)) return undefined;
  const dynamic = node.expression.kind === ts.SyntaxKind.ImportKeyword;
  const required = ts.isIdentifier(node.expression) && node.expression.text === "require";
  return dynamic || required ? node.arguments[0] : undefined;
}

function namedBindings(node) {
  const bindings = ts.isImportDeclaration(node) ? node.importClause?.namedBindings : node.exportClause;
  if (!bindings || !(ts.isNamedImports(bindings) || ts.isNamedExports(bindings))) return [];
  return bindings.elements;
}

/** An import that leaves no code behind: it can name a type, but call nothing. */
function isTypeOnly(node) {
  if (ts.isImportTypeNode(node)) return true;
  if (ts.isImportDeclaration(node) && node.importClause?.isTypeOnly) return true;
  if (ts.isExportDeclaration(node) && node.isTypeOnly) return true;
  const names = namedBindings(node);
  return names.length > 0 && !node.importClause?.name && names.every((element) => element.isTypeOnly);
}

function importedNames(node) {
  return namedBindings(node).map((element) => (element.propertyName ?? element.name).text);
}

/** Every static, dynamic, type and re-exporting import of one file, with its target resolved. */
function listImports(source, file, workspace) {
  const found = [];
  const visit = (node) => {
    const specifier = specifierOf(node);
    if (specifier && ts.isStringLiteralLike(specifier)) {
      const target = resolveTarget(file, specifier.text, workspace);
      const names = importedNames(node);
      found.push({ ...target, line: lineAt(source, node.getStart(source)), typeOnly: isTypeOnly(node), names });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function resolveTarget(file, specifier, workspace) {
  if (specifier.startsWith(".")) {
    const path = posix.join(posix.dirname(file.path), specifier);
    return { specifier, kind: "relative", path, area: areaOf(path) };
  }
  if (isBuiltin(specifier)) return { specifier, kind: "builtin", name: specifier.replace(/^node:/, "") };
  const parts = specifier.split("/");
  const name = specifier.startsWith("@") ? parts.slice(0, 2).join("/") : parts[0];
  if (workspace.has(name)) return { specifier, kind: "workspace", folder: workspace.get(name), name };
  return { specifier, kind: "library", name };
}

function checkPackages(file, target) {
  if (target.kind === "relative") {
    const inside = target.path.startsWith(`packages/${file.folder}/`) || (file.test && target.path.startsWith("test/"));
    return inside ? undefined : `relative import ${target.specifier} leaves the package`;
  }
  if (target.kind !== "workspace") return undefined;
  const allowed = direction.get(file.folder);
  if (allowed?.includes(target.folder)) return undefined;
  return `${file.folder} may not import ${target.name}`;
}

function checkPurity(file, target) {
  if (!file.pure || file.test || target.kind !== "builtin") return undefined;
  if (file.folder === "server" && file.area === "domain")
    return `domain is pure: it may not import ${target.specifier}`;
  if (!pureBuiltins.has(target.name.split("/")[0])) return `a leaf does no IO: it may not import ${target.specifier}`;
  const random = target.name === "crypto" && target.names.find((name) => randomCrypto.test(name));
  return random ? `a leaf is given its randomness: it may not import ${random}` : undefined;
}

/** Functions over values, without IO, clock or randomness. */
const pureLibraries = new Set(["node-diff3"]);

function checkServer(file, target) {
  if (file.folder !== "server" || file.test) return undefined;
  const toStore = target.kind === "relative" && target.area === "store";
  if (file.area === "domain") {
    const foreign =
      (target.kind === "library" && !pureLibraries.has(target.name)) ||
      (target.kind === "relative" && target.area !== "domain");
    return foreign ? `domain imports only domain and leaves, not ${target.specifier}` : undefined;
  }
  if (file.area === "archive" && target.kind === "relative" && target.area !== "archive") {
    return `archive imports only archive, leaves and libraries, not ${target.specifier}`;
  }
  if (file.area === "foreign") {
    const isNear = target.kind === "relative" && (target.area === "foreign" || target.area === "domain");
    const isAllowed = isNear || target.kind === "builtin" || target.name === "@satchel/pcp";
    return isAllowed ? undefined : `foreign imports only foreign, domain and @satchel/pcp, not ${target.specifier}`;
  }
  if (file.area === "mcp" && (toStore || target.name === "better-sqlite3")) {
    return `mcp may not import ${target.specifier}: it goes through context`;
  }
  if (file.area === "store" && target.kind === "relative" && target.area === "mcp") return "store may not know mcp";
  if (toStore && !target.typeOnly && !storeCallers.has(file.area)) return "only context calls the store";
  return undefined;
}

function checkProcessImport(file, target) {
  if (file.folder === "satchel" || file.test || target.name !== "process") return undefined;
  const name = target.names.find((imported) => imported === "argv" || imported === "env");
  return name ? `only satchel reads process.${name}` : undefined;
}

const importRules = [checkPackages, checkPurity, checkServer, checkProcessImport];

const isNamed = (node, name) => node !== undefined && ts.isIdentifier(node) && node.text === name;

function isProcess(node) {
  return isNamed(node, "process") || (ts.isPropertyAccessExpression(node) && node.name.text === "process");
}

/** The members a node reads from `process`: by dot, by index, or by taking it apart. */
function processMembers(node) {
  if (ts.isPropertyAccessExpression(node) && isProcess(node.expression)) return [node.name.text];
  if (ts.isElementAccessExpression(node) && isProcess(node.expression)) {
    return [ts.isStringLiteralLike(node.argumentExpression) ? node.argumentExpression.text : "[]"];
  }
  const taken = ts.isVariableDeclaration(node) && node.initializer && isProcess(node.initializer);
  if (!taken || !ts.isObjectBindingPattern(node.name)) return [];
  return node.name.elements.map((element) => (element.propertyName ?? element.name).text);
}

function checkProcess(file, node) {
  const members = processMembers(node);
  if (members.length === 0) return undefined;
  if (file.pure) return `${file.folder} is pure here: it may not read process`;
  const member = members.find((name) => name === "argv" || name === "env");
  return member && file.folder !== "satchel" ? `only satchel reads process.${member}` : undefined;
}

const impureMembers = new Map([
  ["Date", /^now$/],
  ["Math", /^random$/],
  ["performance", /^now$/],
  ["crypto", randomCrypto],
]);

function checkAmbient(file, node) {
  if (!file.pure) return undefined;
  if (ts.isNewExpression(node) && isNamed(node.expression, "Date") && !node.arguments?.length) {
    return "the clock is passed in: no new Date() without a value";
  }
  if (ts.isCallExpression(node) && isNamed(node.expression, "fetch")) return "pure code does not fetch";
  if (!ts.isPropertyAccessExpression(node) || !ts.isIdentifier(node.expression)) return undefined;
  const impure = impureMembers.get(node.expression.text)?.test(node.name.text);
  return impure ? `clock and randomness are passed in: no ${node.getText()}` : undefined;
}

function listAmbientFailures(source, file) {
  if (file.test) return [];
  const found = [];
  const visit = (node) => {
    const rule = checkProcess(file, node) ?? checkAmbient(file, node);
    if (rule) found.push({ file: file.path, line: lineAt(source, node.getStart(source)), rule });
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function checkFile(root, path, workspace) {
  const file = describeFile(path);
  if (!direction.has(file.folder)) return [{ file: path, line: 1, rule: `package ${file.folder} has no direction` }];
  const source = parseSource(root, path);
  const failures = listImports(source, file, workspace).flatMap((target) =>
    importRules
      .map((check) => check(file, target))
      .filter(Boolean)
      .map((rule) => ({ file: path, line: target.line, rule })),
  );
  return [...failures, ...listAmbientFailures(source, file)];
}

function checkImports(root) {
  const workspace = listWorkspaceNames(root);
  const files = listPackages(root).flatMap((folder) => listFiles(root, `packages/${folder}/src`));
  return files.filter((path) => /\.tsx?$/.test(path)).flatMap((path) => checkFile(root, path, workspace));
}

report("imports", checkImports(readRoot()));
