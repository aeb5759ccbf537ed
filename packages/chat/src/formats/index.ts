import type { ClientFormat, UpstreamFormat } from '../format.ts'
import { type FormatName, Unsupported } from '../middle.ts'
import { completions } from './completions/index.ts'
import { converse } from './converse/index.ts'
import { gemini } from './gemini/index.ts'
import { messages } from './messages/index.ts'
import { responses } from './responses/index.ts'
import { translateBlocks } from '../translate/translate-blocks.ts'
import { translateTools } from '../translate/translate-tools.ts'

/** The formats that clients speak. */
export const clientFormats = { completions, messages, responses } satisfies Record<string, ClientFormat>

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

/**
 * The same format, extended to requests of other formats: parts that only those formats have are first converted to
 * common parts.
 */
function translating(format: UpstreamFormat): UpstreamFormat {
  return {
    ...format,
    encodeRequest(request, target, losses) {
      if (request.format === format.name) return format.encodeRequest(request, target, losses)
      const plain = translateBlocks(translateTools(request, format.name), losses)
      return plain instanceof Unsupported ? plain : format.encodeRequest(plain, target, losses)
    },
  }
}
