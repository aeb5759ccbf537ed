import { positionText, type SourcePosition } from '../core/source.ts'
import { type Condition, expressionOfCondition, matchesOfCondition } from '../http/conditions.ts'
import { type Action, type Entry, whyInexpressible, widened } from '../http/entries.ts'
import { conditionBefore } from './path-state.ts'
import type { State } from './state.ts'

/** A directive or field of the source config that can be noted in the import report. */
export interface Directive {
  readonly name: string
  readonly at: SourcePosition
  readonly text: string
  carried(note?: string): void
  changed(note: string, isProtection?: boolean): void
  notCarried(note: string, isProtection?: boolean): void
}

/** The effect of a directive on a request that fits its matcher. */
export type Handler =
  /** Responds to the request, so that later directives do not see it. */
  | { readonly kind: 'final'; action(this: void, state: State): Action }
  /** Changes the request or the response; later directives follow. */
  | {
      readonly kind: 'effect'
      apply(this: void, state: State): State
      /**
       * Applies the effect to the requests for which an expression is true; null when the effect needs a route of its
       * own.
       */
      readonly applyIf: ((this: void, state: State, expression: string) => State) | null
      /**
       * Applies the effect although the importer cannot tell whether requests match the condition; null when the effect
       * is then left out.
       */
      readonly ifUnsure: ((this: void, state: State) => State) | null
    }
  | { readonly kind: 'routes'; readonly routes: readonly Route[] }

/** A directive with its matcher. */
export interface Route {
  readonly statement: Directive
  readonly condition: Condition
  /** The group of the route: only the first matching route of a group applies. Null for routes without a group. */
  readonly group: object | null
  readonly handlers: readonly Handler[]
}

const MOST_ENTRIES = 500

/** Thrown when conditional directives lead to too many routes. */
export class TooManyRoutes extends Error {}

type Next = (state: State, assumed: readonly Condition[]) => Entry[]

/**
 * Returns the entries for routes that are tried in their order. A conditional directive leads to two variants of the
 * entries after it: with and without its effect.
 */
export function entriesOf(routes: readonly Route[], state: State, assumed: readonly Condition[], end: Next): Entry[] {
  return new Run().routes(routes, state, assumed, end)
}

class Run {
  #count = 0

