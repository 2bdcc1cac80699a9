/** The one file that lists the others. */
export const manifestName = "manifest.json";

/** Why an archive may not hold a file of this name; undefined when it may. */
export function findNameProblem(name: string): string | undefined {
  if (name === "") return "the name is empty";
  if (name.includes("\0")) return "the name holds a NUL";
  if (name.includes("\\")) return "the name holds a backslash";
  if (!name.isWellFormed()) return "the name is no Unicode text";
  if (name.startsWith("/") || /^[A-Za-z]:/.test(name)) return "the name is absolute";
  const parts = name.split("/");
  if (parts.includes("..")) return 'the name holds ".."';
  if (parts.includes(".") || parts.includes("")) return "the name is not in its plain form";
  return undefined;
}
