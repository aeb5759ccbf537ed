import { isObject } from '@portico/http/json'

/** A JSON object, possibly untrusted: read its keys with `member`, never with a bare index. */
export type JsonObject = Readonly<Record<string, unknown>>

/** Returns the own member of that name, so `constructor` and `__proto__` are ordinary names. */
export function member(object: unknown, name: string): unknown {
  return isObject(object) && Object.hasOwn(object, name) ? object[name] : undefined
}

/** Returns the value at a path, or undefined when the path does not exist. */
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

/** Returns the string members of the object at a path; other members are left out. */
export function textsAt(value: unknown, ...path: readonly string[]): Record<string, string> {
  const found = valueAt(value, ...path)
  if (!isObject(found)) return {}
  return Object.fromEntries(
    Object.entries(found).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}
