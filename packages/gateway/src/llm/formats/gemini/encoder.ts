import { clientField, lose } from '../../client-fields.ts'
import type { FormatName, Loss, Part, Unsupported } from '../../middle.ts'
import type { SchemaReader } from './flatten-schema.ts'

/** What every part of a body is written with. */
export interface GeminiEncoder {
  /** The client's. */
  format: FormatName
  /** Names of tools by the client's names. */
  names: ReadonlyMap<string, string>
  /** Calls and results carry their ids. */
  hasCallIds: boolean
  /** What the upstream is asked for. */
  model: string
  isGemini3: boolean
  /** Of all schemas together. */
  budget: SchemaReader['budget']
  losses: Loss[]
  /** Why the request cannot be carried. */
  faults: Unsupported[]
}

export function reportCache(part: Part, { format, losses }: GeminiEncoder): void {
  if (!('cache' in part) || part.cache === undefined) return
  lose(losses, { what: 'dropped', path: clientField(format, 'cache'), note: 'this provider caches by itself' })
}
