import type { Directive } from './routes.ts'
import type { Field } from '../core/yaml-field.ts'

/** A field as a directive of a chain; its note does not replace those of the fields below. */
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

/** The texts of a list, or of a single text. */
export function textsOf(field: Field | null): string[] {
  if (field === null) return []
  return field.text === null ? field.items.flatMap(({ text }) => text ?? []) : [field.text]
}
