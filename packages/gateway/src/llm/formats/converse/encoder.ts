import type { EncodeTarget } from '../../format.ts'
import type { FormatName, Loss, Unsupported } from '../../middle.ts'

/** What every part of a body is written with. */
export interface ConverseEncoder {
  /** The client's. */
  format: FormatName
  target: EncodeTarget
  /** Names of tools by the client's names. */
  names: ReadonlyMap<string, string>
  /** How often each name of a document was given. */
  documents: Map<string, number>
  losses: Loss[]
  /** Why the request cannot be carried. */
  faults: Unsupported[]
}
