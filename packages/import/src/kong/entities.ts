import type { Field } from '../core/yaml-field.ts'

/** A service, route, plugin or other entity; absent fields come from the defaults of decK, if the file has some. */
export class Entity {
  readonly field: Field
  readonly #defaults: Field | null

  constructor(field: Field, defaults: Field | null) {
    this.field = field
    this.#defaults = defaults
  }

  get(name: string): Field | null {
    return this.field.get(name) ?? this.#defaults?.get(name) ?? null
  }

  /** Whether `enabled` is absent or true. */
  get isEnabled(): boolean {
    return this.get('enabled')?.text?.toLowerCase() !== 'false'
  }

  /** Marks fields that have no effect on requests. */
  markLabels(): void {
    for (const name of LABELS) this.field.get(name)?.carried('no effect on requests')
  }
}

const LABELS = ['id', 'tags', 'created_at', 'updated_at', 'ws_id', '_comment', '_ignore', 'instance_name', 'run_on']

/** The name or id of a reference: `service: a`, `service: { name: a }` or `service: { id: … }`. */
export function referenceOf(field: Field | null): string | null {
  return field === null ? null : (field.text ?? field.get('name')?.text ?? field.get('id')?.text ?? null)
}

/** Texts of a list, or of a single text. */
export function textsOf(field: Field | null): string[] {
  if (field === null) return []
  return field.text === null ? field.items.flatMap(({ text }) => text ?? []) : [field.text]
}

/** A value of Kong that is taken for the default: the field is carried with it, and has another note with others. */
interface KnownDefault {
  readonly value: unknown
  readonly otherwise: string
  readonly isProtection?: boolean
}

/** Marks fields for which only the default has a counterpart. */
export function markDefaults(get: (name: string) => Field | null, known: Readonly<Record<string, KnownDefault>>): void {
  for (const [name, { value, otherwise, isProtection }] of Object.entries(known)) {
    const field = get(name)
    if (field === null) continue
    if (JSON.stringify(field.plain) === JSON.stringify(value)) field.carried('the default')
    else field.notCarried(otherwise, isProtection)
  }
}
