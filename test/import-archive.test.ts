import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildHead } from "@satchel/pcp";
import { importOperation, readArchive } from "@satchel/server";
import { beforeAll, describe, expect, it } from "vitest";
import { bring, brought, stateOf } from "./brought-archive.js";
import { survey } from "./erasure-world.js";
import { exportAs, type Files, type Opened, openArchive, remadeArchive } from "./exported-archive.js";
import { assistant, Shared, temporaryFolder } from "./shared-context.js";

/*
 * An archive that comes into a context which has content already, and archives that were made or changed by hand.
 */

type Record_ = Record<string, unknown> & {
  generated: { at: string; principal: string };
  keys: Record<string, unknown>;
};

let source: Shared;
let original: Opened;
let revision: string;

const remade = (change: (files: Files) => void) => remadeArchive(original, change);

const json = <Value = Record_>(bytes: Buffer | undefined) => JSON.parse(String(bytes)) as Value;
const packed = (value: unknown) => Buffer.from(`${JSON.stringify(value, null, 2)}\n`);

function nameLike(files: ReadonlyMap<string, Buffer>, form: RegExp, holding = ""): string {
  const found = [...files].find(([name, bytes]) => form.test(name) && String(bytes).includes(holding));
  if (!found) throw new Error(`there is no file like ${form}`);
  return found[0];
}

/** The record of the present version of a page. */
const recordOf = (files: ReadonlyMap<string, Buffer>, path: string) =>
  [...files].find(([name, bytes]) => {
    if (!/^history\/pg_/.test(name)) return false;
    const record = json(bytes);
    return record.path === path && record.current === true;
  })?.[0] ?? "";

function edit(files: Files, name: string, change: (record: Record_) => void): string {
  const record = json(files.get(name));
  change(record);
  files.set(name, packed(record));
  return name;
}

beforeAll(async () => {
  source = Shared.open();
  await source.write("notes/one", "first\n");
  source.clock.ms += 60_000;
  await source.write("notes/one", "second\n", { title: "One", tags: ["a"] });
  await source.write("notes/two", "two\n", { title: "Two" });
  await source.write("notes/gone", "gone\n");
  await source.remove("notes/gone");
  revision = await source.propose({ path: "notes/new", body: "proposed\n" }, assistant());
  await source.ok("profile_update", { patch: { name: "Someone" } });
  source.clock.ms += 60_000;
  original = await exportAs(source);
});

/** An empty context whose clock is after everything in the archive. */
function emptyContext(): Shared {
  const shared = Shared.open();
  shared.clock.ms = source.clock.ms + 60_000;
  return shared;
}

