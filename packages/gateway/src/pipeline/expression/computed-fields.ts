import { FlattenedFields, isCelError, type Result, toJson } from '@portico/cel'
import type { LineChanges, LogValue } from '../../telemetry/log/access-log.ts'
import { compileExpression } from './expression.ts'

/** The changes of a config to the fields of a log line or a span. */
interface FieldConfig {
  add?: readonly { name: string; expression: string }[] | undefined
  remove?: readonly string[] | undefined
}

/** Returns a function that computes the added and removed fields for a scope; null when the config changes nothing. */
export function computedFields({ add = [], remove = [] }: FieldConfig = {}): ((scope: object) => LineChanges) | null {
  if (add.length === 0 && remove.length === 0) return null
  const expressions = add.map(({ name, expression }) => ({ name, ...compileExpression(expression, 'log') }))
  const removed = removedFields({ add, remove })
  return (scope) => {
    const added = new Map<string, LogValue>()
    for (const { name, evaluate } of expressions) addField(added, name, evaluate(scope))
    return { removed, added }
  }
}

/** Returns the names of fields to remove; an added field replaces the field of its name even when it has no value. */
export function removedFields({ add = [], remove = [] }: FieldConfig = {}): ReadonlySet<string> {
  return new Set([...remove, ...add.map(({ name }) => name)])
}

/** Adds the result of an expression as a field; an error or null adds nothing. */
export function addField(fields: Map<string, LogValue>, name: string, result: Result): void {
  if (isCelError(result)) return
  if (result instanceof FlattenedFields) {
    for (const [key, value] of result.fields) addField(fields, `${name}.${key}`, value)
    return
  }
  const value = toJson(result)
  if (value === null) return
  // A name appears once in a line: the later value wins, at its own position.
  fields.delete(name)
  if (fields.size < MOST_FIELDS) fields.set(name, value)
}

/** The most fields of one line: clients choose the number of headers, which expressions can flatten into fields. */
const MOST_FIELDS = 256
