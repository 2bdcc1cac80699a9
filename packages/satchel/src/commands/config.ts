import { settingOperation, settingsOperation } from "@satchel/server";
import { type CommonOptions, runLocally, withContext } from "../session.js";
import { printJson, printTable } from "../terminal.js";

/** Shows the settings, or one, or sets one. */
export async function config(
  name: string | undefined,
  value: string | undefined,
  options: CommonOptions,
): Promise<void> {
  const settings = await withContext(options, (context) =>
    value === undefined
      ? runLocally(context, settingsOperation, name === undefined ? {} : { name })
      : runLocally(context, settingOperation, { name, value }),
  );
  if (options.json) printJson(settings);
  else printTable(["SETTING", "VALUE"], Object.entries(settings));
}
