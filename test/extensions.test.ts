import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { extensionAddOperation } from "@satchel/server";
import { describe, expect, it } from "vitest";
import { assistant, owner, Shared } from "./shared-context.js";

const diet = "org.example.diet";

describe("registered schemas", () => {
  const schema = {
    type: "object",
    required: ["kind"],
    properties: { kind: { type: "string", enum: ["vegan", "other"] }, portions: { type: "integer", minimum: 1 } },
    additionalProperties: false,
  };
  const add = (shared: Shared, namespace: string, given: unknown) =>
    shared.run(extensionAddOperation, { namespace, schema: given });
  const update = (shared: Shared, patch: Record<string, unknown>, namespace = diet) =>
    shared.outcome("profile_update", { namespace, patch });

  it("are what documents have to pass from then on", async () => {
    const shared = Shared.open();
    expect(await update(shared, { anything: ["goes"] })).toBe("ok");
    expect(await update(shared, { anything: null })).toBe("ok");
    expect(await add(shared, diet, schema)).toMatchObject({ ok: true, output: { namespace: diet } });
    const error = await shared.refused("profile_update", {
      namespace: diet,
      patch: { kind: "secretword", portions: 0 },
    });
    expect(error.code).toBe("invalid_input");
    expect(error.violations?.join()).toMatch(/\/kind.*\/portions/);
    expect(JSON.stringify(error)).not.toContain("secretword");
    expect(await update(shared, { kind: "vegan" })).toBe("ok");
    expect(await update(shared, { kind: null }), "the whole document has to pass, not the patch").toBe("invalid_input");
    expect(await update(shared, { portions: 2 })).toBe("ok");
    expect(await shared.ok("profile_get", { namespaces: [diet] })).toMatchObject({
      extensions: { [diet]: { kind: "vegan", portions: 2 } },
    });
    expect(await update(shared, { kind: 1 }, "org.example.other")).toBe("ok");
    expect(await shared.again().outcome("profile_update", { namespace: diet, patch: { kind: 1 } })).toBe(
      "invalid_input",
    );
  });

  it("the last one counts", async () => {
    const shared = Shared.open();
    await add(shared, diet, schema);
    await add(shared, diet, { type: "object" });
    expect(await update(shared, { kind: "anything" })).toBe("ok");
  });

  const refused: [name: string, namespace: string, schema: unknown, code: string][] = [
    ["an unknown keyword's value", diet, { type: "no type" }, "invalid_input"],
    ["a reference that leads nowhere", diet, { $ref: "https://example.org/none.json" }, "invalid_input"],
    ["a bad pattern", diet, { properties: { a: { pattern: "(" } } }, "invalid_input"],
    ["an asynchronous one", diet, { $async: true, type: "object" }, "invalid_input"],
    ["PCP's own", "pcp.health", { type: "object" }, "invalid_input"],
    ["core", "core", { type: "object" }, "invalid_input"],
    ["a name without a dot", "diet", { type: "object" }, "invalid_input"],
    ["too long", diet, { type: "object", description: "x".repeat(65 * 1024) }, "too_large"],
  ];
  it.each(refused)("refuses %s", async (_name, namespace, given, code) => {
    const shared = Shared.open();
    expect(await add(shared, namespace, given)).toMatchObject({ ok: false, refusal: { refused: code } });
    expect(await update(shared, { kind: 1 })).toBe("ok");
    expect(await update(shared, { conditions: 1 }, "pcp.health")).toBe("invalid_input");
  });
});

/** Every file of the data directory, write-ahead log included. */
function filesOf({ dataDir }: Shared): Buffer[] {
  return readdirSync(dataDir, { recursive: true, encoding: "utf8", withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name)));
}

