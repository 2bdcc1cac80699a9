import { beforeAll, describe, expect, it } from "vitest";
import { brought, stateOf } from "./brought-archive.js";
import { exportAs, type Opened } from "./exported-archive.js";
import { Shared } from "./shared-context.js";

/*
 * What an archive may not do to a context that goes its own way: undo what was changed since, or decide who may see it.
 */

const laterMs = 60_000;

function emptyContext(): Shared {
  const shared = Shared.open();
  shared.clock.ms += 10 * laterMs;
  return shared;
}

describe("what was changed here since an archive came in", () => {
  let original: Opened;
  beforeAll(async () => {
    const source = Shared.open();
    await source.write("notes/one", "one\n");
    await source.write("notes/two", "two\n", { title: "Two" });
    await source.ok("profile_update", { patch: { name: "Someone" } });
    source.clock.ms += laterMs;
    original = await exportAs(source);
  });

  it("stays when the archive comes in again, of pages and of documents", async () => {
    const shared = emptyContext();
    await shared.write("notes/one", "mine\n");
    await brought(shared, original.path);
    shared.clock.ms += laterMs;
    await shared.write("notes/one", "newer\n");
    await shared.write("notes/two", "newer too\n");
    await shared.ok("profile_update", { patch: { name: "Somebody" } });
    const before = await stateOf(shared);
    const again = await brought(shared, original.path);
    expect(again).toMatchObject({ applied: true, added: [], changed: [], profiles: [], refused: [] });
    expect({ ...(await stateOf(shared)), time: before.time }).toEqual(before);
  });
});

describe("the access lists of an archive", () => {
  async function shut(): Promise<Opened> {
    const closed = Shared.open();
    await closed.write("p", "x\n");
    await closed.partition("main", { "user:eve": "read write" }, { review: "clients" });
    await closed.partition("work", { "client:eve": "read" });
    await closed.write("w", "x\n", { title: "W", partition: "work" });
    closed.clock.ms += laterMs;
    return exportAs(closed);
  }
  const lists = async (shared: Shared) =>
    (await stateOf(shared)).partitions.map(({ name, grants, review }) => [name, grants.length, review]);

  it("come with it into an empty context, which is pointed out", async () => {
    const shared = emptyContext();
    const { notes } = await brought(shared, (await shut()).path);
    expect(await lists(shared)).toEqual([
      ["main", 1, "clients"],
      ["work", 1, "nobody"],
    ]);
    expect(notes.filter((note) => note.includes("access list"))).toHaveLength(2);
  });

  it("change nothing for pages that are here, and nothing at all with --review", async () => {
    const archive = (await shut()).path;
    const held = emptyContext();
    await held.write("mine", "x\n");
    await brought(held, archive);
    expect((await lists(held))[0]).toEqual(["main", 0, "nobody"]);
    const reviewed = emptyContext();
    const summary = await brought(reviewed, archive, { review: true });
    expect(summary.proposed.sort()).toEqual(["p", "w"]);
    expect(await lists(reviewed)).toEqual([
      ["main", 0, "nobody"],
      ["work", 0, "nobody"],
    ]);
  });
});
