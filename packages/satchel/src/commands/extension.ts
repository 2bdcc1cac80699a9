import { extensionAddOperation } from "@satchel/server";
import { type CommonOptions, runLocally, withContext } from "../session.js";
import { print, printJson } from "../terminal.js";
import { readText } from "./page.js";
import { parseObject } from "./profile.js";

export async function extensionAdd(namespace: string, options: CommonOptions & { schema: string }): Promise<void> {
  const args = { namespace, schema: parseObject(readText(options.schema)) };
  const added = await withContext(options, (context) => runLocally(context, extensionAddOperation, args));
  if (options.json) printJson(added);
  else print(`Documents of ${added.namespace} have to pass this schema from now on.`);
}
