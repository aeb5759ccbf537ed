import type { ConnectionInfo } from '../../../net/exchange.ts'
import { createJudge, rulesOf } from '../../../pipeline/authorization.ts'
import { compileExpression } from '../../../pipeline/expression.ts'
import type { NetworkAuthorizationConfig } from './schema.ts'

/** Says whether a new connection may go on; null where nothing was asked for. */
export function networkAuthorization(
  configs: readonly NetworkAuthorizationConfig[],
): ((info: ConnectionInfo) => boolean) | null {
  if (configs.length === 0) return null
  const judge = createJudge<{ source: ConnectionInfo }>(
    rulesOf(configs).map(({ mode, expression }) => {
      const { source, evaluate } = compileExpression(expression, 'network')
      return { mode, source, evaluate }
    }),
  )
  return (info) => judge.allows({ source: info })
}