describe("an archive in a context that has pages already", () => {
  it("in an empty one is all there, and a second time nothing changes", async () => {
    const shared = emptyContext();
    const first = await brought(shared, original.path);
    expect(first).toMatchObject({
      applied: true,
      changed: [],
      proposed: ["notes/new"],
      profiles: ["core"],
      refused: [],
    });
    expect(first.added.sort()).toEqual(["notes/one", "notes/two"]);
    const before = await stateOf(shared);
    const second = await brought(shared, original.path);
    expect(second).toMatchObject({ added: [], changed: [], proposed: [], profiles: [], refused: [] });
    expect(await stateOf(shared)).toEqual(before);
    expect((await stateOf(shared)).pages.map(({ id }) => id).sort()).toEqual(
      (await survey(source)).pages.map(({ id }) => id).sort(),
    );
  });

  it("in its own context changes nothing, whatever has happened to the pages since", async () => {
    const shared = Shared.open();
    await shared.write("a/newer", "before\n");
    await shared.write("a/removed", "before\n");
    await shared.write("a/same", "before\n");
    const { path } = await exportAs(shared);
    shared.clock.ms += 60_000;
    await shared.write("a/newer", "after\n");
    await shared.remove("a/removed");
    const before = await stateOf(shared);
    const summary = await brought(shared, path);
    expect(summary).toMatchObject({ added: [], changed: [], proposed: [], refused: [], same: 3 });
    expect(await stateOf(shared)).toEqual(before);
  });

  it("a page that is older here gets the archive's text as its next version", async () => {
    const shared = emptyContext();
    await brought(shared, original.path);
    source.clock.ms += 60_000;
    await source.write("notes/two", "two, later\n", { title: "Two" });
    const { path } = await exportAs(source);
    shared.clock.ms = source.clock.ms + 60_000;
    const before = await survey(shared);
    expect(await brought(shared, path)).toMatchObject({ added: [], changed: ["notes/two"], refused: [] });
    expect((await shared.read("notes/two")).body).toBe("two, later\n");
    const page = (await survey(shared)).pages.find((one) => one.path === "notes/two");
    const versions = before.pages.find((one) => one.path === "notes/two")?.versions ?? [];
    expect(page?.versions.slice(0, -1)).toEqual(versions);
    await source.write("notes/two", "two\n", { title: "Two" });
  });

  it("a page that went its own way on both sides keeps what was here as an earlier version", async () => {
    const shared = emptyContext();
    await brought(shared, original.path);
    await shared.write("notes/one", "own way\n");
    source.clock.ms += 60_000;
    await source.write("notes/one", "other way\n", { title: "One" });
    const { path } = await exportAs(source);
    shared.clock.ms = source.clock.ms + 60_000;
    expect(await brought(shared, path)).toMatchObject({ changed: ["notes/one"] });
    const page = (await survey(shared)).pages.find((one) => one.path === "notes/one");
    expect(page?.versions.map(({ body }) => body)).toEqual(["first\n", "second\n", "own way\n", "other way\n"]);
  });

  it("a page of the same name and another id stays the page it is, and a twin's name refuses all", async () => {
    const shared = emptyContext();
    const { id } = await shared.write("notes/one", "mine\n");
    expect(await brought(shared, original.path)).toMatchObject({ added: ["notes/two"], changed: ["notes/one"] });
    const page = (await survey(shared)).pages.find((one) => one.path === "notes/one");
    expect([page?.id, page?.versions.map(({ body }) => body)]).toEqual([id, ["mine\n", "second\n"]]);
    const twin = emptyContext();
    await twin.write("Notes/ONE", "mine\n");
    const before = await stateOf(twin);
    const refused = await brought(twin, original.path);
    expect(refused).toMatchObject({ applied: false, refused: [{ file: "memory/notes/one.md" }] });
    expect(await stateOf(twin)).toEqual(before);
  });

  it("a page that was removed here and is live in a newer archive comes back as a page of its own", async () => {
    const shared = emptyContext();
    await brought(shared, original.path);
    await shared.remove("notes/two");
    source.clock.ms += 60_000;
    await source.write("notes/two", "two, again\n", { title: "Two" });
    const { path } = await exportAs(source);
    shared.clock.ms = source.clock.ms + 60_000;
    expect((await brought(shared, path)).added).toContain("notes/two");
    expect((await shared.read("notes/two")).body).toBe("two, again\n");
    expect((await survey(shared)).pages.filter((one) => one.path === "notes/two")).toHaveLength(2);
  });

  it("--review makes proposals of everything, and a second time none", async () => {
    const shared = emptyContext();
    const summary = await brought(shared, original.path, { review: true });
    expect(summary.proposed.sort()).toEqual(["notes/new", "notes/one", "notes/two"]);
    expect(summary).toMatchObject({ added: [], changed: [], profiles: [] });
    expect((await survey(shared)).pages).toEqual([]);
    expect((await brought(shared, original.path, { review: true })).proposed).toEqual([]);
    const item = (await shared.items()).find(({ path }) => path === "notes/one");
    await shared.resolve("notes/one", item?.revision ?? "", "approve");
    expect((await shared.read("notes/one")).body).toBe("second\n");
    const waiting = (await shared.items()).find(({ path }) => path === "notes/new");
    expect(waiting).toMatchObject({ revision, generated: { client: "client:notes" } });
  });

  it("--dry-run tells the same and changes nothing, not even the clock", async () => {
    for (const review of [false, true]) {
      const shared = emptyContext();
      const before = await stateOf(shared);
      const dry = await brought(shared, original.path, { dryRun: true, review });
      expect(await stateOf(shared)).toEqual(before);
      const real = await brought(shared, original.path, { review });
      expect({ ...dry, applied: true }).toEqual(real);
    }
  });

  it("is for owners in person", async () => {
    const shared = emptyContext();
    const before = await stateOf(shared);
    const result = await bring(shared.as(assistant()), original.path);
    expect(result).toMatchObject({ ok: false, refusal: { refused: "forbidden" } });
    expect(await stateOf(shared)).toEqual(before);
  });
});

