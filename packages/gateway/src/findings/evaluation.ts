/** The admin API for expressions. Types only, as for records. */
import type { ExplainedPart } from './explanation.ts'

/** Body of `POST /api/expressions/evaluate`. */
export interface EvaluationQuestion {
  readonly expression: string
  /** The phase whose variables the expression may read; `log`, which has the most, by default. */
  readonly phase?: string
  /** The id of a recorded request. */
  readonly requestId?: string
  /** Variables that a user wrote: `{"request": {"method": "GET"}, "jwt": {"sub": "ann"}}`. */
  readonly variables?: unknown
}

export interface ExpressionProblem {
  readonly message: string
  /** Counted from 1. */
  readonly line: number
  readonly column: number
  /** Counted from 0. */
  readonly offset: number
  readonly suggestion: string | null
}

/** Response of `POST /api/expressions/evaluate`. */
export interface Evaluation {
  readonly phase: string
  /** The problems for which a config with this expression would be rejected; then there is no value. */
  readonly problems: readonly ExpressionProblem[]
  /** The warnings that a config with this expression would cause. */
  readonly warnings: readonly ExpressionProblem[]
  /** The expression and all its parts, each with its value; null when there are problems. */
  readonly tree: ExplainedPart | null
  /** The type of the whole value, such as `bool`; null when there is none. */
  readonly type: string | null
  /** Why the whole expression failed, in words; null when it did not fail. */
  readonly failure: string | null
  /** Whether some parts are missing because the evaluation took too long. */
  readonly isCut: boolean
}

/** An attachment point of expressions, with the variables that they can read there. */
export interface ExpressionAttachment {
  readonly phase: string
  /** The attachment point in words. */
  readonly about: string
  readonly variables: readonly ExpressionVariable[]
}

export interface ExpressionVariable {
  readonly name: string
  /** Null when the variable may have any fields. */
  readonly fields: readonly string[] | null
  /** Whether the variable may be absent. */
  readonly isOptional: boolean
}

/** Response of `GET /api/expressions`. */
export interface ExpressionAttachments {
  readonly places: readonly ExpressionAttachment[]
}
