/** What an archive may hold. Enforced when one is written, and when one is read, before the memory is taken. */
export interface ArchiveLimits {
  /** Everything unpacked, with the tar's own headers. */
  totalBytes: number;
  fileBytes: number;
  /** Files and folders, the manifest included. */
  files: number;
  /** One name in UTF-8. */
  nameBytes: number;
  manifestBytes: number;
  /** The part of an encrypted file that names the recipients. */
  headBytes: number;
  /** A file in age's armor, which is read as a whole. */
  armoredBytes: number;
}

const mebibyte = 2 ** 20;

export const archiveLimits: Readonly<ArchiveLimits> = {
  totalBytes: 2048 * mebibyte,
  fileBytes: 64 * mebibyte,
  files: 1_000_000,
  nameBytes: 4096,
  manifestBytes: 64 * mebibyte,
  headBytes: mebibyte,
  armoredBytes: 256 * mebibyte,
};
