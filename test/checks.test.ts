import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

type Files = Record<string, string>;

let scratch: string;
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), "checks-"));
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

function runCheck(name: string, files: Files): { status: number | null; failures: string[] } {
  const root = mkdtempSync(join(scratch, "tree-"));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const script = fileURLToPath(new URL(`../scripts/check-${name}.mjs`, import.meta.url));
  const { status, stderr } = spawnSync(process.execPath, [script, root], { encoding: "utf8" });
  return { status, failures: stderr.split("\n").filter(Boolean) };
}

/** A file name of its own for every case, so that one run judges them all. */
const numbered = (path: string, index: number) => path.replace("/a.", `/a${index}.`);

const manifests: Files = Object.fromEntries(
  ["pcp", "journal", "server", "host", "web", "satchel"].map((folder) => {
    const name = folder === "satchel" ? "satchel" : `@satchel/${folder}`;
    return [`packages/${folder}/package.json`, JSON.stringify({ name, version: "0.1.0" })];
  }),
);

const server = "packages/server/src";

describe("check-imports", () => {
  const allowed: Files = {
    "packages/pcp/src/a.ts": 'import { createHash } from "node:crypto";\nimport "yaml";\nexport * from "./b.js";\n',
    "packages/pcp/src/a.test.ts": 'import "node:fs";\nimport "../../../test/scale.js";\nprocess.env.X; Date.now();\n',
    [`${server}/domain/a.ts`]:
      'import "@satchel/pcp";\nimport "./b.js";\nexport const at = (ms: number) => new Date(ms);\n',
    [`${server}/foreign/a.ts`]:
      'import { createHash } from "node:crypto";\nimport "@satchel/pcp";\nimport "../domain/a.js";\n',
    [`${server}/context/a.ts`]: 'import { open } from "../store/store.js";\nimport "../domain/a.js";\n',
    [`${server}/context/a.test.ts`]: 'import "../mcp/a.js";\nimport "../store/store.js";\n',
    [`${server}/retrieval/a.ts`]: 'import type { Store } from "../store/store.js";\nDate.now();\n',
    [`${server}/store/sqlite/a.ts`]: 'import "better-sqlite3";\nimport "../store.js";\nimport "../../domain/a.js";\n',
    [`${server}/archive/a.ts`]: 'import "node:fs";\nimport "tar-stream";\nimport "@satchel/pcp";\nimport "./b.js";\n',
    [`${server}/mcp/a.ts`]:
      'import "../context/a.js";\nconst text = \'import "../store/store.js"\';\nprocess.stdout.write(text);\n',
    [`${server}/index.ts`]: 'export { open } from "./store/store.js";\n',
    "packages/satchel/src/main.ts":
      'import "@satchel/server";\nimport "@satchel/host/x";\nprocess.argv; process.env;\n',
  };

  it("lets through what the direction allows", () => {
    expect(runCheck("imports", { ...manifests, ...allowed })).toEqual({ status: 0, failures: [] });
  });

  const cases: [string, string, string, string][] = [
    ["a leaf importing a leaf", "packages/pcp/src/a.ts", 'import "@satchel/journal";', "pcp may not import"],
    ["a leaf's test importing server", "packages/pcp/src/a.test.ts", 'import "@satchel/server";', "may not import"],
    ["a leaf reading files", "packages/pcp/src/a.ts", 'import { readFile } from "node:fs/promises";', "no IO"],
    ["a leaf reading files, unprefixed", "packages/pcp/src/a.ts", 'export * from "fs";', "no IO"],
    ["a leaf going online", "packages/journal/src/a.ts", 'const x = await import("node:http");', "no IO"],
    ["a leaf drawing lots", "packages/pcp/src/a.ts", 'import { randomUUID as id } from "node:crypto";', "randomUUID"],
    ["a leaf reading the clock", "packages/pcp/src/a.ts", "export const now = () => Date.now();", "Date.now"],
    ["server importing host", `${server}/mcp/a.ts`, 'import type { X } from "@satchel/host";', "server may not"],
    ["host importing server", "packages/host/src/a.ts", 'type X = import("@satchel/server").X;', "host may not"],
    ["web importing a leaf", "packages/web/src/a.tsx", 'import "@satchel/pcp";', "web may not"],
    ["an import out of the package", `${server}/mcp/a.ts`, 'import "../../../pcp/src/a.js";', "leaves the package"],
    ["test code in a source", `${server}/mcp/a.ts`, 'import "../../../../test/scale.js";', "leaves the package"],
    [
      "domain importing store",
      `${server}/domain/a.ts`,
      'import type { S } from "../store/store.js";',
      "domain imports",
    ],
    ["domain importing a library", `${server}/domain/a.ts`, 'import { uuidv7 } from "uuidv7";', "domain imports"],
    ["domain importing node:", `${server}/domain/a.ts`, 'import "node:crypto";', "domain is pure"],
    ["domain reading the clock", `${server}/domain/a.ts`, "const now = new Date();", "new Date()"],
    ["domain drawing lots", `${server}/domain/a.ts`, "const x = Math.random();", "Math.random"],
    ["domain reading process", `${server}/domain/a.ts`, "const x = process.platform;", "pure"],
    [
      "foreign importing context",
      `${server}/foreign/a.ts`,
      'import type { C } from "../context/a.js";',
      "foreign imports",
    ],
    ["foreign importing a library", `${server}/foreign/a.ts`, 'import { parse } from "yaml";', "foreign imports"],
    ["foreign reading files", `${server}/foreign/a.ts`, 'import "node:fs";', "no IO"],
    ["foreign reading the clock", `${server}/foreign/a.ts`, "const now = Date.now();", "Date.now"],
    ["mcp importing store", `${server}/mcp/a.ts`, 'import type { S } from "../store/store.js";', "mcp may not"],
    ["mcp importing SQL", `${server}/mcp/a.ts`, 'import Database from "better-sqlite3";', "mcp may not"],
    ["archive importing domain", `${server}/archive/a.ts`, 'import "../domain/a.js";', "archive imports"],
    ["archive importing context", `${server}/archive/a.ts`, 'import "../context/a.js";', "archive imports"],
    ["store importing mcp", `${server}/store/a.ts`, 'import "../mcp/a.js";', "store may not"],
    [
      "retrieval calling store",
      `${server}/retrieval/a.ts`,
      'import { type S, o } from "../store/a.js";',
      "only context",
    ],
    ["server reading the environment", `${server}/mcp/a.ts`, "const x = globalThis.process.env;", "process.env"],
    ["server taking process apart", `${server}/mcp/a.ts`, "const { argv } = process;", "process.argv"],
    ["server importing argv", `${server}/mcp/a.ts`, 'import { argv } from "node:process";', "process.argv"],
    ["a package without a direction", "packages/extra/src/a.ts", "", "has no direction"],
  ];

  const files = cases.map(([, path, text], index) => [numbered(path, index), `\n${text}\n`] as const);
  const extra = { "packages/extra/package.json": '{"name": "extra"}' };
  let result: ReturnType<typeof runCheck>;
  beforeAll(() => {
    result = runCheck("imports", { ...manifests, ...extra, ...Object.fromEntries(files) });
  });

  it.each(cases.map((row, index) => [...row, index] as const))("refuses %s", (_name, path, _text, rule, index) => {
    const file = numbered(path, index);
    const found = result.failures.filter((failure) => failure.startsWith(`${file}:`));
    expect(found).toEqual([expect.stringContaining(rule)]);
    expect(found[0]).toMatch(path.includes("extra") ? /:1: / : /:2: /);
  });

  it("ends with a failure, and with none but these", () => {
    expect(result.status).toBe(1);
    expect(result.failures).toHaveLength(cases.length);
  });
});

