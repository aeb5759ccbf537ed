import type { ClientFormat, UpstreamFormat } from '../format.ts'
import type { FormatName } from '../middle.ts'
import { completions } from './completions/index.ts'
import { converse } from './converse/index.ts'
import { gemini } from './gemini/index.ts'
import { messages } from './messages/index.ts'
import { responses } from './responses/index.ts'
import { translating } from '../translate/translate-request.ts'

/** The formats that clients speak. */
export const clientFormats = { completions, messages, responses, gemini } satisfies Record<string, ClientFormat>

const formats: Readonly<Record<FormatName, UpstreamFormat>> = {
  completions,
  messages,
  responses,
  gemini,
  converse,
}

/** The formats that providers speak; each translates requests of any client format. */
export const upstreamFormats = Object.fromEntries(
  Object.entries(formats).map(([name, format]) => [name, translating(format)]),
) as Readonly<Record<FormatName, UpstreamFormat>>
