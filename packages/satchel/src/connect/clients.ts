import { posix, win32 } from "node:path";
import { ConnectError } from "./connect-error.js";

export type Platform = "darwin" | "win32" | "linux";

/** Where a person's files are. All folders are absolute, in the platform's own notation. */
export interface Place {
  platform: Platform;
  home: string;
  /** `%APPDATA%` on Windows; its usual place under `home` when left out. */
  appData?: string | undefined;
  /** `$XDG_CONFIG_HOME` on Linux; `~/.config` when left out. */
  xdgConfigHome?: string | undefined;
  /** `$CODEX_HOME`; `~/.codex` when left out. */
  codexHome?: string | undefined;
}

export const clientNames = ["claude-code", "claude-desktop", "cursor", "vscode", "codex", "gemini"] as const;
export type ClientName = (typeof clientNames)[number];

/** One assistant: where it keeps its servers, in which form, and how it takes up a new one. */
export interface Client {
  name: ClientName;
  displayName: string;
  /**
   * `json` is read by the client without comments or trailing commas, so a file that has them is broken for it;
   * `jsonc` may have both.
   */
  format: "json" | "jsonc" | "toml";
  /** The object that holds the servers by name. */
  container: "mcpServers" | "servers" | "mcp_servers";
  /** Whether an entry says `type: "stdio"`. */
  typed: boolean;
  configurationFile(place: Place): string;
  /** One sentence for a person: what to do so that the new entry counts. */
  reload: string;
}

const joinFor = (place: Place) => (place.platform === "win32" ? win32.join : posix.join);

function underHome(...parts: string[]): (place: Place) => string {
  return (place) => joinFor(place)(place.home, ...parts);
}

/** The folder where desktop applications keep their settings. */
function applicationFolder(place: Place): string {
  const join = joinFor(place);
  if (place.platform === "win32") return place.appData ?? join(place.home, "AppData", "Roaming");
  if (place.platform === "darwin") return join(place.home, "Library", "Application Support");
  return place.xdgConfigHome ?? join(place.home, ".config");
}

function underApplications(...parts: string[]): (place: Place) => string {
  return (place) => joinFor(place)(applicationFolder(place), ...parts);
}

const clients: Record<ClientName, Client> = {
  "claude-code": {
    name: "claude-code",
    displayName: "Claude Code",
    format: "json",
    container: "mcpServers",
    typed: true,
    configurationFile: underHome(".claude.json"),
    reload:
      "Close running Claude Code sessions before the file is changed (they keep their own state in it), " +
      "then start a new one; /mcp lists satchel.",
  },
  "claude-desktop": {
    name: "claude-desktop",
    displayName: "Claude Desktop",
    format: "json",
    container: "mcpServers",
    typed: false,
    configurationFile: underApplications("Claude", "claude_desktop_config.json"),
    reload:
      "Quit Claude Desktop (closing its window is not enough) and start it again. " +
      "Settings > Developer > Edit Config shows the file it reads.",
  },
  cursor: {
    name: "cursor",
    displayName: "Cursor",
    format: "jsonc",
    container: "mcpServers",
    typed: false,
    configurationFile: underHome(".cursor", "mcp.json"),
    reload: "Restart Cursor and check that satchel is switched on among its MCP servers.",
  },
  vscode: {
    name: "vscode",
    displayName: "VS Code",
    format: "jsonc",
    container: "servers",
    typed: true,
    configurationFile: underApplications("Code", "User", "mcp.json"),
    reload: 'Run "MCP: List Servers" in VS Code, choose satchel and start it.',
  },
  codex: {
    name: "codex",
    displayName: "Codex",
    format: "toml",
    container: "mcp_servers",
    typed: false,
    configurationFile: (place) =>
      joinFor(place)(place.codexHome ?? joinFor(place)(place.home, ".codex"), "config.toml"),
    reload: "Start Codex again; /mcp lists satchel.",
  },
  gemini: {
    name: "gemini",
    displayName: "Gemini CLI",
    format: "jsonc",
    container: "mcpServers",
    typed: false,
    configurationFile: underHome(".gemini", "settings.json"),
    reload: "Start Gemini CLI again; /mcp lists satchel.",
  },
};

/** The client of that name. Throws `invalid_option` for any other name. */
export function findClient(name: string): Client {
  const found = clientNames.find((known) => known === name);
  if (!found) throw new ConnectError("invalid_option", `unknown client "${name}"; known: ${clientNames.join(", ")}`);
  return clients[found];
}

/** `process.platform` as a platform whose folders are known; any other Unix counts as Linux. */
export function parsePlatform(platform: string): Platform {
  return platform === "darwin" || platform === "win32" ? platform : "linux";
}
