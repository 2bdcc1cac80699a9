import { baseName, headOf, isMarkdown } from "./file-text.js";
import type { ForeignFile, ForeignFormat } from "./foreign-format.js";
import { addMarkdown } from "./markdown.js";
import { Manifest } from "./pcp-0-2-manifest.js";
import { addProfile, namespaceOf } from "./pcp-0-2-profile.js";
import { ReadingBuilder } from "./reading-builder.js";

/** An archive of PCP 0.1 or 0.2, unpacked: pages keep their paths, because they name each other by them. */
export const pcp02: ForeignFormat = {
  name: "pcp-0.2",
  title: "An archive of PCP 0.2",
  detect: (files) => rootOf(files) !== undefined,
  read(files) {
    const reading = new ReadingBuilder();
    const root = rootOf(files) ?? "";
    const inside = files
      .filter(({ name }) => name.startsWith(root))
      .map((file) => ({ file, name: file.name.slice(root.length) }));
    const manifest = new Manifest(inside, reading);
    manifest.verify();
    const profiles: Record<string, Record<string, unknown>> = {};
    let pages = 0;
    for (const { file, name } of inside) {
      const namespace = manifest.namespaces.get(name) ?? namespaceOf(name);
      if (name.startsWith(manifest.memory) && isMarkdown(file)) {
        pages += 1;
        if (!manifest.faulty.has(name)) addPage(file, name.slice(manifest.memory.length), reading);
      } else if (manifest.faulty.has(name)) continue;
      else if (manifest.encrypted.has(name) || /\.age$/i.test(name)) {
        reading.refuse(
          { file: file.name },
          "encrypted: decrypt it and list it as plain in the manifest, or leave it out",
        );
      } else if (namespace !== undefined) addProfile(file, namespace, { profiles, reading });
      else noteOther(name, reading);
    }
    manifest.verifyCount(pages);
    return reading.build(profiles);
  },
};

// Archives are unpacked into a folder of their own as often as not. The manifest nearest the root counts.
function rootOf(files: readonly ForeignFile[]): string | undefined {
  const roots = files.filter(isManifest).map(({ name }) => name.slice(0, name.length - "manifest.json".length));
  const root = roots.sort((a, b) => a.length - b.length || (a < b ? -1 : 1))[0];
  if (root !== undefined) return root;
  const core = files.find(({ name }) => /(?:^|\/)profile\/(?:profile\.)?core\.json$/.test(name))?.name;
  const bare = core?.replace(/profile\/(?:profile\.)?core\.json$/, "");
  const isOurs = (name: string) => name === `${bare}manifest.json`;
  const hasPages = files.some((file) => isMarkdown(file) && file.name.startsWith(`${bare}memory/`));
  return bare !== undefined && hasPages && !files.some(({ name }) => isOurs(name)) ? bare : undefined;
}

const isManifest = (file: ForeignFile): boolean =>
  baseName(file.name) === "manifest.json" && /"(?:pcp|hcs)_version"\s*:\s*"0\.[12](?:[."-]|$)/.test(headOf(file));

// A folder's own page would stand in for the one that is generated, and never change again.
function addPage(file: ForeignFile, name: string, reading: ReadingBuilder): void {
  if (!/(?:^|\/)_index\.(?:md|markdown)$/i.test(name)) {
    addMarkdown(file, name, reading);
    return;
  }
  reading.note("Pages called _index are below imported/pcp-0.2, because Satchel makes its own.");
  addMarkdown(file, `imported/pcp-0.2/${name.replace(/_index\.(md|markdown)$/i, "index.$1")}`, reading);
}

function noteOther(name: string, reading: ReadingBuilder): void {
  if (name === "manifest.json") return;
  if (name.startsWith("connections/")) reading.count("connections: connect them anew");
  else if (name.startsWith("audit/")) reading.count("audit logs of the other server");
  else reading.count("other files of the archive");
}
