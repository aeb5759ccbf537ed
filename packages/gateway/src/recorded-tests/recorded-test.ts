import type { JsonObject } from '../schema/kit.ts'

/** A test, as in a test file, that states what happened to a recorded request. */
export interface RecordedTest {
  readonly name: string
  readonly clock: string
  readonly given?: JsonObject
  readonly upstreams?: JsonObject
  readonly send?: JsonObject | string
  readonly repeat?: number
  readonly expect?: JsonObject | readonly JsonObject[]
}

/** The test of a recorded request, or the reason why there is none. */
export type RecordedTestResult =
  | {
      readonly kind: 'test'
      readonly test: RecordedTest
      /** The values that stand-ins replace, because they were redacted or not recorded. */
      readonly replaced: readonly string[]
    }
  | { readonly kind: 'impossible'; readonly reason: string }
