import type { KeySecretView } from '@portico/gateway/admin-api'

/** A value that a change of a key or a team replaced. */
interface ChangedValue {
  /** `owner`, `secrets` */
  readonly name: string
  /** Null when there was none, or is none. */
  readonly before: string | null
  readonly after: string | null
}

/** The values that differ between the two states of an audit entry, without the times that every change sets. */
export function changedValues(before: object | null, after: object | null): ChangedValue[] {
  const [old, now] = [valuesOf(before), valuesOf(after)]
  const names = [...new Set([...old.keys(), ...now.keys()])]
  return names.flatMap((name) => {
    const [was, is] = [old.get(name) ?? null, now.get(name) ?? null]
    return was === is ? [] : [{ name, before: was, after: is }]
  })
}

/** The fields of an entry stand beside its other values. */
function valuesOf(entry: object | null): ReadonlyMap<string, string> {
  if (entry === null) return new Map()
  const { fields = {}, ...others } = entry as { readonly fields?: object }
  return new Map(
    Object.entries({ ...fields, ...others }).flatMap(([name, value]): [string, string][] =>
      UNINTERESTING.has(name) ? [] : [[name, valueText(name, value)]],
    ),
  )
}

function valueText(name: string, value: unknown): string {
  if (name === 'secrets' && Array.isArray(value)) return (value as readonly KeySecretView[]).map(secretText).join(', ')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function secretText({ prefix, expires }: KeySecretView): string {
  return expires === undefined ? `${prefix}…` : `${prefix}… until ${expires}`
}

const UNINTERESTING: ReadonlySet<string> = new Set(['id', 'name', 'created', 'changed'])