const linesOf = (count: number) => Array.from({ length: count }, (_, index) => `  f(${index});`).join("\n");

describe("check-style", () => {
  it("lets through what the limits allow", () => {
    const files: Files = {
      ...manifests,
      "packages/pcp/src/page-codec.ts": `export function f(a: 1, b: 2, c: 3) {\n${linesOf(68)}\n}\n`,
      "packages/pcp/src/page-codec.test.ts": `it("TODO is a word", () => {\n${linesOf(200)}\n});\n`,
      "packages/pcp/src/generated/Some_Types.ts": `// TODO\nexport default function (a, b, c, d) {\n${linesOf(700)}\n}\n`,
      "packages/pcp/src/list.ts":
        'export const words = ["TODO", "FIXME"];\nexport const x = { skip: () => ({ only: 1 }) };\n',
      "test/table.test.ts": "it.each([[1, 2, 3, 4]])('x', (a, b, c, d) => a + b + c + d);\n",
      "vitest.config.ts": "export default {};\n",
      "bench/speed.mjs": "const list = { only: 1 };\nlist.only;\n",
    };
    expect(runCheck("style", files)).toEqual({ status: 0, failures: [] });
  });

  const cases: [string, string, string, number, string][] = [
    ["a long function", "packages/pcp/src/a.ts", `const g = () => {\n${linesOf(69)}\n};`, 2, "function of 71 lines"],
    ["a long file", "packages/pcp/src/a.ts", linesOf(600), 1, "601 lines"],
    ["a long test file", "packages/pcp/src/a.test.ts", linesOf(600), 1, "601 lines"],
    ["four parameters", "scripts/a.mjs", "class A {\n  m(a, b, c, d) {}\n}", 3, "4 positional"],
    ["four parameters of a port", "packages/pcp/src/a.ts", "interface A {\n  m(a: 1, b: 1, c: 1, d: 1): 1;\n}", 3, "4"],
    ["four parameters in a test", "test/a.test.ts", "const f = (a, b, c, d) => 1;", 2, "4 positional"],
    ["a default function", "packages/pcp/src/a.ts", "export default function f() {}", 2, "default export"],
    ["a default value", "packages/pcp/src/a.ts", "export default {};", 2, "default export"],
    ["a renamed default", "packages/pcp/src/a.ts", "const a = 1;\nexport { a as default };", 3, "default export"],
    ["a camel-case name", "packages/pcp/src/pageCodec.ts", "", 1, "kebab-case"],
    ["a name that says nothing", "packages/pcp/src/page-utils.ts", "", 1, '"utils"'],
    ["a folder that says nothing", "packages/pcp/src/helpers/page.ts", "", 1, '"helpers"'],
    ["a lone test", "packages/pcp/src/a.test.ts", 'describe.only("x", () => {});', 2, "describe.only"],
    ["a test left out", "test/a.test.ts", 'it.each([1]).skip("x", () => {});', 2, "it.skip"],
    ["a test not written", "packages/pcp/src/a.test.ts", 'test.todo("x");', 2, "test.todo"],
    ["an unfinished line", "packages/pcp/src/a.ts", "/**\n * TODO later\n */\nexport const a = 1;", 3, "TODO"],
    ["an unfinished end", "packages/pcp/src/a.ts", "export const a = 1; // FIXME", 2, "FIXME"],
  ];

  const files = cases.map(([, path, text], index) => [numbered(path, index), `\n${text}\n`] as const);
  let result: ReturnType<typeof runCheck>;
  beforeAll(() => {
    result = runCheck("style", { ...manifests, ...Object.fromEntries(files) });
  });

  it.each(cases.map((row, index) => [index, ...row] as const))("%i: refuses %s", (index, ...row) => {
    const [, path, , line, rule] = row;
    const found = result.failures.filter((failure) => failure.startsWith(`${numbered(path, index)}:`));
    expect(found).toEqual([expect.stringContaining(rule)]);
    expect(found[0]).toContain(`:${line}: `);
  });

  it("ends with a failure, and with none but these", () => {
    expect(result.status).toBe(1);
    expect(result.failures).toHaveLength(cases.length);
  });
});

