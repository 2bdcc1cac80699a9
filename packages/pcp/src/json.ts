export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };

/** True for an object that JSON could have given: neither null nor an array nor an instance of a class. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null;
}

export function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}

/** One more step of an RFC 6901 pointer. */
export function childPointer(pointer: string, key: string | number): string {
  return `${pointer}/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}