  routes(routes: readonly Route[], state: State, assumed: readonly Condition[], next: Next): Entry[] {
    if (++this.#count > MOST_ENTRIES) throw new TooManyRoutes()
    const [route, ...rest] = routes
    if (route === undefined) return next(state, assumed)
    const condition = beforeRewrites(route.condition, state)
    const without = (changed: State = state): Entry[] => this.routes(rest, changed, assumed, next)
    const others = route.group === null ? rest : rest.filter(({ group }) => group !== route.group)
    const within = (changed: State, found: readonly Condition[]): Entry[] =>
      this.#handlers(route.handlers, changed, found, (after, more) => this.routes(others, after, more, next))
    if (isAlways(condition, true)) return within(state, assumed)
    if (isAlways(condition, false)) return without()
    const expression = expressionOfCondition(condition)
    const conditional = route.handlers.map((each) => (each.kind === 'effect' ? each.applyIf : null))
    if (conditional.length === 0) return without()
    if (expression !== null && conditional.every((each) => each !== null)) {
      return without(conditional.reduce((found, apply) => apply(found, expression), state))
    }
    const why = whyInexpressible(condition)
    if (why !== '') return this.#inexpressible({ route, condition, why, state, assumed, within, without, expression })
    const both = [...assumed, condition]
    const matches = matchesOfCondition({ kind: 'all', of: both.filter((each) => !hasNegation(each)) })
    if (typeof matches !== 'string' && matches.length === 0) return without()
    return [...within(state, both).map((entry) => narrowed(entry, condition)), ...without()]
  }

  #handlers(handlers: readonly Handler[], state: State, assumed: readonly Condition[], next: Next): Entry[] {
    const [handler, ...rest] = handlers
    if (handler === undefined) return next(state, assumed)
    if (handler.kind === 'effect') return this.#handlers(rest, handler.apply(state), assumed, next)
    if (handler.kind === 'routes') {
      return this.routes(handler.routes, state, assumed, (after, more) => this.#handlers(rest, after, more, next))
    }
    return [{ condition: { kind: 'always', value: true }, action: handler.action(state), refused: () => null }]
  }

  /** Handles a directive whose condition the matches of a gateway route cannot express. */
  #inexpressible({ route, condition, why, state, assumed, within, without, expression }: Inexpressible): Entry[] {
    const { statement } = route
    const isEffect = route.handlers.every(({ kind }) => kind === 'effect')
    if (isEffect) {
      const effects = route.handlers.flatMap((each) => (each.kind === 'effect' ? (each.ifUnsure ?? []) : []))
      if (effects.length === 0) statement.notCarried(why)
      else statement.changed(`${why}; the effect applies to all requests`, true)
      return without(effects.reduce((found, apply) => apply(found), state))
    }
    const inner = within(state, assumed)
    const isDenied = inner.length > 0 && inner.every(({ action }) => isDenial(action))
    if (expression !== null && isDenied) {
      if (inner.every(({ action }) => statusOf(action) === 403)) statement.carried()
      else statement.changed('the gateway denies requests with status 403')
      return without({ ...state, denials: [...state.denials, expression] })
    }
    const outer = without()
    if (expression !== null && outer.length > 0 && outer.every(({ action }) => isDenial(action))) {
      if (!outer.every(({ action }) => statusOf(action) === 403))
        statement.changed('the gateway denies all other requests with status 403')
      return within({ ...state, denials: [...state.denials, `!(${expression})`] }, assumed)
    }
    const wide = widened(condition)
    if (isDenied) {
      statement.notCarried(`${why}; requests that the rule may deny get 403`, true)
      return wide === null ? inner : [...inner.map((entry) => narrowed(entry, wide)), ...outer]
    }
    statement.notCarried(
      `${why}; ${wide === null ? 'matching requests continue with the next rule' : 'requests that may match get 501'}`,
      true,
    )
    if (wide === null) return outer
    const action: Action = {
      ...{ name: `${statement.name}-${statement.at.line}`, at: statement.at, source: statement.text, backends: [] },
      policies: {
        directResponse: { status: 501, body: `not imported: ${statement.name} at ${positionText(statement.at)}\n` },
      },
      outcome: { kind: 'status', status: 501 },
    }
    return [{ condition: wide, action, refused: () => null }, ...outer]
  }
}

interface Inexpressible {
  readonly route: Route
  readonly condition: Condition
  readonly why: string
  readonly expression: string | null
  readonly state: State
  readonly assumed: readonly Condition[]
  within(this: void, state: State, assumed: readonly Condition[]): Entry[]
  without(this: void, state?: State): Entry[]
}

function narrowed(entry: Entry, condition: Condition): Entry {
  return { ...entry, condition: { kind: 'all', of: [condition, entry.condition] } }
}

function statusOf({ outcome }: Action): number | null {
  return outcome.kind === 'status' ? outcome.status : null
}

function isDenial(action: Action): boolean {
  const status = statusOf(action)
  return status !== null && status >= 400 && status !== 501
}

function hasNegation(condition: Condition): boolean {
  return (
    condition.kind === 'not' ||
    ('of' in condition && Array.isArray(condition.of) && (condition.of as Condition[]).some(hasNegation))
  )
}

/** Whether a condition holds for all requests (`value` is true), or for none (`value` is false). */
function isAlways(condition: Condition, value: boolean): boolean {
  const { kind } = condition
  if (kind === 'always') return condition.value === value
  if (kind === 'not') return isAlways(condition.of, !value)
  if (kind !== 'all' && kind !== 'any') return false
  const isEach = (kind === 'all') === value
  return isEach
    ? condition.of.every((each) => isAlways(each, value))
    : condition.of.some((each) => isAlways(each, value))
}

/** Converts a condition on the rewritten request to a condition on the client's request. */
function beforeRewrites(condition: Condition, state: State): Condition {
  const { kind } = condition
  if (kind === 'not') return { kind, of: beforeRewrites(condition.of, state) }
  if (kind === 'all' || kind === 'any') return { kind, of: condition.of.map((each) => beforeRewrites(each, state)) }
  if (kind !== 'path') return condition
  return state.path === null
    ? { kind: 'unknown', why: 'an earlier rewrite was not imported' }
    : conditionBefore(condition.path, state.path)
}