describe("check-dependencies", () => {
  const row = (name: string, version: string) => `| \`${name}\` | ${version} | MIT | It is needed. |\n`;
  const table = "| Package | Version | Licence | Reason |\n| --- | --- | --- | --- |\n";
  const manifest = (dependencies: Files) => JSON.stringify({ name: "x", version: "1.0.0", dependencies }, null, 2);
  const pcp = JSON.stringify({ name: "@satchel/pcp", version: "0.1.0", devDependencies: { "@a/b": "2.0.0-rc.1" } });

  it("lets through what is pinned and in the table", () => {
    const files = {
      "package.json": manifest({ a: "1.2.3", "@satchel/pcp": "0.1.0" }),
      "packages/pcp/package.json": pcp,
      "docs/dependencies.md": table + row("a", "1.2.3") + row("@a/b", "2.0.0-rc.1"),
    };
    expect(runCheck("dependencies", files)).toEqual({ status: 0, failures: [] });
  });

  it("names everything that is not", () => {
    const files = {
      "package.json": manifest({ a: "^1.2.3", b: "1.0.0", c: "1.0.0", d: "1.0.0", "@satchel/pcp": "0.2.0" }),
      "packages/pcp/package.json": pcp,
      "docs/dependencies.md": `${table}${row("a", "1.2.3")}${row("c", "1.0.1")}| d | 1.0.0 | MIT | |\n${row("e", "1.0.0")}`,
    };
    const { status, failures } = runCheck("dependencies", files);
    expect(failures).toEqual([
      "package.json:5: a is not pinned exactly: ^1.2.3",
      "package.json:6: b has no row in docs/dependencies.md",
      "package.json:7: c is 1.0.1 in docs/dependencies.md, but 1.0.0 here",
      "package.json:8: d has no licence or no reason in docs/dependencies.md",
      "package.json:9: @satchel/pcp is 0.1.0 in this workspace",
      "packages/pcp/package.json:1: @a/b has no row in docs/dependencies.md",
      "docs/dependencies.md:6: e is no dependency any more",
    ]);
    expect(status).toBe(1);
  });
});
