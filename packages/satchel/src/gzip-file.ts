import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { ForeignFile } from "@satchel/server";
import { fileLimitBytes } from "./folder.js";
import { UsageError } from "./usage-error.js";

const inflate = promisify(gunzip);

export function isGzip(head: Uint8Array): boolean {
  return head[0] === 0x1f && head[1] === 0x8b;
}

/** One file that was packed with gzip, under its name without `.gz`. @throws UsageError when it is damaged or over the limit */
export async function readGzip(path: string, limitBytes = fileLimitBytes): Promise<ForeignFile> {
  const packed = await readFile(path);
  try {
    return {
      name: basename(path).replace(/\.gz$/i, ""),
      bytes: await inflate(packed, { maxOutputLength: limitBytes }),
    };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE")
      throw new UsageError(`${path} unpacks to more than ${limitBytes} bytes. No export of memory is that large.`);
    throw new UsageError(`${path} is damaged: download or pack it again.`);
  }
}
