import type { Field } from '../../core/yaml-field.ts'

/** The member of a message at a path of names in snake case; configs may write names in camel case too. */
export function memberAt(message: Field | null, ...path: readonly string[]): Field | null {
  let found = message
  for (const name of path) found = found?.get(name) ?? found?.get(camelCase(name)) ?? null
  return found
}

function camelCase(name: string): string {
  return name.replaceAll(/_([a-z0-9])/g, (_all, sign: string) => sign.toUpperCase())
}

/** The members of a message with their names in snake case. */
export function membersOf(message: Field | null): (readonly [string, Field])[] {
  return (message?.members ?? []).map(([name, field]) => [
    name.replaceAll(/[A-Z]/g, (sign) => `_${sign.toLowerCase()}`),
    field,
  ])
}

/** The items of a list; a message in place of a list is its only item. */
export function listAt(message: Field | null, ...path: readonly string[]): readonly Field[] {
  const field = memberAt(message, ...path)
  return field?.isMapping === true ? [field] : (field?.items ?? [])
}

/** The text at a path, which is then marked as carried; null without a text. */
export function takeText(message: Field | null, ...path: readonly string[]): string | null {
  const field = memberAt(message, ...path)
  field?.carried()
  return field?.text ?? null
}

/** Whether a flag is true; the flag is then marked as carried. */
export function takeFlag(message: Field | null, ...path: readonly string[]): boolean {
  const field = memberAt(message, ...path)
  field?.carried()
  return field?.isTrue === true
}

/** The seconds of a duration such as `0.25s`; null for other texts. */
export function secondsOf(field: Field | null): number | null {
  const found = /^(\d{1,9}(?:\.\d{1,9})?)s$/.exec(field?.text ?? '')
  return found === null ? null : Number(found[1])
}

/** An enumeration value, such as `STRICT_DNS`; `unset` without a value. */
export function enumOf(field: Field | null, unset: string): string {
  return field?.text?.toUpperCase() ?? unset
}

/** The type of a message without its version: `filters.http.router`; empty without a type. */
export function typeOf(message: Field | null): string {
  const text = message?.get('@type')?.text ?? ''
  return /^(?:.*\/)?envoy\.(?:extensions\.|config\.)?([\w.]+)\.v\d\w*\.\w+$/.exec(text)?.[1] ?? ''
}

/** The config of an extension. Its type is marked as carried when the importer knows it. */
export function typedConfig(extension: Field | null): Field | null {
  const config = memberAt(extension, 'typed_config')
  if (typeOf(config) !== '') config?.get('@type')?.carried()
  return config
}

const DENOMINATORS: Readonly<Record<string, number>> = { HUNDRED: 100, TEN_THOUSAND: 10_000, MILLION: 1_000_000 }

/** A FractionalPercent as a percentage; null for other values. */
export function percentOf(fraction: Field | null): number | null {
  if (fraction === null) return null
  const whole = DENOMINATORS[enumOf(memberAt(fraction, 'denominator'), 'HUNDRED')]
  const part = memberAt(fraction, 'numerator')?.number ?? 0
  return whole === undefined ? null : Math.min(100, (part / whole) * 100)
}

/** The percentage of a RuntimeFractionalPercent, without its key of the runtime; `unset` without a value. */
export function runtimePercentOf(fraction: Field | null, unset: number): number {
  return percentOf(memberAt(fraction, 'default_value')) ?? unset
}
