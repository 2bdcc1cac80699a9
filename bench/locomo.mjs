// LoCoMo: each conversation is a context, each turn a page; recall of the turns that hold the evidence.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { openSatchel } from "./connection.mjs";
import { mean } from "./figures.mjs";
import { importFolder, note } from "./workspace.mjs";

const depths = [5, 10, 20];
const categories = { 1: "multi-hop", 2: "temporal", 3: "open domain", 4: "single-hop" };

function readLines(folder, name) {
  const lines = readFileSync(join(folder, name), "utf8").trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line));
}

/** `D4:13` has a character that no path may hold. */
function pathOf(turnId) {
  return `turns/${turnId.replace(":", "/")}`;
}

function pageOf({ speaker, date_time: at, text, caption }) {
  const title = JSON.stringify(`${speaker}, ${at}`);
  const picture = caption ? `\nPicture: ${caption}\n` : "";
  return `---\ntitle: ${title}\ntype: episodic\n---\n\n${text}\n${picture}`;
}

async function loadConversation(dataDir, folder, turns) {
  for (const turn of turns) {
    const file = join(folder, `${pathOf(turn.dia_id)}.md`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, pageOf(turn));
  }
  const { applied, refused } = await importFolder(dataDir, folder);
  if (!applied) throw new Error(`The import was refused: ${JSON.stringify(refused.slice(0, 5))}`);
}

/** Share of the evidence turns among the first k hits, per depth. */
async function askQuestion(connection, { category, question, evidence }) {
  const { structuredContent } = await connection.call("memory_search", { query: question, limit: Math.max(...depths) });
  const found = structuredContent.results.map(({ path }) => path);
  const wanted = evidence.map(pathOf);
  const recalls = depths.map((k) => mean(wanted.map((path) => Number(found.slice(0, k).includes(path)))));
  return { category, recalls };
}

async function measureConversation(workFolder, conversation, { turns, questions }) {
  note(`${conversation}: ${turns.length} turns, ${questions.length} questions`);
  const dataDir = join(workFolder, conversation, "data");
  await loadConversation(dataDir, join(workFolder, conversation, "pages"), turns);
  const connection = await openSatchel(dataDir, "--scopes", "memory:read");
  const answers = [];
  try {
    for (const question of questions) answers.push(await askQuestion(connection, question));
  } finally {
    await connection.close();
  }
  return answers;
}

function row(name, answers) {
  const recalls = depths.map((_, at) => mean(answers.map((answer) => answer.recalls[at])));
  return { name, questions: answers.length, recalls };
}

/** Recall at 5, 10 and 20 per category, over all questions of 1 to 4, and as the mean of the four categories. */
export async function measureLocomo(folder, workFolder) {
  const turns = readLines(folder, "memory.jsonl");
  const questions = readLines(folder, "questions.jsonl").filter(
    ({ category, evidence }) => category in categories && evidence.length > 0,
  );
  const answers = [];
  for (const conversation of new Set(turns.map((turn) => turn.conversation))) {
    const own = (item) => item.conversation === conversation;
    const parts = { turns: turns.filter(own), questions: questions.filter(own) };
    answers.push(...(await measureConversation(workFolder, conversation, parts)));
  }
  const rows = Object.entries(categories).map(([number, meaning]) =>
    row(
      `${number} ${meaning}`,
      answers.filter(({ category }) => category === Number(number)),
    ),
  );
  const macro = depths.map((_, at) => mean(rows.map(({ recalls }) => recalls[at])));
  return [
    ...rows,
    row("1 to 4, all questions", answers),
    { name: "1 to 4, mean of categories", questions: answers.length, recalls: macro },
  ];
}
