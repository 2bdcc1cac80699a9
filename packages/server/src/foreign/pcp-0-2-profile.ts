import { isExtensionNamespace } from "@satchel/pcp";
import { jsonOf } from "./file-text.js";
import type { ForeignFile } from "./foreign-format.js";
import type { ReadingBuilder } from "./reading-builder.js";
import { isObject, isTooDeep } from "./values.js";

/** PCP 0.1 was called HCS, and its namespaces with it. */
export const profileNamespace = (namespace: string): string =>
  namespace.replace(/^hcs\./, "pcp.").replace(/^profile\./, "");

/** The namespace of a file in `profile/`, by its name. */
export function namespaceOf(name: string): string | undefined {
  const found = /^profile\/([^/]+)\.json$/.exec(name)?.[1];
  return found === undefined ? undefined : profileNamespace(found);
}

export function addProfile(
  file: ForeignFile,
  namespace: string,
  { profiles, reading }: { profiles: Record<string, Record<string, unknown>>; reading: ReadingBuilder },
): void {
  const place = { file: file.name };
  if (namespace !== "core" && namespace !== "team" && !isExtensionNamespace(namespace)) {
    reading.refuse(place, "no name of a profile here: rename it (letters, digits, dashes; parts joined by dots)");
    return;
  }
  const json = jsonOf(file);
  if (!json.ok) {
    reading.addRefused(json.refused);
    return;
  }
  if (!isObject(json.value)) {
    reading.refuse(place, "a profile is one JSON object: export it again");
    return;
  }
  if (isTooDeep(json.value)) {
    reading.refuse(place, "nested too deep for a profile: make it flatter");
    return;
  }
  if (Object.hasOwn(profiles, namespace)) {
    reading.refuse(place, "a second document of this profile: delete one");
    return;
  }
  profiles[namespace] = json.value;
}
