import { changeFiles } from "./file-changes.js";
import { changePages } from "./page-changes.js";
import { type Action, planSync } from "./plan.js";
import { answerPlan, asks } from "./removals.js";
import { emptyReport, type SyncReport } from "./sync-report.js";
import { pick, type Round, type Survey, type SyncSession, saveState, surveySides } from "./sync-session.js";

/** Each round looks at both sides anew. What comes of one round, such as a conflict's copy, is synced in the next. */
const mostRounds = 12;

/** Makes both sides equal, as far as they let it. @returns what was done, and the sides as they were seen last */
export async function settle(session: SyncSession): Promise<{ report: SyncReport; survey: Survey }> {
  const report = emptyReport();
  for (let count = 1; ; count++) {
    const survey = await surveySides(session);
    Object.assign(report, { open: [], refused: [], left_out: { sensitive: survey.comparison.sensitive } });
    const round: Round = { session, survey, report, hasChanged: false, hasMoved: false };
    await runRound(round);
    const isOver = !round.hasChanged && !round.hasMoved;
    if (!isOver && count < mostRounds && !session.dryRun) continue;
    report.equal = isOver && report.open.length === 0 && report.refused.length === 0;
    return { report, survey };
  }
}

async function runRound(round: Round): Promise<void> {
  const { session, survey } = round;
  const planned = planSync(survey.sides);
  const removals = planned.filter(asks);
  const actions = removals.length > 0 ? answerPlan(planned, await session.decide(removals)) : planned;
  noteLeft(round, actions);
  const hasNoted = noteEntries(survey, actions);
  await changePages(round, actions);
  await changeFiles(round, actions);
  if (hasNoted || survey.state.entries.size === 0) saveState(round);
}

/** @returns whether an entry was changed */
function noteEntries({ state }: Survey, actions: Action[]): boolean {
  const pairs = pick(actions, "pair");
  const forgotten = pick(actions, "forget");
  for (const { path, entry } of pairs) state.entries.set(path, entry);
  for (const { path } of forgotten) state.entries.delete(path);
  return pairs.length + forgotten.length > 0;
}

function noteLeft({ report, survey }: Round, actions: Action[]): void {
  report.open.push(...pick(actions, "leave-open").map(({ path, why }) => ({ path, why })));
  report.refused.push(...survey.scan.unnamed);
  for (const { path, file, reason } of pick(actions, "refuse")) {
    report.refused.push(file === undefined ? { path, reason } : { file, reason });
  }
}
