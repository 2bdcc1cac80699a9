import { describe, expect, it } from "vitest";
import { Terminal } from "./command.js";

interface Partition {
  name: string;
  label?: string;
  grants: { principal: string; rights: string[] }[];
  review: string;
  fourEyes: boolean;
}

const partitions = async (terminal: Terminal) =>
  (await terminal.json<{ partitions: Partition[] }>(["partition", "list"])).partitions;

describe("satchel partition", () => {
  it("set makes a partition, and changes only what is named", async () => {
    const terminal = await Terminal.open();
    const made = await terminal.json<Partition>([
      ...["partition", "set", "work", "--label", "At work", "--review", "clients", "--four-eyes", "on"],
      ...["--grant", "user:bob=read,propose", "--grant", "group:all=read", "--grant", "client:notes=write,review"],
    ]);
    expect(made).toEqual({
      name: "work",
      label: "At work",
      grants: [
        { principal: "user:bob", rights: ["read", "propose"] },
        { principal: "group:all", rights: ["read"] },
        { principal: "client:notes", rights: ["write", "review"] },
      ],
      review: "clients",
      fourEyes: true,
    });
    const revoked = await terminal.json<Partition>([
      "partition",
      "set",
      "work",
      "--revoke",
      "user:bob",
      "--revoke",
      "client:notes",
    ]);
    expect(revoked).toEqual({ ...made, grants: [{ principal: "group:all", rights: ["read"] }] });
    const text = await terminal.ok(["partition", "set", "work", "--review", "everyone", "--four-eyes", "off"]);
    expect(text).toMatch(/work: group:all=read; review everyone\n$/);
    expect((await partitions(terminal)).map(({ name, fourEyes }) => [name, fourEyes])).toEqual([
      ["main", false],
      ["work", false],
    ]);
    expect(await terminal.ok(["partition", "list"])).toBe(
      "main\t\tnobody\towners only\nwork\tAt work\teveryone\tgroup:all=read\n",
    );
  });

  const refused: [args: string[], code: number, message: RegExp][] = [
    [["Work"], 1, /partition name/],
    [["work", "--grant", "bob=read"], 1, /no principal/],
    [["work", "--grant", "user:bob=delete"], 1, /no right/],
    [["work", "--revoke", "bob"], 1, /no principal/],
    [["work", "--review", "some"], 2, /nobody, clients, everyone/],
    [["work", "--four-eyes", "yes"], 2, /on or off/],
    [[], 2, /name/],
  ];
  it("set refuses what it can't do, with one line and its exit code, and changes nothing", async () => {
    const terminal = await Terminal.open();
    const ran = await Promise.all(refused.map(([args]) => terminal.run(["partition", "set", ...args])));
    for (const [index, [args, code, message]] of refused.entries()) {
      expect(ran[index], args.join(" ")).toMatchObject({ code, stdout: "" });
      expect(ran[index]?.stderr).toMatch(message);
    }
    expect((await partitions(terminal)).map(({ name }) => name)).toEqual(["main"]);
  });
});

describe("satchel user and group", () => {
  it("adds, lists and removes users; the last owner and the one at this machine stay", async () => {
    const terminal = await Terminal.open();
    expect(await terminal.ok(["user", "add", "bob"])).toBe("user:bob is a user.\n");
    expect(await terminal.ok(["user", "add", "user:ann", "--owner"])).toBe("user:ann is an owner.\n");
    expect(await terminal.ok(["user", "list"])).toBe("user:ann\towner\nuser:bob\tuser\nuser:owner\towner\n");
    for (const name of ["owner", "user:owner"]) {
      expect(await terminal.run(["user", "remove", name])).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/^satchel: conflict: /),
      });
    }
    expect(await terminal.run(["user", "add", "owner"])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/conflict/),
    });
    expect(await terminal.run(["user", "remove", "nobody"])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/not_found/),
    });
    expect(await terminal.run(["user", "add", "service:x", "--owner"])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/invalid_input/),
    });
    await terminal.ok(["user", "remove", "ann"]);
    expect(await terminal.json(["user", "list"])).toEqual({
      users: [
        { principal: "user:bob", isOwner: false },
        { principal: "user:owner", isOwner: true },
      ],
    });
  });

  it("a removed user is gone from groups and access lists", async () => {
    const terminal = await Terminal.open();
    await terminal.ok(["user", "add", "bob"]);
    await terminal.ok(["group", "set", "family", "--member", "user:bob", "--member", "user:ann"]);
    await terminal.ok(["partition", "set", "work", "--grant", "user:bob=write", "--grant", "group:family=read"]);
    expect(await terminal.ok(["group", "list"])).toBe("group:family\tuser:ann, user:bob\n");
    await terminal.ok(["user", "remove", "bob"]);
    expect(await terminal.json(["group", "list"])).toEqual({
      groups: [{ principal: "group:family", members: ["user:ann"] }],
    });
    expect((await partitions(terminal))[1]?.grants).toEqual([{ principal: "group:family", rights: ["read"] }]);
    expect(await terminal.ok(["group", "set", "family"])).toBe("group:family: nobody\n");
    expect(await terminal.json(["group", "list"])).toEqual({ groups: [] });
    expect(await terminal.run(["group", "set", "family", "--member", "client:x"])).toMatchObject({
      code: 1,
      stdout: "",
    });
  });
});

