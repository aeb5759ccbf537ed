import type { Expression } from '../../../pipeline/context/step.ts'
import type { RequestContext } from '../../../pipeline/context/request-context.ts'
import type { ReadyProvider } from '../provider.ts'
import type { FailureKind } from './failure-kind.ts'

/** A model that one provider has, with the name that the provider gets. */
export interface ProviderRoute {
  readonly kind: 'provider'
  /** The name in the config: `smart`, or `anthropic/claude-sonnet-5` for a pattern. */
  readonly name: string
  /** The name that the provider gets. */
  readonly sent: string
  readonly allow: Expression | null
  /** US dollars for a million tokens; null when the config has no price. */
  readonly price: number | null
  readonly provider: ReadyProvider
}

/** A virtual model: it stands for one of its targets. */
export interface VirtualRoute {
  readonly kind: 'virtual'
  readonly name: string
  readonly allow: Expression | null
  readonly by: 'Order' | 'Weight' | 'Price' | 'Speed' | 'Hash'
  /** In the order of the config; with `by: Price`, the cheapest target first. */
  readonly targets: readonly RouteTarget[]
  readonly hash: Expression | null
  readonly on: Readonly<Partial<Record<FailureKind, Fallback>>>
  /** The number of providers that a call can try. */
  readonly count: number
}

export type ModelRoute = ProviderRoute | VirtualRoute

export interface RouteTarget {
  readonly route: ModelRoute
  readonly weight: number
  /** Null when the target takes every request. */
  readonly when: TargetCondition | null
}

/** The continuation after a failure: the next target, no other target, or another model. */
export type Fallback = 'next' | 'fail' | ModelRoute

/** The condition of a target, with a text for requests that it excludes. */
export class TargetCondition {
  readonly expression: Expression
  readonly #limit: { opposite: string; tokens: number } | null

  constructor(expression: Expression) {
    this.expression = expression
    const [, operator, digits = ''] = COMPARISON.exec(expression.source.trim()) ?? []
    const opposite = operator === undefined ? undefined : OPPOSITES.get(operator)
    this.#limit = opposite === undefined ? null : { opposite, tokens: Number(digits) }
  }

  /** Why the condition excludes a request; null when it does not. */
  exclusion(rx: RequestContext): string | null {
    if (this.expression.isTrue(rx)) return null
    const tokens = rx.llm?.promptTokens ?? null
    if (this.#limit === null || tokens === null) return `\`${shortened(this.expression.source)}\` is not true`
    return `${grouped(tokens)} prompt tokens ${this.#limit.opposite} ${grouped(this.#limit.tokens)}`
  }
}

/** Most conditions compare the size of the prompt, so their text names the numbers. */
const COMPARISON = /^llm\.promptTokens\s*(<=|>=|<|>)\s*(\d{1,12})$/
const OPPOSITES: ReadonlyMap<string, string> = new Map([
  ['<', '≥'],
  ['<=', '>'],
  ['>', '≤'],
  ['>=', '<'],
])

function grouped(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',')
}

function shortened(source: string): string {
  return source.length > LONGEST_SOURCE ? `${source.slice(0, LONGEST_SOURCE)}…` : source
}

const LONGEST_SOURCE = 80
