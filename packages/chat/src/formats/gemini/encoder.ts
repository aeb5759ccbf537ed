import { clientField, lose } from '../../request/carry-over.ts'
import type { FormatName, Loss, Part, UnsupportedField } from '../../middle.ts'
import type { SchemaReader } from './flatten-schema.ts'

/** The state that all encoders of one request share. */
export interface GeminiEncoder {
  /** The client's format. */
  format: FormatName
  /** The provider's tool names by the client's names. */
  names: ReadonlyMap<string, string>
  /** Whether calls and results carry their ids. */
  hasCallIds: boolean
  /** The model to request from the upstream. */
  model: string
  isGemini3: boolean
  /** The remaining size for all schemas together. */
  budget: SchemaReader['budget']
  losses: Loss[]
  /** The reasons why the request is refused. */
  faults: UnsupportedField[]
}

export function reportCache(part: Part, { format, losses }: GeminiEncoder): void {
  if (!('cache' in part) || part.cache === undefined) return
  lose(losses, { what: 'dropped', path: clientField(format, 'cache'), note: 'this provider caches by itself' })
}
