/** `2026-01-31 120000`, UTC. */
function stamp(atMs: number): string {
  const [day, time = ""] = new Date(atMs).toISOString().split("T");
  return `${day} ${time.slice(0, 8).replaceAll(":", "")}`;
}

const maxBytes = 255;
const maxCharacters = 255;

/**
 * Where the folder's text of a conflict goes: a path beside the page's own that `isTaken` does not know, short enough for a
 * page and for a file.
 */
export function nameConflict(path: string, atMs: number, isTaken: (path: string) => boolean): string {
  const cut = path.lastIndexOf("/") + 1;
  const [folder, name] = [path.slice(0, cut), [...path.slice(cut)]];
  for (let count = 1; ; count++) {
    const suffix = ` (conflict ${stamp(atMs)}${count === 1 ? "" : ` ${count}`})`;
    while (name.length > 0 && !fits(folder, name.join("") + suffix)) name.pop();
    const named = folder + name.join("") + suffix;
    if (!isTaken(named)) return named;
  }
}

function fits(folder: string, name: string): boolean {
  return [...folder, ...name].length <= maxCharacters && Buffer.byteLength(`${name}.md`) <= maxBytes;
}

/** Whether a path is one that `nameConflict` gives for this one. */
export function isConflictOf(path: string, copy: string): boolean {
  return copy.startsWith(`${path} (conflict `);
}
