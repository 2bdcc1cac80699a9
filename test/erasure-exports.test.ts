import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { exportOperation, importOperation, journalListOperation, previewErasure, readArchive } from "@satchel/server";
import { describe, expect, it } from "vitest";
import { findTraces } from "./erased-traces.js";
import { dryRun, erase, verifyJournalOf } from "./erasure-world.js";
import { type Answered, encrypted, exportAs } from "./exported-archive.js";
import { assistant, owner, Shared, temporaryFolder } from "./shared-context.js";

/*
 * An erasure takes every archive that holds something of what goes, encrypted or not, and no other.
 */

const subject = "Quillon Vexforth";

const exportsFolder = ({ dataDir }: Shared) => join(dataDir, "contexts/me/exports");
const archivesOf = (shared: Shared) =>
  existsSync(exportsFolder(shared)) ? readdirSync(exportsFolder(shared)).map((name) => name.split(".")[0]) : [];

/** No file holds these, however it is written or packed. */
function expectGone(shared: Shared, ...erased: string[]): void {
  const own = ["exports export archive notes"];
  expect(findTraces(shared.dataDir, { erased, kept: own })).toEqual([]);
}

async function world(): Promise<Shared> {
  const shared = Shared.open();
  await shared.write("notes/kept", "lanterns at dawn\n");
  await shared.write("people/gone", "marzipanella whistlewood\n");
  return shared;
}

const page = { paths: ["people/gone"] };

describe("archives that hold an erased page", () => {
  it.each([
    ["not encrypted", {}],
    ["encrypted", encrypted],
  ])("go when they are %s, counted, and nothing of the page is left", async (_, args) => {
    const shared = await world();
    const made = await exportAs(shared, owner, args);
    const second = await exportAs(shared, assistant(), args);
    expect(archivesOf(shared).sort()).toEqual([made.export_id, second.export_id].sort());
    expect((await dryRun(shared, page)).would_erase).toMatchObject({ exports: 2 });
    expect(archivesOf(shared)).toHaveLength(2);
    const { receipt } = await erase(shared, page);
    expect(receipt.counts).toMatchObject({ pages: 1, exports: 2 });
    expect(receipt.residual.clean).toBe(true);
    expect(archivesOf(shared)).toEqual([]);
    expect(await shared.context.store.read((transaction) => transaction.exports())).toEqual([]);
    expectGone(shared, "people/gone", "marzipanella whistlewood");
    expect(shared.faults).toEqual([]);
  });

  it("go by an earlier version, a proposal and a document too", async () => {
    const takes: [string, (shared: Shared) => Promise<object>][] = [
      [
        "version",
        async (shared) => {
          await shared.write("people/gone", "peppercornelia\n");
          const { id = "" } = (await shared.read("people/gone")).frontmatter;
          const versions = await shared.context.store.read((transaction) => transaction.versions(id));
          return { ids: [versions[0]?.version] };
        },
      ],
      [
        "proposal",
        async (shared) => ({ ids: [await shared.propose({ path: "new/one", body: "cindermoss\n" }, assistant())] }),
      ],
      [
        "document",
        async (shared) => {
          await shared.ok("profile_update", { patch: { name: subject } });
          return { subject };
        },
      ],
    ];
    for (const [name, make] of takes) {
      const shared = await world();
      const before = await exportAs(shared);
      const args = await make(shared);
      const after = await exportAs(shared, owner, encrypted);
      const { receipt } = await erase(shared, args as Record<string, unknown>);
      expect(archivesOf(shared), name).not.toContain(after.export_id);
      // Of a version everything of its page may be in an archive; what did not exist yet is in none.
      if (name !== "version") expect(archivesOf(shared), name).toEqual([before.export_id]);
      expect(receipt.counts.exports, name).toBe(name === "version" ? 2 : 1);
      expect(receipt.residual.clean, name).toBe(true);
    }
  });

  it("stay when they don't hold it: of those who may not read it, and from before", async () => {
    const shared = Shared.open();
    await shared.write("notes/kept", "lanterns at dawn\n");
    const early = await exportAs(shared);
    await shared.write("people/gone", "marzipanella\n", { title: "g", sensitivity: "sensitive" });
    const limited = await exportAs(shared, assistant("memory:read export:read"));
    const unsafe = await exportAs(shared, assistant("memory:read memory.sensitive:read export:read"));
    const whole = await exportAs(shared);
    const { receipt } = await erase(shared, page);
    expect(receipt.counts.exports).toBe(1);
    expect(archivesOf(shared).sort()).toEqual([early, limited, unsafe].map(({ export_id }) => export_id).sort());
    expect(archivesOf(shared)).not.toContain(whole.export_id);
  });

  it("go when only their audit could name it", async () => {
    const shared = await world();
    const audited = await exportAs(shared, assistant("audit:read export:read"), encrypted);
    const unrelated = await exportAs(shared, assistant("export:read"));
    const unaudited = await exportAs(shared, assistant("audit:read export:read"), { include_audit: false });
    await erase(shared, page);
    expect(archivesOf(shared).sort()).toEqual([unrelated, unaudited].map(({ export_id }) => export_id).sort());
    expect(existsSync(audited.path)).toBe(false);
    expectGone(shared, "people/gone", "marzipanella whistlewood");
  });

  it("no answer, record or envelope of the call that made one names it afterwards", async () => {
    const shared = await world();
    const args = { idempotencyKey: "once", ...encrypted };
    const { export_id: id } = await shared.ok<Answered>("export_create", args);
    const inJournal = async () =>
      (await verifyJournalOf(shared.dataDir)).entries.filter(({ openings }) =>
        openings.some((opening) => opening?.body?.includes(id)),
      ).length;
    expect(await inJournal()).toBeGreaterThan(0);
    const { receipt } = await erase(shared, page);
    expect(receipt.counts.envelopes).toBeGreaterThan(0);
    expect(receipt.counts.stored_results).toBeGreaterThan(0);
    expect(await inJournal()).toBe(0);
    expect((await shared.refused("export_create", args)).code).toBe("conflict");
    expect((await verifyJournalOf(shared.dataDir)).verdict.verdict).toBe("valid");
    const lines = await shared.done(journalListOperation, { limit: 100 });
    expect(JSON.stringify(lines)).not.toContain(id);
  });
});

