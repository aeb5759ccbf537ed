import type { GuardMethod } from '../ask.ts'
import type { GuardPhase } from '../guard.ts'

/**
 * A call to a guard service as data. The expressions see the texts of the call and the response of the service; those of
 * vendors also see the guard's own settings as `config`.
 */
export interface HttpCheck {
  /** The phases in which this call is made; both when unset. */
  phases?: readonly GuardPhase[]
  method: GuardMethod
  /** Path and query. */
  path: string
  headers: readonly { name: string; expression: string }[]
  body: string
  reject?: string | undefined
  mask?: string | undefined
  found?: string | undefined
  offsets: OffsetUnit
  /** The most texts of one call. */
  maxTexts: number
  /** The most characters of one call, in UTF-16 code units, so that no unit of a vendor gives more. */
  maxCharacters: number
}

export type OffsetUnit = 'Characters' | 'Utf16' | 'Bytes'
