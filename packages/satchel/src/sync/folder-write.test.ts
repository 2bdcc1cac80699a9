import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { textDigest } from "@satchel/server";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { clearAside, openSyncFolder, removeFolderFile, type SyncFolder, writeFolderFile } from "./folder-write.js";

let root: string;
let folder: SyncFolder;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "satchel-folder-"));
  folder = openSyncFolder(root);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const read = (name: string) => readFileSync(join(root, name), "utf8");
const aside = () => readdirSync(join(root, ".satchel"));

describe("writeFolderFile", () => {
  it("makes a file with its folders, readable by its owner alone", async () => {
    expect(await writeFolderFile(folder, { name: "a/b/c.md", text: "x\n" })).toBe("done");
    expect(read("a/b/c.md")).toBe("x\n");
    expect(statSync(join(root, "a/b/c.md")).mode & 0o777).toBe(0o600);
    expect(aside()).toEqual([]);
  });

  it("replaces what was seen, line ends aside, and keeps the file's mode", async () => {
    writeFileSync(join(root, "a.md"), "\ufeffold\r\n", { mode: 0o640 });
    expect(await writeFolderFile(folder, { name: "a.md", text: "new\n", over: textDigest("old\n") })).toBe("done");
    expect(read("a.md")).toBe("new\n");
    expect(statSync(join(root, "a.md")).mode & 0o777).toBe(0o640);
  });

  it.each([
    ["the file was changed", "changed\n", textDigest("old\n")],
    ["the file is gone", undefined, textDigest("old\n")],
    ["a file has appeared", "appeared\n", undefined],
  ])("does nothing when %s", async (_name, there, over) => {
    if (there !== undefined) writeFileSync(join(root, "a.md"), there);
    expect(await writeFolderFile(folder, { name: "a.md", text: "new\n", ...(over && { over }) })).toBe("moved");
    expect(existsSync(join(root, "a.md")) ? read("a.md") : undefined).toBe(there);
    expect(aside()).toEqual([]);
  });

  it("says what is in the way, and follows no link", async () => {
    const outside = mkdtempSync(join(tmpdir(), "satchel-outside-"));
    symlinkSync(outside, join(root, "link"));
    mkdirSync(join(root, "folder.md"));
    writeFileSync(join(root, "file"), "");
    writeFileSync(join(outside, "seen.md"), "s");
    symlinkSync(join(outside, "seen.md"), join(root, "seen.md"));
    for (const name of ["link/a.md", "folder.md", "file/a.md", "seen.md", `${"n".repeat(300)}.md`]) {
      expect(await writeFolderFile(folder, { name, text: "x\n" }), name).toMatchObject({ reason: expect.any(String) });
    }
    expect(await writeFolderFile(folder, { name: "seen.md", text: "x\n", over: textDigest("s") })).toBe("moved");
    expect(readdirSync(outside)).toEqual(["seen.md"]);
    rmSync(outside, { recursive: true });
  });

  it("names a folder that is another one's twin where case does not count", async () => {
    mkdirSync(join(root, "Notes"));
    const folding = { ...folder, foldsCase: true };
    expect(await writeFolderFile(folding, { name: "notes/a.md", text: "x" })).toMatchObject({
      reason: /"Notes".*"notes"/,
    });
    expect(await writeFolderFile(folding, { name: "Notes/a.md", text: "x" })).toBe("done");
  });
});

describe("removeFolderFile", () => {
  it("removes what was seen and the folders that are empty then", async () => {
    await writeFolderFile(folder, { name: "a/b/c.md", text: "x" });
    writeFileSync(join(root, "a/other.txt"), "");
    expect(removeFolderFile(folder, { name: "a/b/c.md", digest: textDigest("x") })).toBe("done");
    expect(readdirSync(join(root, "a"))).toEqual(["other.txt"]);
  });

  it("leaves what was changed", async () => {
    writeFileSync(join(root, "a.md"), "changed");
    expect(removeFolderFile(folder, { name: "a.md", digest: textDigest("x") })).toBe("moved");
    expect(read("a.md")).toBe("changed");
  });
});

it("clears what was put aside by a run that was cut off, and nothing else", () => {
  writeFileSync(join(root, ".satchel/new-1"), "x");
  writeFileSync(join(root, ".satchel/sync.json"), "{}");
  clearAside(folder);
  expect(aside()).toEqual(["sync.json"]);
});
