/** A map of JSON. It may come from a stranger: its keys are read by `member`, never by a bare index. */
export type JsonObject = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Its own member of that name: `constructor` and `__proto__` are names like all others. */
export function member(object: unknown, name: string): unknown {
  return isObject(object) && Object.hasOwn(object, name) ? object[name] : undefined
}

/** The value at the end of a path, or undefined where the path ends early. */
export function valueAt(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce(member, value)
}

export function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = valueAt(value, ...path)
  return Array.isArray(found) ? found : []
}

export function textAt(value: unknown, ...path: readonly string[]): string | undefined {
  const found = valueAt(value, ...path)
  return typeof found === 'string' ? found : undefined
}

/** A map of texts; what is none is left out. */
export function textsAt(value: unknown, ...path: readonly string[]): Record<string, string> {
  const found = valueAt(value, ...path)
  if (!isObject(found)) return {}
  return Object.fromEntries(
    Object.entries(found).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}
