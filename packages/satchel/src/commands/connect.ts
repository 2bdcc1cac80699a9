import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { type ClientName, clientNames, parsePlatform } from "../connect/clients.js";
import { connectClient } from "../connect/connect.js";
import { ConnectError } from "../connect/connect-error.js";
import type { CommonOptions } from "../session.js";
import { chooseDataDir, configurationPlace } from "../system.js";
import { print, printJson } from "../terminal.js";
import { UsageError } from "../usage-error.js";

/** Prints, or with `--write` merges, an assistant's configuration. */
export async function connect(name: string, options: CommonOptions & { write?: boolean }): Promise<void> {
  const client = clientNames.find((known): known is ClientName => known === name);
  if (!client) throw new UsageError(`"${name}" is not one of ${clientNames.join(", ")}.`);
  try {
    const result = await connectClient({
      client,
      place: { platform: parsePlatform(process.platform), ...configurationPlace() },
      nodePath: process.execPath,
      scriptPath: fileURLToPath(new URL("../../bin/satchel.js", import.meta.url)),
      dataDir: resolve(chooseDataDir(options.data)),
      context: options.context,
      write: options.write,
    });
    if (options.json) printJson(result);
    else print(result.text);
  } catch (error) {
    if (error instanceof ConnectError) throw new UsageError(error.message);
    throw error;
  }
}
