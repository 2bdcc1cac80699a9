type Json = unknown;
type JsonObject = Record<string, Json>;

function isObject(value: Json): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** RFC 7396. Neither argument is changed; `__proto__` is a member like any other. */
export function applyMergePatch(target: Json, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const result = new Map<string, Json>(isObject(target) ? Object.entries(target) : []);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) result.delete(key);
    else result.set(key, applyMergePatch(result.get(key), value));
  }
  return Object.fromEntries(result);
}

/** RFC 6901 pointers of the deepest members that differ; arrays are compared whole. */
export function changedPointers(before: Json, after: Json, at = ""): string[] {
  if (isObject(before) && isObject(after)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...keys].flatMap((key) =>
      changedPointers(own(before, key), own(after, key), `${at}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`),
    );
  }
  return isSame(before, after) ? [] : [at];
}

function own(value: JsonObject, key: string): Json {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

/** Equality of JSON values; the order of members does not count. */
export function isSame(a: Json, b: Json): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, i) => isSame(item, b[i]));
  if (isObject(a) && isObject(b)) {
    const keys = Object.keys(a);
    return (
      keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && isSame(a[key], b[key]))
    );
  }
  return a === b;
}
