import { writeFileSync } from "node:fs";
import { join } from "node:path";
import SqliteDatabase from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { runOk, temporaryFolder } from "./harness.js";
import { World, type Written } from "./in-process.js";
import { scaled } from "./scale.js";
import { startSession } from "./stdio-session.js";

/*
 * Faults that similar systems had in public, each under its number in our list, and others of the same kind: concurrency
 * and durability.
 */

/** A context on disk for processes and this one. */
function shared(): { world: World; data: string } {
  const world = World.open();
  return { world, data: world.dataDir };
}

/** Holds the write lock of a context as a hanging process would. */
function holdLock(data: string): () => void {
  const database = new SqliteDatabase(join(data, "contexts", "me", "context.db"));
  database.exec("BEGIN IMMEDIATE");
  return () => database.close();
}

describe("concurrency and durability", () => {
  it("C1: parallel writes on one server are all there", async () => {
    const world = World.open();
    const write = (index: number) => world.write(`p/${index}`, `page ${index}\n`);
    const written = await Promise.all(Array.from({ length: 20 }, (_, index) => write(index)));
    expect(new Set(written.map(({ updated }) => updated)).size).toBe(20);
    for (let index = 0; index < 20; index++) expect(await world.text(`p/${index}`)).toBe(`page ${index}\n`);
    const same = await Promise.all(Array.from({ length: 20 }, (_, index) => world.write("one", `${index}\n`)));
    expect(new Set(same.map(({ id }) => id)).size).toBe(1);
    expect((await world.context.store.inspect()).problems).toEqual([]);
  });

  it("C3: a process killed while it writes leaves every acknowledged page and no half one", async () => {
    for (const after of [1, 17, 60]) {
      const { world, data } = shared();
      const session = startSession(data);
      for (let id = 1; id <= 100; id++) session.write(id, `p/${id}`, `${`line ${id}\n`.repeat(50)}end\n`);
      await session.until(after);
      await session.stop("SIGKILL");
      const acknowledged = session.answers().filter(({ id, result }) => id && result && !result.isError);
      expect(acknowledged.length).toBeGreaterThanOrEqual(after);
      for (const { id } of acknowledged) expect(await world.text(`p/${id}`)).toMatch(/end\n$/);
      const { pages: listed } = await world.ok<{ pages: { path: string }[] }>("memory_list", { limit: 100 });
      for (const { path } of listed) expect(await world.text(path)).toMatch(/^line \d+\n(.*\n)*end\n$/);
      expect((await world.again().context.store.inspect()).problems).toEqual([]);
      await runOk(["page", "put", "--data", data, "afterwards"], { input: "x\n" });
    }
  });

  it("C4: a reader and a writer in two processes never meet a lock", async () => {
    const { world, data } = shared();
    const session = startSession(data);
    const count = Math.max(100, scaled(1000));
    for (let id = 1; id <= count; id++) session.write(id, `p/${id % 20}`, `marker ${id}\n`);
    const finished = session.until(count);
    let reads = 0;
    let isDone = false;
    void finished.finally(() => {
      isDone = true;
    });
    while (!isDone) {
      expect(await world.outcome("memory_search", { query: "marker" })).toBe("ok");
      expect(await world.outcome("memory_write", { path: `own/${reads++ % 5}`, body: "x\n" })).toBe("ok");
      await new Promise((resolve) => setImmediate(resolve));
    }
    await finished;
    expect(session.answers().filter(({ result }) => result?.isError)).toEqual([]);
    expect(reads).toBeGreaterThan(0);
    await session.stop();
  });

  it("C5: an import completes while others search and an old server stays open", async () => {
    const { world, data } = shared();
    const old = startSession(data);
    await old.until(0);
    const folder = temporaryFolder();
    for (let index = 0; index < 300; index++)
      writeFileSync(join(folder, `n${index}.md`), `# Note ${index}\n\nmarker\n`);
    let isDone = false;
    const importing = runOk(["import", "--data", data, folder, "--json"]).finally(() => {
      isDone = true;
    });
    while (!isDone) {
      expect(await world.outcome("memory_search", { query: "marker" })).toBe("ok");
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    expect(JSON.parse((await importing).stdout)).toMatchObject({ applied: true, refused: [] });
    expect(await world.walk({ query: "marker", limit: 100 })).toHaveLength(300);
    old.write(1, "from/old", "marker\n");
    await old.until(1);
    expect(await world.text("from/old")).toBe("marker\n");
    await old.stop();
  });

  it("C6: a write waits while another holds the store, then goes through", async () => {
    const { world, data } = shared();
    const release = holdLock(data);
    const waiting = world.outcome("memory_write", { path: "p", body: "x\n" });
    const reading = world.outcome("memory_search", { query: "x" });
    await new Promise((resolve) => setTimeout(resolve, 1000));
    release();
    expect(await waiting).toBe("ok");
    expect(await reading).toBe("ok");
  });

  it("C6: a store that is never let go of says locked and writes nothing", async () => {
    const { world, data } = shared();
    const before = await world.state();
    const release = holdLock(data);
    const error = await world.refused("memory_write", { path: "p", body: "x\n" });
    release();
    expect(error.code).toBe("locked");
    expect(await world.state()).toBe(before);
    expect(await world.outcome("memory_write", { path: "p", body: "x\n" })).toBe("ok");
    expect(world.faults).toEqual([]);
  });

  it("C8: a write based on an older state is refused and changes nothing", async () => {
    const world = World.open();
    const first = await world.write("p", "one\n");
    const second = await world.write("p", "two\n");
    const stale = { path: "p", body: "three\n", expected_updated: first.updated };
    const error = await world.refused("memory_write", stale);
    expect(error.code).toBe("conflict");
    expect(error.message).toContain(second.updated);
    expect(await world.text("p")).toBe("two\n");
    const third = await world.ok<Written>("memory_write", { ...stale, expected_updated: second.updated });
    expect(await world.outcome("memory_write", { ...stale, expected_updated: third.updated })).toBe("ok");
    await world.remove("p");
    expect(await world.outcome("memory_write", { ...stale, expected_updated: third.updated })).toBe("conflict");
    await world.write("p", "anew\n");
    expect(await world.outcome("memory_write", { ...stale, expected_updated: third.updated })).toBe("conflict");
  });

  it("C9: what a read returns is enough to write safely", async () => {
    const world = World.open();
    await world.write("p", "one\n", { title: "t", tags: ["a"] });
    const { path, frontmatter, body } = await world.ok<{
      path: string;
      frontmatter: Record<string, unknown>;
      body: string;
    }>("memory_read", { path: "p" });
    const args = { path, body: `${body}two\n`, frontmatter, expected_updated: frontmatter.updated };
    expect(await world.outcome("memory_write", args)).toBe("ok");
    const again = await world.ok<{ frontmatter: Record<string, unknown> }>("memory_read", { path: "p" });
    expect(again.frontmatter).toMatchObject({
      title: "t",
      tags: ["a"],
      id: frontmatter.id,
      created: frontmatter.created,
    });
    expect(await world.outcome("memory_write", args)).toBe("conflict");
    const [hit] = (await world.search({ query: "two" })).results;
    expect(await world.outcome("memory_write", { path, body: "x\n", expected_updated: hit!.updated })).toBe("ok");
  });

  it("C10: two writes in one tick of the clock have different times", async () => {
    const world = World.open();
    const other = world.again();
    const first = await world.write("p", "one\n");
    const second = await other.write("p", "two\n");
    expect(second.updated > first.updated).toBe(true);
    const stale = { path: "p", body: "x\n", expected_updated: first.updated };
    expect(await world.outcome("memory_write", stale)).toBe("conflict");
    expect(await other.outcome("memory_write", stale)).toBe("conflict");
    const both = [world, other].map((each) =>
      each.outcome("memory_write", { ...stale, expected_updated: second.updated }),
    );
    expect((await Promise.all(both)).sort()).toEqual(["conflict", "ok"]);
  });

  it("C14: text without a final newline stays so and glues nothing; a bad line ends no session", async () => {
    const { world, data } = shared();
    for (const body of ["x", "---\ntitle: t\n---", "---\ntitle: t\n---\nx", "", "\n"]) {
      await world.importTexts([{ path: "p", text: body }]);
      expect(await world.text("p")).toBe(body);
      expect((await runOk(["page", "cat", "--data", data, "p"])).stdout).toBe(body);
    }
    await world.write("p", "---\ntitle: t\n---");
    await world.write("p", "new body");
    expect(await world.text("p")).toBe("---\ntitle: t\n---\nnew body");
    const session = startSession(data);
    session.child.stdin.write('not json\n{"half":\n\n[]\n');
    session.write(1, "q", "x\n");
    await session.until(1);
    for (const line of session.lines()) expect(() => JSON.parse(line)).not.toThrow();
    expect(await world.text("q")).toBe("x\n");
    await session.stop();
  });
});
