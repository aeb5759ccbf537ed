import type { ConnectionInfo } from '@portico/http'
import { createConnectionShadow } from '../../../pipeline/shadow/create-shadow-step.ts'
import type { ShadowOutcome } from '../../../records/shadow-outcome.ts'
import type { Env } from '../../../pipeline/context/step.ts'
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

/** Returns the function that judges a connection by shadow rules and counts the outcome once; null without shadow rules. */
export function networkShadow(
  configs: readonly NetworkAuthorizationConfig[],
  { countShadow }: Pick<Env, 'countShadow'>,
): ((info: ConnectionInfo) => ShadowOutcome) | null {
  const judge = networkAuthorization(configs)
  if (judge === null) return null
  const shadow = createConnectionShadow('networkAuthorization', judge, countShadow)
  return (info) => shadow.outcomeFor(info)
}

/**
 * Returns the function that decides whether a connection is admitted, and records the decision of shadow rules first;
 * null without any rules.
 */
export function admitting(
  network: Pick<Judge<ConnectionInfo>, 'allows'> | null,
  shadow: ((info: ConnectionInfo) => ShadowOutcome) | null,
): ((info: ConnectionInfo) => boolean) | null {
  if (shadow === null) return network === null ? null : (info) => network.allows(info)
  return (info) => {
    shadow(info)
    return network === null || network.allows(info)
  }
}
