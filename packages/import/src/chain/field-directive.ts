import type { Directive } from './routes.ts'
import type { Field } from '../core/yaml-field.ts'

/** Wraps a YAML field as a directive of a chain. Notes on the directive go to the field. */
export function directiveOf(field: Field, name: string): Directive {
  return {
    name,
    at: field.at,
    text: field.path,
    carried: (note) => field.carried(note),
    changed: (note, isProtection) => field.changed(note, isProtection),
    notCarried: (note, isProtection) => field.notCarried(note, isProtection),
  }
}

/** Returns the texts of a list field, or the single text of a scalar field. */
export function textsOf(field: Field | null): string[] {
  if (field === null) return []
  return field.text === null ? field.items.flatMap(({ text }) => text ?? []) : [field.text]
}
