import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { type Caller, extensionAddOperation, tokenCreateOperation } from "@satchel/server";
import { beforeAll, describe, expect, it } from "vitest";
import { encrypted, exportAs, isAgeFile, key, kindsOf, type Opened } from "./exported-archive.js";
import { assistant, owner, person, Shared } from "./shared-context.js";

/*
 * An archive holds what its caller can read and nothing else, in no byte of it. Each thing in the context is known by a
 * word that occurs nowhere else.
 */

const words = {
  plain: "plainanise",
  former: "formerclove",
  secret: "secretdill",
  secretPath: "hidden/fennelpath",
  work: "workginger",
  workPath: "labour/hyssoppath",
  workTitle: "Juniper matters",
  workLabel: "Labelmint",
  moved: "movednutmeg",
  removed: "removedoregano",
  removedSecret: "goneparsley",
  proposed: "proposedrue",
  proposedSecret: "proposedsage",
  proposedWork: "proposedthyme",
  ownProposal: "ownverbena",
  rejected: "rejectedwasabi",
  profile: "Personayarrow",
  health: "healthzedoary",
  diet: "dietcumin",
  grantee: "user:lovage",
  otherKey: "callsavory",
} as const;
type Word = keyof typeof words;

const everyWord = Object.keys(words) as Word[];
/** Never in any archive: a proposal that was turned down. */
const never: Word[] = ["rejected"];

let shared: Shared;
let secrets: string[];

const notes = assistant();
const bob = person("bob");
const service: Caller = { ...assistant(undefined, { client: "bot" }), principal: "service:bot", grant: "service" };

async function fill(): Promise<void> {
  await shared.users("bob", "lovage");
  await shared.partition("work", { "user:bob": "read propose", [words.grantee]: "read" }, { label: words.workLabel });
  await shared.write(words.workPath, `${words.work}\n`, { title: words.workTitle, partition: "work" });
  await shared.write(words.secretPath, `${words.secret}\n`, { title: "s", sensitivity: "sensitive" });
  const targets = [words.secretPath, words.workPath].map((target) => ({ rel: "about", target }));
  await shared.write("open/plain", `${words.plain}\n`, { title: "p", relations: targets });
  await shared.write("open/former", `${words.former}\n`, { title: "f", sensitivity: "sensitive" });
  await shared.write("open/former", "later\n", { title: "f", sensitivity: "normal" });
  await shared.write("open/moved", `${words.moved}\n`, { title: "m", partition: "work" });
  await shared.write("open/moved", "here now\n", { title: "m", partition: "main" });
  await shared.write("open/removed", `${words.removed}\n`);
  await shared.remove("open/removed");
  await shared.write("open/gone", `${words.removedSecret}\n`, { title: "g", sensitivity: "sensitive" });
  await shared.remove("open/gone");
  const propose = (
    path: string,
    word: Word,
    { caller = notes, ...keys }: Record<string, unknown> & { caller?: Caller },
  ) => shared.propose({ path, body: `${words[word]}\n`, frontmatter: { title: "t", ...keys } }, caller);
  await propose("new/normal", "proposed", { derived_from: [words.secretPath] });
  await propose("new/sensitive", "proposedSecret", { sensitivity: "sensitive" });
  await propose("new/work", "proposedWork", { partition: "work" });
  await propose("new/own", "ownProposal", { partition: "work", caller: assistant(undefined, { user: "bob" }) });
  const rejected = await propose("new/rejected", "rejected", {});
  await shared.resolve("new/rejected", rejected, "reject");
  await shared.ok("profile_update", { patch: { name: words.profile } });
  await shared.ok("profile_update", { namespace: "pcp.health", patch: { conditions: [{ name: words.health }] } });
  await shared.ok("profile_update", { namespace: "org.example.diet", patch: { kind: words.diet } });
  await shared.done(extensionAddOperation, { namespace: "org.example.diet", schema: { type: "object" } });
  const asked = { user: "user:owner", client: "client:other", scopes: "memory:read" };
  const token = await shared.done(tokenCreateOperation, asked);
  const folder = join(shared.dataDir, "contexts/me");
  const hidden = ["key", "documents.key", "journal.key"].map((name) => readFileSync(join(folder, name)));
  const signing = readFileSync(join(folder, "journal.key"), "utf8").trim();
  secrets = [
    token.token,
    token.record.digest,
    signing,
    key.secret,
    ...hidden.flatMap((bytes) => [bytes.toString("hex"), bytes.toString("base64"), bytes.toString("latin1")]),
  ];
}

