import type { Field } from '../core/yaml-field.ts'

/** A service, route, plugin or other entity of Kong. Absent fields are taken from the defaults in a decK file. */
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

  /** Whether the entity is enabled: `enabled` is absent or true. */
  get isEnabled(): boolean {
    return this.get('enabled')?.text?.toLowerCase() !== 'false'
  }

  /** Reports fields that have no effect on requests, such as tags, as carried. */
  markLabels(): void {
    for (const name of LABELS) this.field.get(name)?.carried('the field has no effect on requests')
  }
}

const LABELS = ['id', 'tags', 'created_at', 'updated_at', 'ws_id', '_comment', '_ignore', 'instance_name', 'run_on']

/** Returns the name or id in a reference: `service: a`, `service: { name: a }` or `service: { id: … }`. */
export function referenceOf(field: Field | null): string | null {
  return field === null ? null : (field.text ?? field.get('name')?.text ?? field.get('id')?.text ?? null)
}

/** Returns the texts of a list field, or the single text of a scalar field. */
export function textsOf(field: Field | null): string[] {
  if (field === null) return []
  return field.text === null ? field.items.flatMap(({ text }) => text ?? []) : [field.text]
}

/**
 * A field of Kong of which only one value has a counterpart: usually its default. `otherwise` is the note in the import
 * report for all other values.
 */
interface KnownDefault {
  readonly value: unknown
  readonly otherwise: string
  readonly isProtection?: boolean
}

/** Reports fields of which only the default value has a counterpart. */
export function markDefaults(get: (name: string) => Field | null, known: Readonly<Record<string, KnownDefault>>): void {
  for (const [name, { value, otherwise, isProtection }] of Object.entries(known)) {
    const field = get(name)
    if (field === null) continue
    if (JSON.stringify(field.plain) === JSON.stringify(value)) field.carried('the value is the default')
    else field.notCarried(otherwise, isProtection)
  }
}
