import type { Action, OpenKind, RemoveFile, RemovePage } from "./plan.js";

export type Removal = RemovePage | RemoveFile;
export type Answer = "delete" | "keep" | "later";

/** What is asked before it is done. */
export function asks(action: Action): action is Removal {
  return (action.do === "remove-page" || action.do === "remove-file") && action.asks;
}

/**
 * The plan with what asked decided. Erased text is not kept by any answer: a person who wants it writes it anew.
 */
export function answerPlan(actions: Action[], answerOf: (action: Removal) => Answer): Action[] {
  return actions.map((action): Action => {
    if (!asks(action)) return action;
    const answer = answerOf(action);
    if (answer === "delete") return action;
    const { path } = action;
    const isErased = action.do === "remove-file" && action.isErased;
    if (answer === "later" || isErased) return { do: "leave-open", path, why: openKind(action) };
    if (action.do === "remove-page") return { do: "write-file", path, page: action.page };
    return { do: "write-page", path, file: action.file.name, digest: action.file.digest };
  });
}

export function openKind(action: Removal): OpenKind {
  if (action.do === "remove-page") return "file deleted";
  return action.isErased ? "page erased" : "page removed";
}
