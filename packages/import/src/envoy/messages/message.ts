import type { Field } from '../../core/yaml-field.ts'

/** Returns the member of a message at a path of names in snake case. The file may have the names in camel case. */
export function memberAt(message: Field | null, ...path: readonly string[]): Field | null {
  let found = message
  for (const name of path) found = found?.get(name) ?? found?.get(camelCase(name)) ?? null
  return found
}

function camelCase(name: string): string {
  return name.replaceAll(/_([a-z0-9])/g, (_all, sign: string) => sign.toUpperCase())
}

/** Returns the members of a message, with names in snake case. */
export function membersOf(message: Field | null): (readonly [string, Field])[] {
  return (message?.members ?? []).map(([name, field]) => [
    name.replaceAll(/[A-Z]/g, (sign) => `_${sign.toLowerCase()}`),
    field,
  ])
}

/** Returns the items of a list. A message in place of a list counts as its only item. */
export function listAt(message: Field | null, ...path: readonly string[]): readonly Field[] {
  const field = memberAt(message, ...path)
  return field?.isMapping === true ? [field] : (field?.items ?? [])
}

/** Returns the text at a path and reports the field as carried; null when there is no text. */
export function takeText(message: Field | null, ...path: readonly string[]): string | null {
  const field = memberAt(message, ...path)
  field?.carried()
  return field?.text ?? null
}

/** Returns whether the flag at a path is true, and reports the field as carried. */
export function takeFlag(message: Field | null, ...path: readonly string[]): boolean {
  const field = memberAt(message, ...path)
  field?.carried()
  return field?.isTrue === true
}

/** Returns the seconds of a duration such as `0.25s`; null for other texts. */
export function secondsOf(field: Field | null): number | null {
  const found = /^(\d{1,9}(?:\.\d{1,9})?)s$/.exec(field?.text ?? '')
  return found === null ? null : Number(found[1])
}

/** Returns an enumeration value, such as `STRICT_DNS`; `unset` when the field has no value. */
export function enumOf(field: Field | null, unset: string): string {
  return field?.text?.toUpperCase() ?? unset
}

/**
 * Returns the type of a message without its version, such as `filters.http.router`; empty when the message has no type.
 */
export function typeOf(message: Field | null): string {
  const text = message?.get('@type')?.text ?? ''
  return /^(?:.*\/)?envoy\.(?:extensions\.|config\.)?([\w.]+)\.v\d\w*\.\w+$/.exec(text)?.[1] ?? ''
}

/** Returns the config of an extension, and reports its type as carried when the type is one of Envoy's. */
export function typedConfig(extension: Field | null): Field | null {
  const config = memberAt(extension, 'typed_config')
  if (typeOf(config) !== '') config?.get('@type')?.carried()
  return config
}

const DENOMINATORS: Readonly<Record<string, number>> = { HUNDRED: 100, TEN_THOUSAND: 10_000, MILLION: 1_000_000 }

/** Returns a FractionalPercent as a percentage; null for other values. */
export function percentOf(fraction: Field | null): number | null {
  if (fraction === null) return null
  const whole = DENOMINATORS[enumOf(memberAt(fraction, 'denominator'), 'HUNDRED')]
  const part = memberAt(fraction, 'numerator')?.number ?? 0
  return whole === undefined ? null : Math.min(100, (part / whole) * 100)
}

/**
 * Returns the default value of a RuntimeFractionalPercent as a percentage; `unset` when there is none. The runtime key
 * is ignored.
 */
export function runtimePercentOf(fraction: Field | null, unset: number): number {
  return percentOf(memberAt(fraction, 'default_value')) ?? unset
}
