import { computedFields } from '../../../pipeline/expression/computed-fields.ts'
import { compileExpression } from '../../../pipeline/expression/expression.ts'
import type { LineChanges } from '../../../telemetry/log/access-log.ts'
import type { AccessLogConfig } from './schema.ts'

/** Returns the changes to the log line of the request or connection in `scope`; null when no line is written. */
type EditLine = (scope: object) => LineChanges | null

export function accessLogEdit(config: AccessLogConfig | undefined): EditLine | null {
  const fields = computedFields(config?.attributes)
  if (config?.filter === undefined) return fields
  const condition = compileExpression(config.filter, 'log')
  return (scope) => {
    if (condition.evaluate(scope) !== true) return null
    return fields === null ? UNCHANGED : fields(scope)
  }
}

const UNCHANGED: LineChanges = { removed: new Set(), added: new Map() }
