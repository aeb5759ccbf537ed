import type { ConnectionInfo } from '@portico/http'
import { createJudge, type Judge, rulesOf } from '../../../pipeline/policy/authorization.ts'
import { compileExpression } from '../../../pipeline/expression/expression.ts'
import type { NetworkAuthorizationConfig } from './schema.ts'

/** Says whether a new connection may go on, and why not; null where nothing was asked for. */
export function networkAuthorization(configs: readonly NetworkAuthorizationConfig[]): Judge<ConnectionInfo> | null {
  if (configs.length === 0) return null
  const judge = createJudge<{ source: ConnectionInfo }>(
    rulesOf(configs).map(({ mode, expression }) => {
      const { source, evaluate } = compileExpression(expression, 'network')
      return { mode, source, evaluate }
    }),
  )
  return {
    allows: (info) => judge.allows({ source: info }),
    denies: (info) => judge.denies({ source: info }),
    explain: (info) => judge.explain({ source: info }),
  }
}
