/** What the admin API says of expressions. Types alone, as for records. */
import type { ExplainedPart } from './explanation.ts'

/** Body of `POST /api/expressions/evaluate`. */
export interface EvaluationQuestion {
  readonly expression: string
  /** Where the expression is to stand; `log`, which knows the most, when left out. */
  readonly phase?: string
  /** A request that is kept. */
  readonly requestId?: string
  /** Variables that were written by hand: `{"request": {"method": "GET"}, "jwt": {"sub": "ann"}}`. */
  readonly variables?: unknown
}

export interface ExpressionProblem {
  readonly message: string
  /** From 1. */
  readonly line: number
  readonly column: number
  /** From 0. */
  readonly offset: number
  readonly suggestion: string | null
}

/** Answer of `POST /api/expressions/evaluate`. */
export interface Evaluation {
  readonly phase: string
  /** What a config with this expression would be refused for; then there is no value. */
  readonly problems: readonly ExpressionProblem[]
  /** What it would be warned of. */
  readonly warnings: readonly ExpressionProblem[]
  /** The expression and all its parts, each with what it gave; null where there are problems. */
  readonly tree: ExplainedPart | null
  /** Of the value of the whole: `bool`; null where there is none. */
  readonly type: string | null
  /** Why the whole failed, in words; null where it did not. */
  readonly failure: string | null
  /** Some parts are left out: it took too long. */
  readonly isCut: boolean
}

/** A place where expressions stand, with what they can read there. */
export interface ExpressionPlace {
  readonly phase: string
  /** Where that is, in words. */
  readonly about: string
  readonly variables: readonly ExpressionVariable[]
}

export interface ExpressionVariable {
  readonly name: string
  /** Null where it may have any. */
  readonly fields: readonly string[] | null
  /** It may be absent. */
  readonly isOptional: boolean
}

/** Answer of `GET /api/expressions`. */
export interface ExpressionPlaces {
  readonly places: readonly ExpressionPlace[]
}
