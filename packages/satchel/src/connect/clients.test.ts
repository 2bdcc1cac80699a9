import { describe, expect, it } from "vitest";
import { type ClientName, clientNames, findClient, type Place, parsePlatform } from "./clients.js";

const darwin: Place = { platform: "darwin", home: "/Users/someone" };
const win32: Place = { platform: "win32", home: "C:\\Users\\Some One" };
const linux: Place = { platform: "linux", home: "/home/someone" };

const support = "/Users/someone/Library/Application Support";
const roaming = "C:\\Users\\Some One\\AppData\\Roaming";

const rows: [ClientName, string, string, string][] = [
  ["claude-code", "/Users/someone/.claude.json", "C:\\Users\\Some One\\.claude.json", "/home/someone/.claude.json"],
  [
    "claude-desktop",
    `${support}/Claude/claude_desktop_config.json`,
    `${roaming}\\Claude\\claude_desktop_config.json`,
    "/home/someone/.config/Claude/claude_desktop_config.json",
  ],
  [
    "cursor",
    "/Users/someone/.cursor/mcp.json",
    "C:\\Users\\Some One\\.cursor\\mcp.json",
    "/home/someone/.cursor/mcp.json",
  ],
  [
    "vscode",
    `${support}/Code/User/mcp.json`,
    `${roaming}\\Code\\User\\mcp.json`,
    "/home/someone/.config/Code/User/mcp.json",
  ],
  [
    "codex",
    "/Users/someone/.codex/config.toml",
    "C:\\Users\\Some One\\.codex\\config.toml",
    "/home/someone/.codex/config.toml",
  ],
  [
    "gemini",
    "/Users/someone/.gemini/settings.json",
    "C:\\Users\\Some One\\.gemini\\settings.json",
    "/home/someone/.gemini/settings.json",
  ],
];

describe("clients", () => {
  it.each(rows)("%s has its file on every platform", (name, onDarwin, onWindows, onLinux) => {
    const client = findClient(name);
    expect(client.configurationFile(darwin)).toBe(onDarwin);
    expect(client.configurationFile(win32)).toBe(onWindows);
    expect(client.configurationFile(linux)).toBe(onLinux);
    expect(client.reload).toMatch(/\.$/);
  });

  it("has a row for every client", () => {
    expect(rows.map(([name]) => name)).toEqual([...clientNames]);
  });

  it("follows folders that were moved, and only where they count", () => {
    const moved = { appData: "D:\\Roaming", xdgConfigHome: "/etc/xdg", codexHome: "/srv/codex" };
    const file = (name: ClientName, place: Place) => findClient(name).configurationFile({ ...place, ...moved });
    expect(file("vscode", win32)).toBe("D:\\Roaming\\Code\\User\\mcp.json");
    expect(file("vscode", linux)).toBe("/etc/xdg/Code/User/mcp.json");
    expect(file("vscode", darwin)).toBe(`${support}/Code/User/mcp.json`);
    expect(file("codex", linux)).toBe("/srv/codex/config.toml");
    expect(file("cursor", linux)).toBe("/home/someone/.cursor/mcp.json");
    expect(file("claude-code", win32)).toBe("C:\\Users\\Some One\\.claude.json");
  });

  it.each(["Claude-Code", "", "toString", "__proto__"])("refuses the name %j", (name) => {
    expect(() => findClient(name)).toThrow(expect.objectContaining({ code: "invalid_option" }));
  });

  it("takes any other Unix for Linux", () => {
    expect(["darwin", "win32", "linux", "freebsd"].map(parsePlatform)).toEqual(["darwin", "win32", "linux", "linux"]);
  });
});