beforeAll(async () => {
  shared = Shared.open();
  await fill();
  await shared.call("memory_read", { path: "open/plain", idempotencyKey: words.otherKey }, owner);
}, 60_000);

const allWords = everyWord.filter((word) => !never.includes(word) && word !== "otherKey");
const except = (list: Word[], ...taken: Word[]) => list.filter((word) => !taken.includes(word));
/** What is kept back without recipients. */
const sensitiveWords: Word[] = ["secret", "secretPath", "former", "removedSecret", "proposedSecret"];
const workOnly: Word[] = ["work", "workPath", "workTitle", "workLabel"];
const readScopes = "memory:read export:read";

interface Row {
  caller: Caller;
  args?: object;
  holds: Word[];
  coverage: "full" | "partial";
  /** Names of folders and files at the top. */
  top: string[];
  pages: number;
}

const everyTop = ["audit", "extensions", "history", "memory", "partitions.json", "profile", "review"];

const rows: Record<string, Row> = {
  "the owner at the terminal": { caller: owner, holds: allWords, coverage: "full", top: everyTop, pages: 5 },
  "the owner at the terminal, encrypted": {
    caller: owner,
    args: encrypted,
    holds: allWords,
    coverage: "full",
    top: everyTop,
    pages: 5,
  },
  "the owner in person elsewhere": {
    caller: { ...owner, client: "client:web", grant: "web" },
    holds: except(allWords, ...sensitiveWords, "health"),
    coverage: "partial",
    top: everyTop,
    pages: 4,
  },
  "the owner's assistant with every scope": {
    caller: notes,
    holds: except(allWords, ...sensitiveWords, "health", "grantee"),
    coverage: "partial",
    top: everyTop,
    pages: 4,
  },
  "the owner's assistant with every scope, encrypted": {
    caller: notes,
    args: encrypted,
    holds: except(allWords, "grantee"),
    coverage: "full",
    top: everyTop,
    pages: 5,
  },
  "an assistant that may not read what is sensitive, encrypted": {
    caller: assistant("memory:read memory:review audit:read export:read"),
    args: encrypted,
    holds: except(allWords, ...sensitiveWords, "health", "profile", "diet", "grantee"),
    coverage: "partial",
    top: except(everyTop as Word[], "extensions" as Word, "profile" as Word),
    pages: 4,
  },
  "an assistant that may read pages alone": {
    caller: assistant(readScopes),
    holds: [...workOnly, "plain", "moved", "removed"],
    coverage: "partial",
    top: ["history", "memory", "partitions.json"],
    pages: 4,
  },
  "an assistant that may export alone": {
    caller: assistant("export:read"),
    args: encrypted,
    holds: [],
    coverage: "partial",
    top: ["partitions.json"],
    pages: 0,
  },
  "an assistant with the profile alone": {
    caller: assistant("profile.core:read export:read"),
    holds: ["profile"],
    coverage: "partial",
    top: ["partitions.json", "profile"],
    pages: 0,
  },
  "a user with one partition": {
    caller: bob,
    args: encrypted,
    holds: [...workOnly, "ownProposal"],
    coverage: "full",
    top: ["audit", "history", "memory", "partitions.json"],
    pages: 1,
  },
  "that user's assistant, which made a proposal": {
    caller: assistant(undefined, { user: "bob" }),
    args: encrypted,
    holds: [...workOnly, "ownProposal"],
    coverage: "full",
    top: ["audit", "history", "memory", "partitions.json", "review"],
    pages: 1,
  },
  "a user for whom nothing is there": {
    caller: person("nobody"),
    args: encrypted,
    holds: [],
    coverage: "full",
    top: ["audit", "partitions.json"],
    pages: 0,
  },
  "a service": {
    caller: service,
    args: encrypted,
    holds: [],
    coverage: "full",
    top: ["audit", "partitions.json"],
    pages: 0,
  },
};

/** bob in person isn't the author of what his assistant proposed. */
rows["a user with one partition"]!.holds = workOnly;

