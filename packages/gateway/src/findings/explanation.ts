/** What the admin API says about why a request was decided as it was. Types alone, as for records. */

/** Where something is written: in a file, or in a resource of a cluster. */
export type WrittenPlace =
  | { readonly file: string; readonly line: number; readonly column: number }
  | { readonly kind: string; readonly namespace: string; readonly name: string; readonly path: string }

/** JSON as it is. */
export type Shown = null | boolean | number | string | readonly Shown[] | { readonly [name: string]: Shown }

/** Something that was read, as far as it may be shown. */
export interface ReadValue {
  /** `request.path`, `jwt.sub`, `budget`. */
  readonly name: string
  /** Null where there was nothing, and where it is hidden or not kept. */
  readonly value: Shown
  readonly state: 'found' | 'absent' | 'hidden' | 'notKept'
}

/** A part of an expression with what it gave on this request. */
export interface ExplainedPart {
  /** As written. */
  readonly text: string
  readonly value: Shown
  readonly state: ReadValue['state'] | 'failed'
  /** Why it failed: `no_such_key`; null where it did not. */
  readonly error: string | null
  readonly parts: readonly ExplainedPart[]
}

export interface ExplainedRule {
  /** Position among all rules that hold there. */
  readonly index: number
  readonly mode: 'allow' | 'deny' | 'require'
  readonly expression: string
  /** What it gave when the request was decided. */
  readonly matched: boolean
  readonly place: WrittenPlace | null
  /** Whether it spoke against the request. */
  readonly isAgainst: boolean
  readonly value: ExplainedPart | null
}

/** One thing that would have to be otherwise. */
export interface Change {
  /** Who can do it: the client, whoever writes the config, whoever runs the backend, or nobody but time. */
  readonly by: 'client' | 'config' | 'backend' | 'time'
  /** In words. */
  readonly text: string
  /** What it is about: `request.path`. */
  readonly of: string | null
  readonly found: Shown
  /** How it would have to stand to `value`: `equals`, `startsWith`, `atLeast`; null where words alone say it. */
  readonly relation: string | null
  readonly value: Shown
  /** A value that would do. */
  readonly example: Shown
  /** Where the config says what it says now. */
  readonly place: WrittenPlace | null
}

/** Changes that do it together. */
export interface Passing {
  /** In words, one sentence. */
  readonly text: string
  readonly changes: readonly Change[]
}

/** A route that was not taken, with what the request lacked for it; the first of these is enough to keep it away. */
export interface Candidate {
  readonly route: string
  readonly match: number
  readonly lacks: readonly string[]
  readonly place: WrittenPlace | null
}

export interface ExplainedCall {
  readonly target: string
  readonly status: number | null
  readonly error: string | null
  /** Milliseconds that it took; null where nobody knows. */
  readonly tookMs: number | null
}

/** What one request took from a budget. */
export interface Spent {
  readonly id: string
  /** When, in milliseconds since 1970. */
  readonly at: number
  /** Who asked, as lists of requests have it. */
  readonly key: string | null
  readonly cost: number
}

/** Who spent a limit that was used up, as far as records tell. */
export interface Spending {
  readonly counts: 'requests' | 'tokens'
  /** When the window began, in milliseconds since 1970; up to a second before that. */
  readonly from: number
  readonly total: number
  /** How many took something. */
  readonly requests: number
  /** False where records of the window are gone, or do not say whose budget they spent from: then it was more. */
  readonly isWhole: boolean
  /** With which the last was taken; null where records do not tell. */
  readonly usedUpBy: Spent | null
  /** At most ten, newest first. */
  readonly latest: readonly Spent[]
}

export interface DecidedBy {
  /** Name of the policy; null where it was none. */
  readonly policy: string | null
  readonly phase: string | null
  /** What attached it: `inline in route …`, `policy cors on route …`. */
  readonly origin: string | null
  /** The rule, limit, guard or form that decided. */
  readonly place: WrittenPlace | null
}

/** Answer of `GET /api/requests/{id}/explain`. */
export interface Explanation {
  readonly id: string
  readonly status: number
  readonly outcome: string
  /** What records tell causes apart by, more exactly where that can be: `jwt_expired`. */
  readonly code: string
  /** One sentence. */
  readonly headline: string
  readonly decidedBy: DecidedBy | null
  readonly config: {
    /** The one that decided. */
    readonly generation: number
    /** The one that is live now. */
    readonly live: number
    /** False where the one that decided is not kept: then the record alone says what there is to say. */
    readonly isExact: boolean
  }
  readonly values: readonly ReadValue[]
  readonly rules: readonly ExplainedRule[]
  readonly candidates: readonly Candidate[]
  /** Of a limit; null elsewhere, and where records cannot tell. */
  readonly spending: Spending | null
  readonly calls: readonly ExplainedCall[]
  /** What would have passed, the nearest first. */
  readonly wouldPass: readonly Passing[]
  readonly steps: readonly { readonly step: string; readonly phase: string; readonly outcome: string }[]
  /** What could not be said, and why. */
  readonly remarks: readonly string[]
}