const future = "2031-01-01T00:00:00.000Z";
/** Made up, in the form of a credential. */
const credential = `ghp_${"aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0bC3dF6"}`;

/** Each changes the files, and says which one is refused. */
const wrong: [string, (files: Files) => string | RegExp, RegExp?][] = [
  [
    "two pages with one name",
    (files) => {
      const record = json(files.get(recordOf(files, "notes/two")));
      const id = `pg_${"0".repeat(25)}1`;
      const twin = { ...record, page: id, path: "Notes/Two" };
      files.set(`history/${id}/${record.version}.json`, packed(twin));
      const own = String(files.get("memory/notes/two.md"));
      files.set("memory/Notes/Two.md", Buffer.from(own.replace(/pg_[0-9a-z]{26}/, id)));
      return /memory\/notes\/two\.md|memory\/Notes\/Two\.md/;
    },
    /same page name/,
  ],
  [
    "a version in two pages",
    (files) => {
      const name = recordOf(files, "notes/two");
      const record = json(files.get(name));
      const id = `pg_${"0".repeat(25)}1`;
      files.set(`history/${id}/${record.version}.json`, packed({ ...record, page: id, path: "notes/other" }));
      const own = String(files.get("memory/notes/two.md"));
      files.set("memory/notes/other.md", Buffer.from(own.replace(/pg_[0-9a-z]{26}/, id)));
      return /memory\/notes\/(two|other)\.md/;
    },
  ],
  [
    "a current version that is not the last",
    (files) => {
      const name = recordOf(files, "notes/one");
      return (
        edit(files, name, (record) => {
          record.updated = record.created;
          record.generated.at = record.created as string;
        }) && /notes\/one\.md|history\//
      );
    },
  ],
  [
    "no current version",
    (files) => {
      const name = recordOf(files, "notes/two");
      edit(files, name, (record) => {
        delete record.current;
        record.body = "two\n";
      });
      return name;
    },
  ],
  [
    "a page file that doesn't match its record",
    (files) => {
      const own = String(files.get("memory/notes/two.md"));
      files.set("memory/notes/two.md", Buffer.from(own.replace("Two", "Twa")));
      return recordOf(files, "notes/two");
    },
  ],
  [
    "a page file that is missing",
    (files) => {
      files.delete("memory/notes/two.md");
      return recordOf(files, "notes/two");
    },
  ],
  [
    "a page from the future",
    (files) => {
      const name = recordOf(files, "notes/two");
      const before = json(files.get(name)).updated as string;
      edit(files, name, (record) => {
        record.created = future;
        record.updated = future;
        record.generated.at = future;
      });
      const own = String(files.get("memory/notes/two.md"));
      files.set("memory/notes/two.md", Buffer.from(rewriteTimes(own, before)));
      return "memory/notes/two.md";
    },
    /later than this machine's clock/,
  ],
  [
    "a proposal from the future",
    (files) =>
      edit(files, `review/${revision}.json`, (record) => {
        record.generated.at = future;
      }),
    /later than this machine's clock/,
  ],
  [
    "a document from the future",
    (files) => {
      edit(files, "history/profile/core/000001.json", (record) => {
        record.generated.at = future;
      });
      return "profile/core.json";
    },
    /later than this machine's clock/,
  ],
  [
    "times that differ within a version",
    (files) => {
      const name = nameLike(files, /^history\/pg_/, '"first\\n"');
      edit(files, name, (record) => {
        record.generated.at = "2026-01-01T00:00:00.000Z";
      });
      return /notes\/one\.md/;
    },
  ],
  [
    "a version from before its page",
    (files) => {
      const name = nameLike(files, /^history\/pg_/, '"first\\n"');
      edit(files, name, (record) => {
        record.updated = "2020-01-01T00:00:00.000Z";
        record.generated.at = "2020-01-01T00:00:00.000Z";
      });
      return /notes\/one\.md/;
    },
  ],
  [
    "a time that is none",
    (files) =>
      edit(files, nameLike(files, /^history\/pg_/, '"first\\n"'), (record) => {
        record.updated = "2026-02-30T00:00:00.000Z";
      }),
  ],
  [
    "a credential in an earlier version",
    (files) => {
      edit(files, nameLike(files, /^history\/pg_/, '"first\\n"'), (record) => {
        record.body = `token: ${credential}\n`;
      });
      return "memory/notes/one.md";
    },
    /looks like/,
  ],
  [
    "a credential in a proposal",
    (files) =>
      edit(files, `review/${revision}.json`, (record) => {
        record.body = `token: ${credential}\n`;
      }),
    /looks like/,
  ],
  [
    "a credential in the note of a proposal",
    (files) =>
      edit(files, `review/${revision}.json`, (record) => {
        record.note = `token: ${credential}`;
      }),
    /looks like/,
  ],
  [
    "a document with __proto__ that is not its last record",
    (files) => {
      files.set("profile/core.json", Buffer.from('{"__proto__": {"name": "Eve"}, "name": "Someone"}'));
      return "profile/core.json";
    },
  ],
  [
    "another id than its name says",
    (files) =>
      edit(files, nameLike(files, /^history\/pg_/, '"first\\n"'), (record) => {
        record.page = `pg_${"0".repeat(26)}`;
      }),
  ],
  [
    "an id that is none",
    (files) => {
      const name = nameLike(files, /^history\/pg_/, '"first\\n"');
      const bytes = files.get(name) ?? Buffer.alloc(0);
      files.delete(name);
      const moved = name.replace(/pg_\w+/, "pg_NOTANID");
      files.set(moved, Buffer.from(String(bytes).replace(/pg_\w+/, "pg_NOTANID")));
      return moved;
    },
  ],
  [
    "a proposal with another id than its name says",
    (files) =>
      edit(files, `review/${revision}.json`, (record) => {
        record.id = `rev_${"0".repeat(26)}`;
      }),
  ],
  [
    "a path that no page can have",
    (files) =>
      edit(files, nameLike(files, /^history\/pg_/, '"first\\n"'), (record) => {
        record.path = "../../etc/passwd";
      }),
  ],
  [
    "a record that is no JSON",
    (files) => {
      const name = `review/${revision}.json`;
      files.set(name, Buffer.from("{"));
      return name;
    },
  ],
  [
    "a record with a member nobody knows",
    (files) =>
      edit(files, `review/${revision}.json`, (record) => {
        record.admin = true;
      }),
  ],
  [
    "access lists that are none",
    (files) => {
      files.set("partitions.json", packed([{ name: "main", grants: [{ principal: "everyone", rights: ["all"] }] }]));
      return "partitions.json";
    },
  ],
  [
    "a document of no namespace",
    (files) => {
      files.set("profile/Core.json", packed({}));
      return "profile/Core.json";
    },
  ],
  [
    "the past of a document that is not there",
    (files) => {
      files.delete("profile/core.json");
      return "profile/core.json";
    },
  ],
  [
    "a document that breaks its schema",
    (files) => {
      const document = { name: 7 };
      files.set("profile/core.json", packed(document));
      edit(files, "history/profile/core/000001.json", (record) => {
        record.document = document;
      });
      return "profile/core.json";
    },
  ],
  [
    "a page of other bytes than text",
    (files) => {
      files.set("memory/notes/binary.md", Buffer.from([0xff, 0xfe, 0x00]));
      return "memory/notes/binary.md";
    },
  ],
];

