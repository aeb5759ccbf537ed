import type { ExpressionPhase } from '../expressions/variables.ts'
import { readsOf } from './expressions.ts'
import { policyOf, type RouteView } from './subject.ts'

/** Variables that an authentication sets, with the policies that set them. */
const SETTERS = {
  jwt: ['jwtAuthentication', 'mcpAuthentication'],
  apiKey: ['apiKeyAuthentication'],
  basicAuth: ['basicAuthentication'],
} as const

type IdentityVariable = keyof typeof SETTERS

/** The variables of identities that an expression reads and that no policy of the route sets. */
export function unsetIdentities(
  expression: string,
  view: RouteView,
  phase: ExpressionPhase = 'request',
): IdentityVariable[] {
  const roots = new Set(readsOf(expression, phase).map(([root]) => root))
  return identityVariables.filter((name) => roots.has(name) && !isSet(view, name))
}

export const identityVariables = Object.keys(SETTERS) as IdentityVariable[]

/** The policy that sets a variable, for messages. */
export function setterOf(name: IdentityVariable): string {
  return SETTERS[name][0]
}

function isSet(view: RouteView, name: IdentityVariable): boolean {
  return SETTERS[name].some((policy) => policyOf(view, policy) !== undefined)
}

/** Whether a route requires a valid credential, asks an external authorizer, or has rules. */
export function isGuarded(view: RouteView): boolean {
  const { traffic, early } = view
  const isStrict = (
    ['jwtAuthentication', 'mcpAuthentication', 'apiKeyAuthentication', 'basicAuthentication'] as const
  ).some((name) => policyOf(view, name)?.mode === 'Strict')
  const others = ['authorization', 'extAuth', 'extProc'] as const
  return isStrict || others.some((name) => traffic[name] !== undefined || early[name] !== undefined)
}
