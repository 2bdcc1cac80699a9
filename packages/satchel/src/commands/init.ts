import { isHandle } from "@satchel/pcp";
import { type ContextSpec, createContext } from "@satchel/server";
import type { CommonOptions } from "../session.js";
import { chooseDataDir, createEnvironment } from "../system.js";
import { print, printJson } from "../terminal.js";
import { UsageError } from "../usage-error.js";

const kinds = ["personal", "work", "team"] as const;

/** Makes a context; one that is there already is left as it is. */
export async function init(options: CommonOptions & { kind: string }): Promise<void> {
  const handle = options.context ?? "me";
  if (!isHandle(handle)) throw new UsageError(`"${handle}" is no context handle (a-z, 0-9 and -).`);
  const kind = kinds.find((known) => known === options.kind);
  if (!kind) throw new UsageError(`--kind is one of ${kinds.join(", ")}.`);
  const dataDir = chooseDataDir(options.data);
  const spec: ContextSpec = { handle, kind };
  const created = createContext(dataDir, spec, createEnvironment());
  if (options.json) printJson({ context: handle, data: dataDir, created });
  else
    print(
      created ? `Made the context "${handle}" in ${dataDir}.` : `The context "${handle}" is in ${dataDir} already.`,
    );
}
