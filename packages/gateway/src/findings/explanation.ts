/** The admin API that explains why a request was decided as it was. Types only, as for records. */

/** The location of a part of the config: in a file, or in a cluster resource. */
export type SourceLocation =
  | { readonly file: string; readonly line: number; readonly column: number }
  | { readonly kind: string; readonly namespace: string; readonly name: string; readonly path: string }

/** A JSON value. */
export type ReadonlyJson =
  | null
  | boolean
  | number
  | string
  | readonly ReadonlyJson[]
  | { readonly [name: string]: ReadonlyJson }

/** A value that the gateway read, unless it is redacted. */
export interface ReadValue {
  /** The name, such as `request.path`, `jwt.sub` or `budget`. */
  readonly name: string
  /** Null when the value is absent, redacted or not recorded. */
  readonly value: ReadonlyJson
  readonly state: 'found' | 'absent' | 'hidden' | 'notKept'
}

/** A part of an expression with its value for this request. */
export interface ExplainedPart {
  /** The text of the part in the config. */
  readonly text: string
  readonly value: ReadonlyJson
  readonly state: ReadValue['state'] | 'failed'
  /** The error, such as `no_such_key`; null when the part did not fail. */
  readonly error: string | null
  readonly parts: readonly ExplainedPart[]
}

export interface ExplainedRule {
  /** The position among all rules that apply. */
  readonly index: number
  readonly mode: 'allow' | 'deny' | 'require'
  readonly expression: string
  /** Whether the rule matched when the request was decided. */
  readonly matched: boolean
  readonly place: SourceLocation | null
  /** Whether the rule counted against the request. */
  readonly isAgainst: boolean
  readonly value: ExplainedPart | null
}

/** One condition that would have to change. */
export interface Change {
  /**
   * The party that can make the change: the client, the author of the config, the operator of the backend, or time
   * alone.
   */
  readonly by: 'client' | 'config' | 'backend' | 'time'
  /** The change in words. */
  readonly text: string
  /** The value to change, such as `request.path`. */
  readonly of: string | null
  readonly found: ReadonlyJson
  /**
   * The required relation to `value`: `equals`, `startsWith`, `atLeast`; null when only `text` describes the change.
   */
  readonly relation: string | null
  readonly value: ReadonlyJson
  /** A value that would pass. */
  readonly example: ReadonlyJson
  /** The location of the current setting in the config. */
  readonly place: SourceLocation | null
}

/** Changes that would together let the request pass. */
export interface Passing {
  /** The changes in words, as one sentence. */
  readonly text: string
  readonly changes: readonly Change[]
}

/**
 * A route that was not taken, with the conditions that the request did not meet; the first of them alone excludes the
 * route.
 */
export interface Candidate {
  readonly route: string
  readonly match: number
  readonly lacks: readonly string[]
  readonly place: SourceLocation | null
}

export interface ExplainedCall {
  readonly target: string
  readonly status: number | null
  readonly error: string | null
  /** The duration in milliseconds; null when unknown. */
  readonly tookMs: number | null
}

/** The amount that one request took from a budget. */
export interface BudgetCharge {
  readonly id: string
  /** In milliseconds since 1970. */
  readonly at: number
  /** The configured name of the API key, the user name, or the `sub` of the token, as in lists of requests. */
  readonly key: string | null
  readonly cost: number
}

/** The requests that used up a limit, as far as they are recorded. */
export interface Spending {
  readonly counts: 'requests' | 'tokens'
  /** The start of the window, in milliseconds since 1970; accurate to one second, never later than the real start. */
  readonly from: number
  readonly total: number
  /** The number of requests that took something. */
  readonly requests: number
  /** False when records of the window are missing, or do not name their budget: the real total is then higher. */
  readonly isWhole: boolean
  /** The request that used up the limit; null when the records do not tell. */
  readonly usedUpBy: BudgetCharge | null
  /** At most ten, newest first. */
  readonly latest: readonly BudgetCharge[]
}

export interface DecidedBy {
  /** The name of the policy; null when no policy decided. */
  readonly policy: string | null
  readonly phase: string | null
  /** The attachment of the policy: `inline in route …`, `policy cors on route …`. */
  readonly origin: string | null
  /** The location of the rule, limit, guard or form that decided. */
  readonly place: SourceLocation | null
}

/** Response of `GET /api/requests/{id}/explain`. */
export interface Explanation {
  readonly id: string
  readonly status: number
  readonly outcome: string
  /** The cause; more specific than the code of the record when possible: `jwt_expired`. */
  readonly code: string
  /** One sentence. */
  readonly headline: string
  readonly decidedBy: DecidedBy | null
  readonly config: {
    /** The generation of the config that decided. */
    readonly generation: number
    /** The generation of the current config. */
    readonly live: number
    /** False when the config that decided is no longer stored; the explanation then uses the record alone. */
    readonly isExact: boolean
  }
  readonly values: readonly ReadValue[]
  readonly rules: readonly ExplainedRule[]
  readonly candidates: readonly Candidate[]
  /** The usage of a limit; null for other decisions, and when the records do not tell. */
  readonly spending: Spending | null
  readonly calls: readonly ExplainedCall[]
  /** Changes that would have let the request pass, the nearest first. */
  readonly wouldPass: readonly Passing[]
  readonly steps: readonly { readonly step: string; readonly phase: string; readonly outcome: string }[]
  /** Facts that could not be determined, and why. */
  readonly remarks: readonly string[]
}
