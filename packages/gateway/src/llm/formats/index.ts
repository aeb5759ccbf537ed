import type { ClientFormat, UpstreamFormat } from '../format.ts'
import type { FormatName } from '../middle.ts'
import { completions } from './completions/index.ts'
import { converse } from './converse/index.ts'
import { gemini } from './gemini/index.ts'
import { messages } from './messages/index.ts'
import { responses } from './responses/index.ts'

/** What clients speak. */
export const clientFormats = { completions, messages, responses } satisfies Record<string, ClientFormat>

/** What providers speak. */
export const upstreamFormats: Readonly<Record<FormatName, UpstreamFormat>> = {
  completions,
  messages,
  responses,
  gemini,
  converse,
}
