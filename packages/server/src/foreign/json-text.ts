export type JsonText =
  | { ok: true; value: unknown /** The line, from 1, where an object or list near the root starts. */; lineOf: LineOf }
  | { ok: false; line: number };

export type LineOf = (value: unknown) => number | undefined;

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const BLANK = /[ \t\n\r]*/y;
const WORDS: readonly (readonly [string, null | boolean])[] = [
  ["null", null],
  ["true", true],
  ["false", false],
];

// Entries of an export lie this near its root; the places of deeper values are not kept.
const PLACED_DEPTH = 4;

/**
 * JSON with the lines of its entries, which JSON.parse does not tell. Numbers that a double can't hold become text with
 * the digits that were written. `__proto__` is a key like any other. Takes any depth; time is linear.
 */
export function parseJson(text: string): JsonText {
  const reader = new JsonReader(text);
  try {
    const value = reader.read();
    return reader.isAtEnd() ? { ok: true, value, lineOf: reader.lineOf } : { ok: false, line: reader.line() };
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    return { ok: false, line: reader.line() };
  }
}

/** The values of one line of JSON Lines: more than one where the line end between them was lost. */
export function parseJsonRun(text: string): unknown[] | undefined {
  const reader = new JsonReader(text);
  const values: unknown[] = [];
  try {
    while (!reader.isAtEnd()) values.push(reader.read());
    return values;
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    return undefined;
  }
}

class JsonFault extends Error {}

interface Open {
  container: unknown[] | Record<string, unknown>;
  key?: string;
}

class JsonReader {
  readonly #text: string;
  readonly #places = new Map<unknown, number>();
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  readonly lineOf: LineOf = (value) => {
    const place = this.#places.get(value);
    return place === undefined ? undefined : this.#lineAt(place);
  };

  line(): number {
    return this.#lineAt(this.#at);
  }

  isAtEnd(): boolean {
    this.#skip();
    return this.#at >= this.#text.length;
  }

  /** One value, with a stack of its own: depth can't exhaust ours. */
  read(): unknown {
    const open: Open[] = [];
    for (;;) {
      this.#skip();
      const opened = this.#openContainer(open);
      if (opened && !this.#isEmpty(opened)) {
        if (!Array.isArray(opened.container)) opened.key = this.#key();
        open.push(opened);
        continue;
      }
      let value = opened ? opened.container : this.#scalar();
      for (;;) {
        const parent = open.at(-1);
        if (!parent) return value;
        put(parent, value);
        if (this.#isNext(parent)) break;
        value = open.pop()!.container;
      }
    }
  }

  #openContainer(open: readonly Open[]): Open | undefined {
    const sign = this.#text[this.#at];
    if (sign !== "{" && sign !== "[") return undefined;
    const container = sign === "[" ? [] : {};
    if (open.length < PLACED_DEPTH) this.#places.set(container, this.#at);
    this.#at += 1;
    return { container };
  }

  #isEmpty({ container }: Open): boolean {
    this.#skip();
    if (this.#text[this.#at] !== (Array.isArray(container) ? "]" : "}")) return false;
    this.#at += 1;
    return true;
  }

  // After a value: true when another one follows in the same container.
  #isNext(parent: Open): boolean {
    this.#skip();
    const isList = Array.isArray(parent.container);
    const sign = this.#text[this.#at];
    if (sign !== "," && sign !== (isList ? "]" : "}")) throw new JsonFault();
    this.#at += 1;
    if (sign !== ",") return false;
    if (!isList) parent.key = this.#key();
    return true;
  }

  #key(): string {
    this.#skip();
    if (this.#text[this.#at] !== '"') throw new JsonFault();
    const key = this.#string();
    this.#skip();
    if (this.#text[this.#at] !== ":") throw new JsonFault();
    this.#at += 1;
    return key;
  }

  #scalar(): unknown {
    if (this.#text[this.#at] === '"') return this.#string();
    for (const [word, value] of WORDS) {
      if (!this.#text.startsWith(word, this.#at)) continue;
      this.#at += word.length;
      return value;
    }
    NUMBER.lastIndex = this.#at;
    const digits = NUMBER.exec(this.#text)?.[0];
    if (digits === undefined) throw new JsonFault();
    this.#at += digits.length;
    const number = Number(digits);
    const isExact = Number.isFinite(number) && (!/^-?\d+$/.test(digits) || Number.isSafeInteger(number));
    return isExact ? number : digits;
  }

  #string(): string {
    const start = this.#at;
    let end = start + 1;
    for (let code = this.#text.charCodeAt(end); code !== 0x22; code = this.#text.charCodeAt(end)) {
      if (Number.isNaN(code)) throw new JsonFault();
      end += code === 0x5c ? 2 : 1;
    }
    try {
      const value = JSON.parse(this.#text.slice(start, end + 1)) as string;
      this.#at = end + 1;
      return value;
    } catch {
      throw new JsonFault();
    }
  }

  #skip(): void {
    BLANK.lastIndex = this.#at;
    BLANK.test(this.#text);
    this.#at = BLANK.lastIndex;
  }

  #starts: number[] | undefined;

  #lineAt(offset: number): number {
    this.#starts ??= lineStarts(this.#text);
    let [low, high] = [0, this.#starts.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.#starts[middle]! <= offset) low = middle;
      else high = middle;
    }
    return low + 1;
  }
}

function put({ container, key }: Open, value: unknown): void {
  if (Array.isArray(container)) container.push(value);
  else if (key === "__proto__") {
    Object.defineProperty(container, key, { value, enumerable: true, configurable: true, writable: true });
  } else container[key!] = value;
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}
