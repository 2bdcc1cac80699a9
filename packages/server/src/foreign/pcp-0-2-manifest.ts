import { createHash } from "node:crypto";
import { jsonOf } from "./file-text.js";
import type { ForeignFile } from "./foreign-format.js";
import { profileNamespace } from "./pcp-0-2-profile.js";
import type { ReadingBuilder } from "./reading-builder.js";
import { isObject, listOf, member, textIn } from "./values.js";

interface ArchiveFile {
  file: ForeignFile;
  /** Below the archive's root. */
  name: string;
}

/** What an archive says it holds. Without a manifest: the usual places, and nothing to check. */
export class Manifest {
  readonly memory: string = "memory/";
  /** Namespaces by the names of their files. */
  readonly namespaces = new Map<string, string>();
  readonly encrypted = new Set<string>();
  readonly #value: Record<string, unknown> | undefined;
  readonly #file: string = "manifest.json";
  readonly #files: readonly ArchiveFile[];
  readonly #reading: ReadingBuilder;

  constructor(files: readonly ArchiveFile[], reading: ReadingBuilder) {
    this.#files = files;
    this.#reading = reading;
    const found = files.find(({ name }) => name === "manifest.json");
    if (!found) return;
    this.#file = found.file.name;
    const json = jsonOf(found.file);
    if (!json.ok) {
      reading.addRefused(json.refused);
      return;
    }
    if (!isObject(json.value)) return;
    this.#value = json.value;
    const memory = textIn(member(json.value.memory, "path"));
    if (memory) this.memory = memory.endsWith("/") ? memory : `${memory}/`;
    this.#readProfiles(json.value.profile);
  }

  #readProfiles(profile: unknown): void {
    const core = textIn(member(profile, "core"));
    if (core) this.namespaces.set(core, "core");
    for (const extension of listOf(member(profile, "extensions"))) {
      const [namespace, path] = [textIn(member(extension, "namespace")), textIn(member(extension, "path"))];
      if (namespace && path) this.namespaces.set(path, profileNamespace(namespace));
      if (path && isObject(member(extension, "encrypted"))) this.encrypted.add(path);
    }
  }

  /** Files that are not what was listed: refused, and not read. */
  readonly faulty = new Set<string>();

  /** Every listed file is there and is what was listed. */
  verify(): void {
    if (!this.#value) return;
    const byName = new Map(this.#files.map(({ file, name }) => [name, file]));
    for (const listed of listOf(this.#value.files)) {
      const [path, sha256] = [textIn(member(listed, "path")), member(listed, "sha256")];
      const file = path === undefined ? undefined : byName.get(path);
      if (path === undefined) this.#refuse(this.#file, "the manifest lists a file without a path: export again");
      else if (!file)
        this.#refuse(path, "the manifest lists this file and the archive lacks it: fetch the archive again");
      else if (typeof sha256 === "string" && digest(file.bytes) !== sha256.toLowerCase()) {
        this.faulty.add(path);
        this.#refuse(file.name, "not the file that the manifest lists (its SHA-256 differs): fetch the archive again");
      }
    }
    for (const omitted of listOf(this.#value.omitted)) {
      const what = textIn(member(omitted, "what"));
      if (what) this.#reading.note(`The other server left out: ${what.slice(0, 200)}.`);
    }
  }

  verifyCount(pages: number): void {
    const count = member(this.#value?.memory, "page_count");
    if (typeof count !== "number" || count === pages) return;
    this.#refuse(this.#file, `the manifest speaks of ${count} pages and there are ${pages}: fetch the archive again`);
  }

  #refuse(file: string, reason: string): void {
    this.#reading.refuse({ file }, reason);
  }
}

const digest = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");
