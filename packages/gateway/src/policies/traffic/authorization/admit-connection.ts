import { CelError, compile, type Result } from '@portico/cel'
import { environmentFor } from '../../../pipeline/expression/expression.ts'
import { createJudge, type Judge, type Rule, rulesOf } from '../../../pipeline/policy/authorization.ts'
import { createConnectionShadow } from '../../../pipeline/shadow/create-shadow-step.ts'
import type { CountShadow } from '../../../telemetry/metrics/shadow-metrics.ts'
import type { AdmitConnection, RoutedConnection } from '../../../pipeline/compiled/compiled.ts'
import type { ProxyIdentity } from '../../../pipeline/context/proxy-identity.ts'
import { ProxyView } from '../../../pipeline/views/scope.ts'
import { SourceView } from '../../../pipeline/views/source-view.ts'
import type { AuthorizationConfig } from './schema.ts'

/**
 * Returns whether a route may serve a connection without HTTP; null when there are no rules. Each phase has its own rules,
 * and all phases must allow the connection.
 */
export function connectionAuthorization(
  phases: readonly (readonly AuthorizationConfig[])[],
  shadows: readonly AuthorizationConfig[],
  services: { identity: ProxyIdentity; random: () => number; countShadow: CountShadow },
): AdmitConnection | null {
  const admit = enforcedAuthorization(phases, services)
  if (shadows.length === 0) return admit
  const judge = createJudge(rulesOf(shadows).map(toRule))
  const shadow = createConnectionShadow('authorization', judge, NOT_COUNTED)
  return (subject) => {
    if (subject.addShadow !== undefined) {
      const outcome = shadow.outcomeFor(new ConnectionScope(subject, services))
      services.countShadow('authorization', subject.route?.name ?? 'unknown', outcome.outcome)
      subject.addShadow(outcome)
    }
    return admit === null || admit(subject)
  }
}

const NOT_COUNTED = (): void => {}

function enforcedAuthorization(
  phases: readonly (readonly AuthorizationConfig[])[],
  services: { identity: ProxyIdentity; random: () => number },
): AdmitConnection | null {
  const judges = phases
    .filter((configs) => configs.length > 0)
    .map((configs) => createJudge(rulesOf(configs).map(toRule)))
  if (judges.length === 0) return null
  return (subject) => {
    const scope = new ConnectionScope(subject, services)
    return judges.every((judge: Judge<ConnectionScope>) => judge.allows(scope))
  }
}

/** A rule about a request, which a connection without HTTP does not have, fails: it allows nothing, or denies. */
function toRule({ mode, expression }: ReturnType<typeof rulesOf>[number]): Rule<ConnectionScope> {
  const compiled = compileRule(expression)
  const fault = new CelError('failed', 'the connection has no request')
  return {
    mode,
    source: expression,
    evaluate: compiled.ok ? (scope): Result => compiled.program.evaluate(scope) : () => fault,
  }
}

/** Whether an expression reads only what a connection without HTTP has. */
export function isConnectionRule(expression: string): boolean {
  return compileRule(expression).ok
}

function compileRule(expression: string): ReturnType<typeof compile> {
  return compile(expression, environmentFor('connection'))
}

/** The variables of a connection without HTTP. */
class ConnectionScope {
  readonly source: SourceView
  readonly proxy: ProxyView
  readonly env: ProxyIdentity
  readonly random: () => number

  constructor(subject: RoutedConnection, { identity, random }: { identity: ProxyIdentity; random: () => number }) {
    this.source = new SourceView(subject.connection)
    this.proxy = new ProxyView(subject, identity)
    this.env = identity
    this.random = random
  }
}
