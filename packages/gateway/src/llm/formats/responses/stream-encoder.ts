import type { ResponseContext, StreamEncoder } from '../../format.ts'
import type { ChatEvent, JsonObject } from '../../middle.ts'
import { sseRecord } from '../../../wire/sse.ts'
import { errorBody } from '../completions/errors.ts'
import { ResponseWriter } from './response-writer.ts'

export function createStreamEncoder(context: ResponseContext): StreamEncoder {
  let written = ''
  let sequence = 0
  let isOver = false

  function say(type: string, members: JsonObject): void {
    written += sseRecord(JSON.stringify({ type, ...members, sequence_number: sequence++ }), type)
  }

  const writer = new ResponseWriter(context, {
    say,
    delta(head, text) {
      const json = `${head.json}${JSON.stringify(text)},"sequence_number":${sequence++}}`
      written += sseRecord(json, head.type)
    },
  })

  function take(): string {
    const taken = written
    written = ''
    return taken
  }

  function end(): void {
    isOver = true
    const { status, response } = writer.end()
    const { error } = writer.folded
    // SDKs throw on this one; the response that follows is for those that wait for the last event.
    if (error !== null) {
      const { code = null, message, param = null } = error
      say('error', { code, message, param, ...errorBody(error) })
    }
    say(`response.${status}`, { response })
  }

  return {
    event(event) {
      if (isOver) return ''
      writer.event(event)
      if (event.type === 'error') end()
      return take()
    },
    end() {
      if (!isOver) end()
      return take()
    },
  }
}

export function encodeResponse(events: readonly ChatEvent[], context: ResponseContext): JsonObject {
  const writer = new ResponseWriter(context, { say: () => {}, delta: () => {} })
  for (const event of events) writer.event(event)
  return writer.end().response
}
