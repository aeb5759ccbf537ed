import type { EncodeTarget } from '../../format.ts'
import type { FormatName, Loss, UnsupportedField } from '../../middle.ts'

/** The state that all encoders of one request share. */
export interface ConverseEncoder {
  /** The client's format. */
  format: FormatName
  target: EncodeTarget
  /** The provider's tool names by the client's names. */
  names: ReadonlyMap<string, string>
  /** The number of documents so far with each name. */
  documents: Map<string, number>
  losses: Loss[]
  /** The reasons why the request is refused. */
  faults: UnsupportedField[]
}
