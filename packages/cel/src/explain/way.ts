import type { Result, Value } from '../value.ts'

/** How something read would have to stand to a value. */
export type Relation =
  | 'equals'
  | 'differs'
  | 'oneOf'
  | 'noneOf'
  | 'contains'
  | 'lacks'
  | 'startsWith'
  | 'startsOtherwise'
  | 'endsWith'
  | 'endsOtherwise'
  | 'matches'
  | 'matchesNot'
  | 'less'
  | 'atMost'
  | 'greater'
  | 'atLeast'
  | 'present'
  | 'absent'

/** One thing that would have to be otherwise. */
export interface Need {
  /** The part of the expression, as written. */
  readonly text: string
  /** What that part would have to give. */
  readonly wanted: boolean
  /** What it reads, where it is one thing: `["jwt", "sub"]`. */
  readonly path: readonly string[] | null
  /** What was found there; undefined where there was nothing, or where the part reads several things. */
  readonly found: Result | undefined
  /** Null where only the part as a whole can say it. */
  readonly relation: Relation | null
  readonly value: Value | undefined
  /** A value that would do, together with those of the other needs of the way. */
  readonly example?: Value | undefined
}

/** Needs that do it together. */
export type Way = readonly Need[]
