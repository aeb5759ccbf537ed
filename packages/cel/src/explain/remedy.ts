import type { Result, Value } from '../value.ts'

/** The relation that a read value would need to another value. */
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

/** One change that would be needed. */
export interface Need {
  /** The source of the part of the expression. */
  readonly text: string
  /** The value that the part would have to return. */
  readonly wanted: boolean
  /** The path that the part reads, such as `["jwt", "sub"]`; null when it does not read exactly one. */
  readonly path: readonly string[] | null
  /** The value that was read; undefined when it was absent or the part does not read exactly one path. */
  readonly found: Result | undefined
  /** The relation needed between the read value and `value`; null when only the part as a whole can be named. */
  readonly relation: Relation | null
  readonly value: Value | undefined
  /** A value that satisfies this need, together with the examples of the other needs. */
  readonly example?: Value | undefined
}

/** A remedy: needs that together change the result. */
export type Remedy = readonly Need[]
