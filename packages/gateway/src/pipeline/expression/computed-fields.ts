import { FlattenedFields, isCelError, type Result, toJson } from '@portico/cel'
import type { LineChanges, LogValue } from '../../telemetry/log/edited-line.ts'
import { compileExpression } from './expression.ts'

/** How a config changes what is told of something that is over. */
export interface FieldConfig {
  add?: readonly { name: string; expression: string }[] | undefined
  remove?: readonly string[] | undefined
}

/** What is told, and what is not, over the scope of something that is over; null where all stays as it is. */
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

/** An added field replaces the one of that name, also when it turns out to have no value. */
export function removedFields({ add = [], remove = [] }: FieldConfig = {}): ReadonlySet<string> {
  return new Set([...remove, ...add.map(({ name }) => name)])
}

/** Notes the result of an expression under a name; a failure or null leaves the field out. */
export function addField(fields: Map<string, LogValue>, name: string, result: Result): void {
  if (isCelError(result)) return
  if (result instanceof FlattenedFields) {
    for (const [key, value] of result.fields) addField(fields, `${name}.${key}`, value)
    return
  }
  const value = toJson(result)
  if (value === null) return
  // One name stands in a line once: of two values the later one, at its own place.
  fields.delete(name)
  if (fields.size < MOST_FIELDS) fields.set(name, value)
}

/** Clients decide how many headers there are to be flattened. */
const MOST_FIELDS = 256