describe("satchel mcp --user", () => {
  it("acts as that caller: what the access list gives, nothing more", async () => {
    const terminal = await Terminal.open();
    await terminal.ok(["partition", "set", "work", "--grant", "group:team=read,propose"]);
    await terminal.put("private", "secretword\n");
    await terminal.put("open", "---\ntitle: Open\npartition: work\n---\nstone\n");
    await terminal.ok(["group", "set", "team", "--member", "user:bob"]);
    const bob = await terminal.connect("--user", "user:bob", "--client", "client:x");
    expect(await bob.call("memory_list")).toMatchObject({ pages: [{ path: "open" }] });
    expect(await bob.call("memory_read", { path: "private" })).toMatchObject({ error: { code: "not_found" } });
    expect(await bob.call("partition_list")).toEqual({
      partitions: [{ name: "work", access: ["read", "propose"], review_required: true }],
    });
    expect(await bob.call("memory_write", { path: "open", body: "changed\n" })).toMatchObject({ applied: false });
    expect(await bob.call("profile_get")).toMatchObject({ error: { code: "forbidden" } });
    await terminal.ok(["partition", "set", "work", "--revoke", "group:team"]);
    expect(await bob.call("memory_list"), "at once, without connecting again").toEqual({ pages: [] });
    await bob.close();
    const stranger = await terminal.connect("--user", "user:eve");
    expect(await stranger.call("memory_list")).toEqual({ pages: [] });
    expect(await stranger.call("memory_search", { query: "secretword" })).toMatchObject({ results: [] });
    await stranger.close();
  });

  it("a client entry limits that client and shuts out the others; scopes limit further", async () => {
    const terminal = await Terminal.open();
    await terminal.put("p", "stone\n");
    await terminal.ok(["partition", "set", "main", "--grant", "client:x=read"]);
    const named = await terminal.connect("--client", "client:x");
    expect(await named.call("memory_read", { path: "p" })).toMatchObject({ body: "stone\n" });
    expect(await named.call("memory_write", { path: "p", body: "changed\n" })).toMatchObject({
      error: { code: "forbidden" },
    });
    await named.close();
    const other = await terminal.connect("--client", "client:y");
    expect(await other.call("memory_read", { path: "p" })).toMatchObject({ error: { code: "not_found" } });
    await other.close();
    expect(await terminal.ok(["page", "cat", "p"])).toBe("stone\n");
  });

  it("refuses who can't be a caller", async () => {
    const terminal = await Terminal.open();
    const rows = [
      ["--user", "bob"],
      ["--user", "group:all"],
      ["--client", "client:local"],
      ["--client", "client:web"],
      ["--client", "x"],
      ["--scopes", "everything"],
    ];
    const ran = await Promise.all(rows.map((row) => terminal.run(["mcp", ...row])));
    for (const [index, row] of rows.entries()) {
      expect(ran[index], row.join(" ")).toMatchObject({
        code: 2,
        stdout: "",
        stderr: expect.stringMatching(/^satchel: /),
      });
    }
  });
});
