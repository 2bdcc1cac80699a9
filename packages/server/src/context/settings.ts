import { invalidInput, type Refusal } from "../domain/refusal.js";
import type { Context } from "./context.js";
import { defaultCallsPerMinute } from "./rate-limit.js";

interface Setting {
  initial: string;
  /** Undefined when the value is one; else what it has to be. */
  verify(value: string): string | undefined;
}

const callsPerMinuteMost = 10_000_000;

/** What an owner can set. */
const settings: Record<string, Setting> = {
  /** What happens to a write that holds what looks like a credential (pcp section 3). */
  secrets: oneOf("refuse", "warn", "off"),
  /** Calls of one tool by one principal through one client. */
  calls_per_minute: {
    initial: String(defaultCallsPerMinute),
    verify: (value) =>
      /^[1-9]\d*$/.test(value) && Number(value) <= callsPerMinuteMost
        ? undefined
        : `a number from 1 to ${callsPerMinuteMost}`,
  },
};

function oneOf(...values: [string, ...string[]]): Setting {
  return {
    initial: values[0],
    verify: (value) => (values.includes(value) ? undefined : `one of ${values.join(", ")}`),
  };
}

export interface SettingChange {
  name?: string;
  value?: string;
}

/** Sets one setting when both are given. @returns the asked settings as they stand. Refuses with invalid_input. */
export async function chooseSetting(
  context: Context,
  { name, value }: SettingChange,
): Promise<Record<string, string> | Refusal> {
  const setting = name === undefined ? undefined : settings[name];
  if (name !== undefined && !setting) {
    return invalidInput([`"${name}" is no setting; there is: ${Object.keys(settings).join(", ")}`]);
  }
  const wanted = value === undefined ? undefined : setting?.verify(value);
  if (wanted !== undefined) return invalidInput([`${name} is ${wanted}`]);
  if (name !== undefined && value !== undefined) {
    return context.store.write(async (transaction) => {
      await transaction.setSetting(name, value);
      return { [name]: value };
    });
  }
  const names = name === undefined ? Object.keys(settings) : [name];
  const entries: [string, string][] = [];
  for (const each of names) entries.push([each, await readSetting(context, each)]);
  return Object.fromEntries(entries);
}

async function readSetting(context: Context, name: string): Promise<string> {
  const stored = await context.store.read((transaction) => transaction.setting(name));
  return stored ?? settings[name]?.initial ?? "";
}

export async function callsPerMinute(context: Context): Promise<number> {
  return Number(await readSetting(context, "calls_per_minute"));
}
