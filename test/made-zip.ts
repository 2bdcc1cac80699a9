import { configure, TextReader, Uint8ArrayWriter, ZipWriter, type ZipWriterAddDataOptions } from "@zip.js/zip.js";

/** A zip with these files, in this order. */
export async function makeZip(
  files: { name: string; text: string; options?: ZipWriterAddDataOptions }[],
): Promise<Uint8Array> {
  configure({ useWebWorkers: false });
  const zip = new ZipWriter(new Uint8ArrayWriter());
  for (const { name, text, options } of files) await zip.add(name, new TextReader(text), options);
  return zip.close();
}