describe("the preview of an erasure", () => {
  it("lists the archives that go, and those that were taken out of here, and changes nothing", async () => {
    const shared = await world();
    const made = await exportAs(shared);
    const out = join(temporaryFolder(), "taken");
    const taken = await shared.done(exportOperation({ out }), {});
    await shared.context.store.close();
    const place = { dataDir: shared.dataDir, handle: "me", environment: shared.context.environment };
    const { items, counts } = await previewErasure(place, {
      selector: { kind: "paths", ...page },
      includeDerived: false,
    });
    const listed = items.filter(({ what }) => what.startsWith("export")).map(({ what, id }) => [what, id]);
    expect(listed.sort()).toEqual(
      [
        ["export", made.export_id],
        ["export taken out", taken.id],
      ].sort(),
    );
    expect(counts.exports).toBe(1);
    expect(existsSync(out)).toBe(true);
    expect(archivesOf(shared)).toEqual([made.export_id]);
  });
});

describe("an archive that is being made while something is erased", () => {
  const moments = [1, 3, 5, 6, 7, 8, 9].map((at) => ["read", at] as const);
  it.each([...moments, ["write", 1], ["write", 2]] as const)(
    "does not survive, here or where it was to be (%s %s)",
    async (kind, at) => {
      for (const out of [undefined, join(temporaryFolder(), "taken")]) await eraseMeanwhile({ kind, at, out });
    },
  );

  /** Erases after the read, or before the write, with this number. */
  async function eraseMeanwhile({ kind, at, out }: { kind: "read" | "write"; at: number; out: string | undefined }) {
    const shared = await world();
    const other = shared.again();
    const counts = { read: 0, write: 0 };
    let erased = false;
    const eraseNow = async (now: "read" | "write") => {
      counts[now] += 1;
      if (now !== kind || counts[now] !== at) return;
      erased = true;
      await erase(other, page);
    };
    const { store } = shared.context;
    const watched: typeof store = {
      ...store,
      read: async (use, options) => {
        const result = await store.read(use, options);
        await eraseNow("read");
        return result;
      },
      write: async (use, options) => {
        await eraseNow("write");
        return store.write(use, options);
      },
    };
    const over = shared.over({ ...shared.context, store: watched });
    const result = await over.run(exportOperation(out === undefined ? {} : { out }), {});
    if (!erased) await erase(other, page);
    if (result.ok && erased) {
      // It began after the page was gone.
      const archive = out ?? join(exportsFolder(shared), readdirSync(exportsFolder(shared))[0] ?? "");
      const { files } = await readArchive(archive, { identities: [] });
      expect([...files.keys()]).not.toContain("memory/people/gone.md");
    }
    if (!result.ok && out !== undefined) expect(existsSync(out)).toBe(false);
    if (!result.ok) expect(["conflict", "locked", "internal"]).toContain(result.refusal.refused);
    expectGone(shared, "people/gone", "marzipanella whistlewood");
    expect(await shared.context.store.read((transaction) => transaction.stagedCalls())).toEqual([]);
    expect((await verifyJournalOf(shared.dataDir)).verdict.verdict).toBe("valid");
  }
});

describe("foreign audit that came with an archive", () => {
  /** A context into which the archive of another one was brought. */
  async function imported(): Promise<Shared> {
    const source = Shared.open();
    await source.write("people/quillon-vexforth", "x\n");
    await source.write("notes/other", "y\n");
    await source.call("memory_read", { path: "people/quillon-vexforth" }, assistant());
    const { path } = await exportAs(source);
    const shared = Shared.open();
    const archive = await readArchive(path, { identities: [] });
    await shared.done(importOperation(archive, { dryRun: false, skipRefused: false }), {});
    return shared;
  }

  const attached = async (shared: Shared) =>
    (await shared.context.store.read((transaction) => transaction.attachments())).map(({ text }) => text).join("\n");

  it("loses what names the erased, and keeps who called what", async () => {
    for (const args of [{ subject }, { paths: ["people/quillon-vexforth"] }]) {
      const shared = await imported();
      const before = await attached(shared);
      expect(before).toContain("people/quillon-vexforth");
      const { receipt } = await erase(shared, args);
      expect(receipt.residual.clean, JSON.stringify(args)).toBe(true);
      const after = await attached(shared);
      expect(after).not.toContain("quillon");
      expect(after).toContain("notes/other");
      const lines = (text: string) => text.split("\n").length;
      expect(lines(after)).toBe(lines(before));
      expect(after.match(/"memory_read"/g)?.length ?? 0).toBe(before.match(/"memory_read"/g)?.length ?? 0);
      expectGone(shared, "people/quillon-vexforth");
    }
  });

  it("an archive that holds it goes with it", async () => {
    const shared = await imported();
    const { path, export_id: id, text } = await exportAs(shared);
    expect(text).toContain("audit/imported/");
    await erase(shared, { subject });
    expect(existsSync(path)).toBe(false);
    expect(archivesOf(shared)).not.toContain(id);
    const again = await exportAs(shared);
    expect(again.text).toContain("audit/imported/");
    expect(again.text).not.toContain("quillon");
    expect(readFileSync(again.path).length).toBe(again.bytes);
  });
});
