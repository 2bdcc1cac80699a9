import { statSync } from "node:fs";
import { join } from "node:path";
import { PcpError } from "@satchel/pcp";
import { type Context, inspectOperation, listContexts, openContext } from "@satchel/server";
import { type CommonOptions, runLocally } from "../session.js";
import { chooseDataDir, createEnvironment } from "../system.js";
import { paint, print, printJson } from "../terminal.js";
import { version } from "../version.js";

interface Finding {
  check: string;
  ok: boolean;
  detail: string;
}

/** Looks at everything that can go wrong and says what to do. Exit code 1 when something is wrong. */
export async function doctor(options: CommonOptions): Promise<void> {
  const dataDir = chooseDataDir(options.data);
  const handles = options.context === undefined ? listContexts(dataDir) : [options.context];
  const findings: Finding[] = [
    { check: "release", ok: true, detail: `Satchel ${version} on Node ${process.version}` },
    {
      check: "data",
      ok: handles.length > 0,
      detail: handles.length > 0 ? dataDir : `no context in ${dataDir}: satchel init`,
    },
  ];
  for (const handle of handles) findings.push(...(await inspectContext(dataDir, handle)));
  if (options.json) printJson({ ok: findings.every(({ ok }) => ok), findings });
  else
    for (const { check, ok, detail } of findings)
      print(`${ok ? paint("green", "ok   ") : paint("red", "wrong")} ${check}: ${detail}`);
  if (findings.some(({ ok }) => !ok)) process.exitCode = 1;
}

async function inspectContext(dataDir: string, handle: string): Promise<Finding[]> {
  let context: Context;
  try {
    context = openContext(dataDir, handle, createEnvironment());
  } catch (error) {
    if (!(error instanceof PcpError)) throw error;
    return [{ check: `context ${handle}`, ok: false, detail: error.message }];
  }
  try {
    const report = await runLocally(context, inspectOperation, {});
    const size = `${(report.bytes / 1e6).toFixed(1)} MB`;
    const facts = `${report.pages} pages, ${report.versions} versions, ${report.liveTokens} tokens, ${size}, ${report.engine}, schema ${report.schemaVersion}`;
    return [
      { check: `context ${handle}`, ok: true, detail: facts },
      { check: `integrity ${handle}`, ok: report.problems.length === 0, detail: report.problems.join("; ") || "sound" },
      ...["key", "documents.key", "journal.key", "context.db"].map((name) =>
        inspectMode(join(dataDir, "contexts", handle, name), `${handle}/${name}`),
      ),
    ];
  } finally {
    await context.store.close();
  }
}

function inspectMode(file: string, name: string): Finding {
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found) return { check: `access ${name}`, ok: false, detail: "missing: restore it from a backup" };
  const mode = found.mode & 0o777;
  const isPrivate = process.platform === "win32" || (mode & 0o077) === 0;
  const detail = isPrivate
    ? "only you can read it"
    : `others can read it (mode ${mode.toString(8)}): chmod 600 ${file}`;
  return { check: `access ${name}`, ok: isPrivate, detail };
}