/** In the page's own file the times stand where it was changed last. */
function rewriteTimes(text: string, before: string): string {
  return text.replaceAll(before, future);
}

describe("an archive that was made by hand", () => {
  it.each(wrong)("%s: refused with the file's name, and nothing is changed", async (_, change, reason) => {
    let expected: string | RegExp = "";
    const path = await remade((files) => {
      expected = change(files);
    });
    await openArchive(path);
    const shared = emptyContext();
    await shared.write("here", "before\n");
    const before = await stateOf(shared);
    const summary = await brought(shared, path);
    expect(summary.applied).toBe(false);
    expect(summary.refused.length).toBeGreaterThan(0);
    const named = summary.refused.map(({ file }) => file).join("\n");
    if (typeof expected === "string") expect(named).toContain(expected);
    else expect(named).toMatch(expected);
    if (reason) expect(JSON.stringify(summary.refused)).toMatch(reason);
    expect(JSON.stringify(summary)).not.toContain(credential);
    expect(await stateOf(shared)).toEqual(before);
    expect(({} as { admin?: unknown; name?: unknown }).admin).toBeUndefined();
    expect((await brought(shared, original.path)).applied).toBe(true);
  });

  it("what is not refused comes in with --skip-refused, and the clock goes no further than that", async () => {
    const path = await remade((files) => {
      edit(files, `review/${revision}.json`, (record) => {
        record.generated.at = future;
      });
    });
    const shared = emptyContext();
    const summary = await brought(shared, path, { skipRefused: true });
    expect(summary).toMatchObject({ applied: true, refused: [{ file: `review/${revision}.json` }], proposed: [] });
    expect(summary.added).toHaveLength(2);
    expect((await shared.recordedTime()) < future).toBe(true);
  });

  it("a key named __proto__ is a key like any other, and reaches no other object", async () => {
    const path = await remade((files) => {
      const name = nameLike(files, /^history\/pg_/, '"first\\n"');
      const text = String(files.get(name)).replace('"keys": {', '"keys": {"__proto__": {"admin": true},');
      files.set(name, Buffer.from(text));
    });
    const shared = emptyContext();
    await brought(shared, path);
    expect(({} as { admin?: unknown }).admin).toBeUndefined();
    const again = await exportAs(shared);
    const name = nameLike(again.files, /^history\/pg_/, '"first\\n"');
    expect(String(again.files.get(name))).toContain('"__proto__"');
  });

  it("files that nobody knows are left out, and it says so", async () => {
    const names = ["notes.txt", "audit/diary.txt", "memory/picture.png", "keys/journal.key", "history/x.json"];
    const path = await remade((files) => {
      for (const name of names) files.set(name, Buffer.from("marzipanella"));
    });
    const shared = emptyContext();
    const summary = await brought(shared, path);
    expect(summary.applied).toBe(true);
    for (const name of names) expect(summary.notes.join("\n")).toContain(name);
    expect(JSON.stringify(await stateOf(shared))).not.toContain("marzipanella");
  });

  it("two pages of one instant both come in, and their times stay apart", async () => {
    const path = await remade((files) => {
      const [one, two] = [recordOf(files, "notes/one"), recordOf(files, "notes/two")];
      const { updated, created } = json(files.get(two));
      const before = json(files.get(one)).updated as string;
      edit(files, one, (record) => {
        record.updated = updated;
        record.generated.at = updated as string;
      });
      expect(created).toBeDefined();
      const own = String(files.get("memory/notes/one.md"));
      files.set("memory/notes/one.md", Buffer.from(own.replaceAll(before, String(updated))));
    });
    const shared = emptyContext();
    expect((await brought(shared, path)).added.sort()).toEqual(["notes/one", "notes/two"]);
    const times = (await survey(shared)).pages.flatMap(({ versions }) => versions.map(({ updated }) => updated));
    expect(new Set(times).size).toBe(times.length);
  });

  it("page files without a record come in as new pages, into the partition that was named", async () => {
    const path = await remade((files) => {
      files.set("memory/added/by-hand.md", Buffer.from(`${buildHead({ title: "Mine" })}tea\n`));
    });
    const shared = emptyContext();
    expect((await brought(shared, path, { partition: "fresh" })).added).toContain("added/by-hand");
    expect((await shared.read("added/by-hand")).frontmatter).toMatchObject({ title: "Mine", partition: "fresh" });
  });
});

