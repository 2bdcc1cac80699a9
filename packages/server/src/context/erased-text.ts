/** A run of erased bytes this long that no surviving text holds must be in no file (pcp section 10). */
const runBytes = 24;
/** Any run of `runBytes` holds a whole block that begins at a multiple of this. */
const blockBytes = 12;
/** Words of the index are stored without the beginning they share with the one before, so their ends are looked for too. */
const wordBytes = 6;

/** What begins with the same `wordBytes` bytes. */
interface Beginning {
  /** Where blocks of the erased bytes begin. */
  blocks: number[];
  words: Buffer[];
}

/**
 * What was erased, and how to find a trace of it. First every text that stays is passed to `survive`: what it holds is
 * no trace. Then `isTracedIn` looks into the bytes of files. Chunks overlap by `overlapBytes`.
 */
export class ErasedText {
  static readonly overlapBytes = 64 * 1024;
  private readonly bytes: Buffer;
  /** 1 where a run of `runBytes` begins that a surviving text holds, or that lies in two texts. */
  private readonly surviving: Uint8Array;
  private readonly beginnings = new Map<number, Beginning>();
  /** 1 where something looked for may begin: a quick no for almost every byte. */
  private readonly filter = new Uint8Array(1 << 20);

  constructor({ texts, words }: { texts: Iterable<string>; words: Iterable<string> }) {
    const parts = [...texts].map((text) => Buffer.from(text));
    this.bytes = Buffer.concat(parts);
    this.surviving = new Uint8Array(this.bytes.length);
    let at = 0;
    for (const { length } of parts) {
      at += length;
      this.surviving.fill(1, Math.max(0, at - runBytes + 1), at);
    }
    this.addBlocks();
    for (const end of new Set([...words].flatMap(wordEnds)))
      this.beginning(Buffer.from(end)).words.push(Buffer.from(end));
  }

  /** Of blocks with the same surroundings one stands for all. */
  private addBlocks(): void {
    const known = new Set<string>();
    for (let block = 0; block + blockBytes <= this.bytes.length; block += blockBytes) {
      const around = this.bytes.toString("latin1", Math.max(0, block - blockBytes), block + runBytes);
      if (known.has(around)) continue;
      known.add(around);
      this.beginning(this.bytes.subarray(block, block + blockBytes)).blocks.push(block);
    }
  }

  private beginning(bytes: Buffer): Beginning {
    const key = bytes.readUIntBE(0, wordBytes);
    const known = this.beginnings.get(key) ?? { blocks: [], words: [] };
    this.beginnings.set(key, known);
    this.filter[filterIndex(bytes, 0)] = 1;
    return known;
  }

  /** A text that stays. */
  survive(text: Buffer): void {
    this.visit(text, (beginning, at) => {
      beginning.words = beginning.words.filter((word) => !isAt(text, at, word));
      for (const block of beginning.blocks) this.visitRuns(text, { at, block }, (run) => (this.surviving[run] = 1));
    });
  }

  /** Whether bytes of a file hold what no surviving text holds. */
  isTracedIn(bytes: Buffer): boolean {
    let isTraced = false;
    this.visit(bytes, (beginning, at) => {
      isTraced ||= beginning.words.some((word) => isAt(bytes, at, word));
      for (const block of beginning.blocks)
        this.visitRuns(bytes, { at, block }, (run) => (isTraced ||= this.surviving[run] === 0));
    });
    return isTraced;
  }

  private visit(bytes: Buffer, found: (beginning: Beginning, at: number) => void): void {
    for (let at = 0; at + wordBytes <= bytes.length; at++) {
      if (this.filter[filterIndex(bytes, at)] === 0) continue;
      const beginning = this.beginnings.get(bytes.readUIntBE(at, wordBytes));
      if (beginning) found(beginning, at);
    }
  }

  /** The runs of erased bytes around a block that also stand around a place in `bytes`. */
  private visitRuns(bytes: Buffer, { at, block }: { at: number; block: number }, visit: (run: number) => void): void {
    if (!isAt(bytes, at, this.bytes.subarray(block, block + blockBytes))) return;
    let before = 0;
    while (
      before < blockBytes &&
      bytes[at - before - 1] !== undefined &&
      bytes[at - before - 1] === this.bytes[block - before - 1]
    )
      before++;
    let after = blockBytes;
    while (after < runBytes && bytes[at + after] !== undefined && bytes[at + after] === this.bytes[block + after])
      after++;
    for (let run = block - before; run + runBytes <= block + after; run++) visit(run);
  }
}

function filterIndex(bytes: Buffer, at: number): number {
  const [a = 0, b = 0, c = 0, d = 0] = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
  return ((a << 12) ^ (b << 8) ^ (c << 4) ^ d ^ (d << 10)) & 0xfffff;
}

function isAt(bytes: Buffer, at: number, wanted: Buffer): boolean {
  return at + wanted.length <= bytes.length && bytes.compare(wanted, 0, wanted.length, at, at + wanted.length) === 0;
}

/** The word and what is left of it when its first characters are taken away. */
function wordEnds(word: string): string[] {
  const characters = [...word];
  return characters.map((_, from) => characters.slice(from).join("")).filter((end) => [...end].length >= wordBytes);
}
