import { Flattened, isCelError, type Result, toJson } from '@portico/cel'
import type { LogValue } from '../../../telemetry/log/edited-line.ts'

export type AddedFields = Map<string, LogValue>

/** Notes the result of an expression under a name; a failure or null leaves the field out. */
export function addField(fields: AddedFields, name: string, result: Result): void {
  if (isCelError(result)) return
  if (result instanceof Flattened) {
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
