// Pages of about 1 KB in a made-up language whose words are as unevenly frequent as those of a real one.

const seed = 20260909;
const vocabularySize = 30_000;
const bodyChars = 900;
const folders = 50;

/** Numbers in [0, 1) that are the same for the same seed (mulberry32). */
function createRandom(from) {
  let state = from >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function pick(random, items) {
  return items[Math.floor(random() * items.length)];
}

/** Distinct words of one to five syllables, the frequent ones short. */
function makeVocabulary() {
  const random = createRandom(seed);
  const [starts, vowels, ends] = ["b d f g h k l m n p r s t v br dr kl pr st tr", "a e i o u", "n r s l m"].map(
    (each) => each.split(" "),
  );
  const words = new Set();
  while (words.size < vocabularySize) {
    const syllables = 1 + Math.floor(Math.log10(words.size + 1) * (0.5 + random() * 0.5));
    let word = "";
    for (let at = 0; at < syllables; at++) word += pick(random, starts) + pick(random, vowels);
    words.add(random() < 0.5 ? word + pick(random, ends) : word);
  }
  return [...words];
}

/** Draws the word of rank r with a chance in proportion to 1/r (Zipf). */
function createWordSource() {
  const words = makeVocabulary();
  let total = 0;
  const cumulative = words.map((_, rank) => (total += 1 / (rank + 1)));
  return (random) => {
    const drawn = random() * total;
    let [low, high] = [0, words.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (cumulative[middle] > drawn) high = middle;
      else low = middle + 1;
    }
    return words[low];
  };
}

const drawWord = createWordSource();

function drawWords(random, least, most) {
  const count = least + Math.floor(random() * (most - least + 1));
  return Array.from({ length: count }, () => drawWord(random));
}

function toSentence(words) {
  const text = words.join(" ");
  return `${text[0].toUpperCase()}${text.slice(1)}.`;
}

/** The page of a number: always the same one. `sentences` are lists of words in lower case. */
export function makePage(number) {
  const random = createRandom(seed + 7919 * (number + 1));
  const title = drawWords(random, 4, 7).join(" ");
  const sentences = [];
  let body = "";
  while (body.length < bodyChars) {
    const words = drawWords(random, 6, 14);
    sentences.push(words);
    body += `${toSentence(words)}${sentences.length % 4 === 0 ? "\n\n" : " "}`;
  }
  const tags = [`tag-${number % 7}`, `tag-${number % 11}`];
  return { path: `${folderOf(number)}/page-${number}`, title, tags, body: `${body.trimEnd()}\n`, sentences };
}

export function folderOf(number) {
  return `folder-${number % folders}`;
}

/** The page as a Markdown file, or as a tool's arguments would store it. */
export function toMarkdown({ title, tags, body }) {
  return `---\ntitle: ${title}\ntype: semantic\ntags: [${tags.join(", ")}]\n---\n\n${body}`;
}

/** Queries that page `number` answers. */
export const makeQuery = {
  title: (number) => makePage(number).title,
  /** Three words in a row from inside a sentence. */
  slice(number) {
    const random = createRandom(number + 1);
    const words = pick(random, makePage(number).sentences);
    const start = 1 + Math.floor(random() * (words.length - 3));
    return words.slice(start, start + 3).join(" ");
  },
  /** 5 to 9 words from anywhere in the page. */
  question(number) {
    const random = createRandom(number + 2);
    const words = makePage(number).sentences.flat();
    return `${Array.from({ length: 5 + Math.floor(random() * 5) }, () => pick(random, words)).join(" ")}?`;
  },
};

export const queryKinds = Object.keys(makeQuery);

/** `count` numbers below `pages`, spread over all of them. */
export function spreadNumbers(count, pages) {
  const random = createRandom(seed + count);
  return Array.from({ length: count }, () => Math.floor(random() * pages));
}
