import { invalidInput, type Refusal } from "../domain/refusal.js";
import type { Context } from "./context.js";

/** What an owner can set, its values, and the first one as the default. */
const settings: Record<string, readonly string[]> = {
  /** What happens to a write that holds what looks like a credential (pcp section 3). */
  secrets: ["refuse", "warn", "off"],
};

export interface SettingChange {
  name?: string;
  value?: string;
}

/** Sets one setting when both are given. @returns the asked settings as they stand. Refuses with invalid_input. */
export async function chooseSetting(
  context: Context,
  { name, value }: SettingChange,
): Promise<Record<string, string> | Refusal> {
  const allowed = name === undefined ? undefined : settings[name];
  if (name !== undefined && !allowed)
    return invalidInput([`"${name}" is no setting; there is: ${Object.keys(settings).join(", ")}`]);
  if (value !== undefined && !allowed?.includes(value)) {
    return invalidInput([`${name} is one of ${allowed?.join(", ")}`]);
  }
  if (name !== undefined && value !== undefined) {
    await context.store.write((transaction) => transaction.setSetting(name, value));
  }
  const names = name === undefined ? Object.keys(settings) : [name];
  const entries = await context.store.read(async (transaction) => {
    const found: [string, string][] = [];
    for (const each of names) found.push([each, (await transaction.setting(each)) ?? settings[each]?.[0] ?? ""]);
    return found;
  });
  return Object.fromEntries(entries);
}
