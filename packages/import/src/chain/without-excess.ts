import type { Condition } from '../http/conditions.ts'
import type { Entry } from '../http/entries.ts'
import { statusReply } from './replies.ts'
import { type Directive, TooManyRoutes } from './routes.ts'
import { FIRST_STATE } from './state.ts'

/**
 * Returns the entries of a site or router; a single entry with status 501 when its conditional directives lead to too
 * many routes.
 */
export function withoutExcess(statement: Directive, condition: Condition, read: () => Entry[]): Entry[] {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof TooManyRoutes)) throw error
    statement.notCarried('the conditional directives lead to too many routes; matching requests get 501', true)
    return [{ condition, action: statusReply(statement, 501, FIRST_STATE), refused: () => null }]
  }
}
