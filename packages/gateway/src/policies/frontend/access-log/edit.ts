import { compileExpression } from '../../../pipeline/expression.ts'
import type { LineChanges } from '../../../telemetry/log/edited-line.ts'
import { type AddedFields, addField } from './add-field.ts'
import type { AccessLogConfig } from './schema.ts'

/** What becomes of the line for something over this scope; null where there is to be none. */
export type EditLine = (scope: object) => LineChanges | null

export function accessLogEdit(config: AccessLogConfig | undefined): EditLine | null {
  const { filter, attributes: { add = [], remove = [] } = {} } = config ?? {}
  if (filter === undefined && add.length === 0 && remove.length === 0) return null
  const condition = filter === undefined ? null : compileExpression(filter, 'log')
  const expressions = add.map(({ name, expression }) => ({ name, ...compileExpression(expression, 'log') }))
  // An added field replaces the line's own of that name, also when it turns out to have no value.
  const removed = new Set([...remove, ...add.map(({ name }) => name)])
  return (scope) => {
    if (condition !== null && condition.evaluate(scope) !== true) return null
    const added: AddedFields = new Map()
    for (const { name, evaluate } of expressions) addField(added, name, evaluate(scope))
    return { removed, added }
  }
}
