import { ArchiveError } from "./archive-error.js";
import type { ArchiveLimits } from "./archive-limits.js";
import { findNameProblem, manifestName } from "./archive-name.js";
import type { ByteStream } from "./byte-stream.js";
import type { TarEntry } from "./tar.js";

/** `path` is left out where the problem is not one file's. */
export interface ArchiveProblem {
  kind: "changed" | "missing" | "extra" | "twice" | "unreadable" | "manifest";
  path?: string;
  message: string;
}

const kindNames: Record<string, string> = {
  link: "a hard link",
  symlink: "a symbolic link",
  "block-device": "a device",
  "character-device": "a device",
  fifo: "a pipe",
};

/** Collects the files of a tar, within the limits. Nothing touches the disk. */
export class ArchiveContents {
  manifest: Buffer | undefined;
  /** Every other file, in the tar's order. */
  readonly files = new Map<string, Buffer>();
  readonly problems: ArchiveProblem[] = [];
  /** The entry that is being read: the one that damage hits. */
  current: string | undefined;
  entryCount = 0;
  private totalBytes = 0;

  constructor(private readonly limits: ArchiveLimits) {}

  /** The same bytes, up to the limit on all of them. @throws ArchiveError `over_limit` */
  async *count(source: ByteStream): AsyncGenerator<Uint8Array> {
    for await (const chunk of source) {
      this.totalBytes += chunk.length;
      if (this.totalBytes > this.limits.totalBytes) throw this.overLimit("totalBytes", "bytes unpacked");
      yield chunk;
    }
  }

  /** @throws ArchiveError `over_limit` */
  async take({ header, content }: TarEntry): Promise<void> {
    const { name, type, size } = header;
    this.entryCount += 1;
    if (this.entryCount > this.limits.files) throw this.overLimit("files", "files");
    if (Buffer.byteLength(name) > this.limits.nameBytes) throw this.overLimit("nameBytes", "bytes in a file's name");
    const problem = this.findProblem(name, type);
    if (problem) this.problems.push({ ...problem, path: name });
    if (problem || type === "directory") return;
    const limit = name === manifestName ? "manifestBytes" : "fileBytes";
    if (size > this.limits[limit]) throw this.overLimit(limit, `bytes in ${JSON.stringify(name)}`);
    this.current = name;
    const chunks: Uint8Array[] = [];
    for await (const chunk of content) chunks.push(chunk);
    if (name === manifestName) this.manifest = Buffer.concat(chunks);
    else this.files.set(name, Buffer.concat(chunks));
    this.current = undefined;
  }

  private findProblem(name: string, type: string): Omit<ArchiveProblem, "path"> | undefined {
    const isDirectory = type === "directory";
    const wrong = findNameProblem(isDirectory ? name.replace(/\/$/, "") : name);
    if (wrong !== undefined && !(isDirectory && /^\.\/?$/.test(name))) return { kind: "unreadable", message: wrong };
    if (isDirectory) return undefined;
    if (type !== "file" && type !== "contiguous-file") {
      return { kind: "unreadable", message: `is ${kindNames[type] ?? "of an unknown kind"}, not a file` };
    }
    const isTwice = name === manifestName ? this.manifest !== undefined : this.files.has(name);
    return isTwice ? { kind: "twice", message: "is in the archive twice" } : undefined;
  }

  private overLimit(limit: keyof ArchiveLimits, what: string): ArchiveError {
    return new ArchiveError("over_limit", `The archive has more than ${this.limits[limit]} ${what}.`);
  }
}
