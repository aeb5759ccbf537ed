import { positionText } from '../core/source.ts'
import type { Action } from '../http/entries.ts'
import type { Directive, Handler } from './routes.ts'
import { policiesOf, type State } from './state.ts'

/** Returns a route action that responds with a status instead of calling a backend. */
export function statusReply(statement: Directive, status: number, state: State, response: object = {}): Action {
  const body =
    status === 501 ? { body: `not imported: ${statement.name.slice(0, 40)} at ${positionText(statement.at)}\n` } : {}
  return {
    ...{ name: `${statement.name}-${statement.at.line}`, at: statement.at, source: statement.text, backends: [] },
    policies: { ...policiesOf(state, false), directResponse: { status, ...body, ...response } },
    outcome: { kind: 'status', status },
  }
}

export function final(action: (state: State) => Action): Handler {
  return { kind: 'final', action }
}

/** Returns a handler that responds with 501, so that requests do not reach the upstream of another directive. */
export function notImported(statement: Directive): Handler {
  return final((state) => statusReply(statement, 501, state))
}

/** Returns a handler that responds with 403, for a directive that may deny requests and cannot be imported. */
export function closed(statement: Directive): Handler {
  const body = `not imported: ${statement.name.slice(0, 40)} at ${positionText(statement.at)}\n`
  return final((state) => statusReply(statement, 403, state, { body }))
}