describe("export_create", () => {
  it.each(Object.entries(rows))("%s: what may be read, and no byte of anything else", async (_, row) => {
    const opened = await exportAs(shared, row.caller, row.args);
    expect(isAgeFile(opened.path)).toBe(row.args !== undefined);
    const found = everyWord.filter((word) => opened.text.includes(words[word]));
    expect(found.sort()).toEqual([...row.holds].sort());
    for (const secret of secrets) expect(opened.text.includes(secret)).toBe(false);
    expect(opened.text).not.toMatch(/satchel_[\w-]{20,}|PRIVATE KEY|AGE-SECRET|journal\.key|documents\.key/);
    expect(opened.coverage).toBe(row.coverage);
    expect(opened.manifest).toMatchObject({ coverage: row.coverage, page_count: row.pages });
    expect(opened.page_count).toBe(row.pages);
    expect([...new Set([...opened.files.keys()].map((name) => name.split("/")[0]))].sort()).toEqual(
      [...row.top].sort(),
    );
    expect(shared.faults).toEqual([]);
  });

  it("packs no byte of what it leaves out: the tar itself holds none either", async () => {
    const { path } = await exportAs(shared, assistant(readScopes));
    const tar = gunzipSync(readFileSync(path)).toString("latin1");
    expect(tar).toContain(words.plain);
    for (const word of [...sensitiveWords, "health", "profile"] as Word[]) expect(tar).not.toContain(words[word]);
  });

  it.each([
    ["no scope for it", assistant("memory:read"), "forbidden"],
    ["a wildcard that is none", assistant("export"), "forbidden"],
  ])("is refused with %s, and leaves no file", async (_, caller, code) => {
    expect(await shared.outcome("export_create", {}, caller as Caller)).toBe(code);
  });

  it.each([
    ["no key", ["age1nothing"]],
    ["a private key", [key.secret]],
    ["one wrong key among right ones", [key.recipient, "ssh-rsa AAAA"]],
    ["an empty list entry", [""]],
  ])("is refused with %s as recipient, without repeating it", async (_, encrypt_to) => {
    const error = await shared.refused("export_create", { encrypt_to });
    expect(error.code).toBe("invalid_input");
    expect(JSON.stringify(error)).not.toContain(key.secret);
  });
});

describe("the audit in an archive", () => {
  const entriesOf = ({ files }: Opened) =>
    String(files.get("audit/log.jsonl"))
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as { principal: string; targets?: string[]; tool?: string });

  it("of a user holds the user's own entries alone", async () => {
    await shared.call("memory_read", { path: words.workPath }, bob);
    await shared.call("memory_read", { path: words.secretPath }, bob);
    const entries = entriesOf(await exportAs(shared, bob, encrypted));
    expect(new Set(entries.map(({ principal }) => principal))).toEqual(new Set(["user:bob"]));
    expect(entries.flatMap(({ targets = [] }) => targets)).toContain(words.workPath);
    expect(entries.flatMap(({ targets = [] }) => targets)).not.toContain(words.secretPath);
  });

  it("of an owner holds all, and ends before the export itself", async () => {
    const opened = await exportAs(shared);
    const entries = entriesOf(opened);
    expect(new Set(entries.map(({ principal }) => principal))).toContain("user:bob");
    expect(JSON.stringify(entries)).not.toContain(opened.export_id);
    expect(opened.files.has("audit/journal.pub")).toBe(true);
  });

  it("is left out when it isn't wanted", async () => {
    const opened = await exportAs(shared, owner, { include_audit: false });
    expect(kindsOf(opened).filter((name) => name.startsWith("audit"))).toEqual([]);
    expect(opened.manifest.omitted).toEqual([{ part: "audit", reason: expect.any(String) }]);
  });
});

describe("what lies in an archive", () => {
  it("of an owner at the terminal: each kind of file", async () => {
    expect(kindsOf(await exportAs(shared))).toEqual([
      "audit/journal.pub",
      "audit/log.jsonl",
      "extensions/org.example.diet.schema.json",
      "history/pg/ver.json",
      "history/profile/core/N.json",
      "history/profile/org.example.diet/N.json",
      "history/profile/pcp.health/N.json",
      `memory/${words.secretPath}.md`,
      `memory/${words.workPath}.md`,
      "memory/open/former.md",
      "memory/open/moved.md",
      "memory/open/plain.md",
      "partitions.json",
      "profile/core.json",
      "profile/org.example.diet.json",
      "profile/pcp.health.json",
      "review/rev.json",
    ]);
  });

  it("of others: no access lists, no rules and no earlier documents", async () => {
    for (const caller of [notes, bob]) {
      const opened = await exportAs(shared, caller, encrypted);
      const partitions = JSON.parse(String(opened.files.get("partitions.json")));
      for (const one of partitions)
        expect(Object.keys(one).filter((name) => !["name", "label"].includes(name))).toEqual([]);
      expect(kindsOf(opened).filter((name) => name.startsWith("history/profile"))).toEqual([]);
    }
  });
});
