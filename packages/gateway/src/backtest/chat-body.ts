import type { JsonObject } from '../schema/kit.ts'
import type { RequestRecord } from '../telemetry/recorder/record.ts'

/**
 * Returns a request body for the recorded model call with placeholder text, because records do not hold prompts; null
 * when the format is unknown.
 */
export function chatBody({ llm, path }: RequestRecord): JsonObject | null {
  if (llm === null || (llm.operation !== null && llm.operation !== 'chat')) return null
  const model = llm.clientModel ?? llm.requestModel
  const stream = llm.streaming
  const [target = ''] = (path ?? '').split('?', 1)
  const messages = [{ role: 'user', content: TEXT }]
  if (target.endsWith('/chat/completions')) {
    return { model, messages, ...(stream && { stream, stream_options: { include_usage: true } }) }
  }
  if (target.endsWith('/messages')) return { model, messages, max_tokens: MOST_TOKENS, ...(stream && { stream }) }
  if (target.endsWith('/responses')) return { model, input: TEXT, ...(stream && { stream }) }
  if (/:(?:stream)?[gG]enerateContent$/.test(target)) return { contents: [{ role: 'user', parts: [{ text: TEXT }] }] }
  return null
}

const TEXT = 'not recorded'
const MOST_TOKENS = 4_096
