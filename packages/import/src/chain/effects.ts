import type { Handler } from './routes.ts'
import type { State } from './state.ts'

/** A handler that changes the state of every request. */
export function effect(apply: (state: State) => State): Handler {
  return { kind: 'effect', apply, applyIf: null, ifUnsure: apply }
}

/** Sets a policy of the route. */
export function policy(name: string, value: object): Handler {
  return effect((state) => ({ ...state, policies: { ...state.policies, [name]: value } }))
}

/** Denies the requests for which an expression is true. */
export function denial(expression: string): Handler {
  return effect((state) => ({ ...state, denials: [...state.denials, expression] }))
}

/**
 * A policy that each request must pass. Requests that must pass a second one of its kind are denied, and `refuse` reports
 * that.
 */
export function guard(name: string, value: object, refuse: (why: string) => void): Handler {
  return effect((state) => {
    const known = state.policies[name]
    if (known === undefined || known === value) return { ...state, policies: { ...state.policies, [name]: value } }
    refuse('its requests pass another one before; requests get 403 until you replace it')
    return { ...state, denials: [...state.denials, 'true'] }
  })
}