describe("sealed profile documents", () => {
  const patches = [
    { conditions: ["zebracondition"], emergency_notes: "zebranote" },
    { conditions: ["zebrachange"], zebramember: { zebrainner: "zebravalue" } },
  ];
  const health = { namespace: "pcp.health" };

  it("no word of them, member names too, is in any file of the data directory", async () => {
    const shared = Shared.open();
    for (const patch of patches) {
      for (const namespace of ["pcp.health", "pcp.residency"]) {
        await shared.ok("profile_update", { namespace, patch }, assistant());
      }
    }
    await shared.ok("profile_get", {}, assistant());
    expect(await shared.outcome("profile_update", { ...health, patch: { conditions: "zebrawrong" } })).toBe(
      "invalid_input",
    );
    await shared.ok("profile_update", { namespace: "org.example.open", patch: { plain: "opengiraffe" } });
    const files = filesOf(shared);
    expect(
      files.some((bytes) => bytes.includes("opengiraffe")),
      "other documents are stored as they are",
    ).toBe(true);
    for (const bytes of files) expect(bytes.includes("zebra")).toBe(false);
    const { extensions } = await shared.again().ok<{ extensions: Record<string, unknown> }>("profile_get", {});
    expect(extensions["pcp.health"]).toEqual({ ...patches[0], ...patches[1] });
  });

  type Spoil = (sealed: string, other: string) => Record<string, unknown>;
  const spoils: [name: string, spoil: Spoil][] = [
    ["with a flipped byte", (sealed) => ({ sealed: flip(sealed) })],
    ["of another namespace", (_sealed, other) => ({ sealed: other })],
    ["cut short", (sealed) => ({ sealed: sealed.slice(0, 20) })],
    ["that is none", () => ({ sealed: 7 })],
  ];
  it.each(spoils)("one %s fails cleanly, and nothing else does", async (_name, spoil) => {
    const shared = Shared.open();
    await shared.ok("profile_update", { patch: { name: "Someone" } });
    for (const namespace of ["pcp.health", "pcp.residency"])
      await shared.ok("profile_update", { namespace, patch: patches[0] });
    await shared.context.store.write(async (transaction) => {
      const stored = async (namespace: string) => String((await transaction.profile(namespace))?.document.sealed);
      const document = spoil(await stored("pcp.health"), await stored("pcp.residency"));
      const at = await transaction.tick(0);
      await transaction.putProfile({ ...health, document, changed: [], principal: "user:owner", at });
    });
    const error = await shared.refused("profile_get", { namespaces: ["pcp.health"] });
    expect(error.code).toBe("internal");
    expect(error.message).not.toMatch(/zebra|cipher|auth|decrypt/i);
    expect(shared.faults).toHaveLength(1);
    expect(JSON.stringify(shared.faults)).not.toContain("zebra");
    expect(await shared.ok("profile_get", { namespaces: ["pcp.residency"] })).toMatchObject({
      profile: { name: "Someone" },
    });
    expect(await shared.outcome("context_brief", {})).toBe("ok");
  });

  it("without its key they are lost, and only they", async () => {
    const shared = Shared.open();
    await shared.ok("profile_update", { patch: { name: "Someone" } });
    await shared.ok("profile_update", { ...health, patch: patches[0] });
    rmSync(join(shared.dataDir, "contexts", "me", "documents.key"));
    const later = shared.again();
    expect(await later.outcome("profile_get", { namespaces: ["pcp.health"] })).toBe("internal");
    expect(await later.ok("profile_get", { namespaces: ["pcp.residency"] })).toMatchObject({
      profile: { name: "Someone" },
    });
    expect(await later.outcome("profile_update", { namespace: "pcp.residency", patch: patches[0] })).toBe("ok");
    expect(await later.again().outcome("profile_get", { namespaces: ["pcp.residency"] })).toBe("ok");
  });

  it("need a scope of their own, whether or not there is one", async () => {
    const shared = Shared.open();
    const core = assistant("profile.core:read profile.core:write");
    for (const round of ["before", "after"]) {
      expect(await shared.refused("profile_get", { namespaces: ["pcp.health"] }, core), round).toMatchObject({
        code: "forbidden",
        required_scopes: ["profile.health:read"],
      });
      expect(await shared.outcome("profile_update", { ...health, patch: {} }, core), round).toBe("forbidden");
      expect(await shared.ok("profile_get", {}, core)).toMatchObject({ extensions: {} });
      await shared.ok("profile_update", { ...health, patch: patches[0] }, owner);
    }
  });
});

function flip(sealed: string): string {
  const bytes = Buffer.from(sealed, "base64");
  const at = bytes.length >> 1;
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  return bytes.toString("base64");
}