describe("an archive that is damaged", () => {
  it("is refused before anything is begun", async () => {
    const bytes = readFileSync(original.path);
    const path = join(temporaryFolder(), "damaged");
    for (const at of [0.3, 0.6, 0.95]) {
      writeFileSync(path, bytes.subarray(0, Math.floor(bytes.length * at)));
      const shared = emptyContext();
      const before = await stateOf(shared);
      const result = await bring(shared, path);
      expect(result).toMatchObject({ ok: false, refusal: { refused: "invalid_input" } });
      if (!result.ok) expect(result.refusal.violations?.length).toBeGreaterThan(0);
      expect(await stateOf(shared)).toEqual(before);
    }
  });

  it("with a file more, less or other than listed: refused with its name, --skip-refused or not", async () => {
    for (const skipRefused of [false, true]) {
      const archive = await readArchive(original.path, { identities: [] });
      const shared = emptyContext();
      const before = await stateOf(shared);
      const problems = [{ kind: "changed" as const, path: "memory/notes/one.md", message: "is not what it was" }];
      const operation = importOperation({ ...archive, problems } as never, { dryRun: false, skipRefused });
      const result = await shared.run(operation, {});
      expect(result).toMatchObject({ ok: false, refusal: { refused: "invalid_input" } });
      expect(JSON.stringify(result)).toContain("memory/notes/one.md");
      expect(await stateOf(shared)).toEqual(before);
    }
  });
});
