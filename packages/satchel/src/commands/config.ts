import { settingOperation } from "@satchel/server";
import { type CommonOptions, runLocally, withContext } from "../session.js";
import { printJson, printTable } from "../terminal.js";

/** Shows the settings, or one, or sets one. */
export async function config(
  name: string | undefined,
  value: string | undefined,
  options: CommonOptions,
): Promise<void> {
  const args = { ...(name !== undefined && { name }), ...(value !== undefined && { value }) };
  const settings = await withContext(options, (context) => runLocally(context, settingOperation, args));
  if (options.json) printJson(settings);
  else printTable(["SETTING", "VALUE"], Object.entries(settings));
}
