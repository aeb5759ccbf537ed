import type { Handler } from './routes.ts'
import type { State } from './state.ts'

/**
 * Returns a handler that applies an effect to all requests of a directive, even when the importer is not sure that they
 * match the directive's condition.
 */
export function effect(apply: (state: State) => State): Handler {
  return { kind: 'effect', apply, applyIf: null, ifUnsure: apply }
}

/** Returns a handler that sets a policy of the route. */
export function policy(name: string, value: object): Handler {
  return effect((state) => ({ ...state, policies: { ...state.policies, [name]: value } }))
}

/** Returns a handler that denies the requests for which an expression is true. */
export function denial(expression: string): Handler {
  return effect((state) => ({ ...state, denials: [...state.denials, expression] }))
}

/**
 * Returns a handler for a policy that each request must pass. A route can have one policy of each kind, so requests
 * that would have to pass a second policy are denied, and `refuse` reports this.
 */
export function guard(name: string, value: object, refuse: (why: string) => void): Handler {
  return effect((state) => {
    const known = state.policies[name]
    if (known === undefined || known === value) return { ...state, policies: { ...state.policies, [name]: value } }
    refuse(
      'an earlier policy of the same kind applies to these requests; requests get 403 until you configure a replacement',
    )
    return { ...state, denials: [...state.denials, 'true'] }
  })
}
