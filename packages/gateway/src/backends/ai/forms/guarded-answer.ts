import { type MediaAnswer, transcriptTexts } from '@portico/chat/media'
import { collect, type HeaderBlock, sourceOf } from '@portico/http'
import { isObject, type JsonObject, parseJsonObject, textAt } from '@portico/http/json'
import type { UpstreamResponse } from '@portico/http/client'
import type { GuardNote, Rejection } from '../../../llm/guards/guard.ts'
import { guardContext, noteVerdicts, type ResponseGuards } from '../../../llm/guards/prompt-guards.ts'
import { failedClosed } from '../../../llm/guards/rejection.ts'
import { follow, nowOrLater } from '../../../pipeline/call/follow.ts'
import { tooLarge, UNREADABLE } from '../answer-faults.ts'
import { SseRecords } from '../chat/sse-records.ts'
import { headersFor } from '../client-response.ts'
import type { FailoverCall } from '../failover-call.ts'
import { agrees, captionText } from './transcript-pieces.ts'

/** The result of guards: the bytes of the response, a rejection, or null for a response that cannot be read. */
interface GuardedBytes {
  readonly bytes: Buffer | Rejection | null
  readonly notes: readonly GuardNote[]
}

/** A transcription that is read whole, because guards examine it before the client gets any of it. */
export class GuardedAnswer {
  readonly #call: FailoverCall
  readonly #guards: ResponseGuards
  readonly #response: UpstreamResponse
  readonly #answer: MediaAnswer

  constructor(
    call: FailoverCall,
    guards: ResponseGuards,
    { response, answer }: { response: UpstreamResponse; answer: MediaAnswer },
  ) {
    this.#call = call
    this.#guards = guards
    this.#response = response
    this.#answer = answer
  }

  read(): void {
    const call = this.#call
    const { headers } = this.#response
    const { client, attempts, record, services } = call
    const tries = attempts.count
    collect(this.#response.body, services.maxBytes, (bytes, cause) => {
      if (!call.isCurrent(tries)) return
      if (cause !== null) attempts.lease?.failed()
      if (bytes !== null) this.#answer.chunk(bytes)
      const fault = this.#answer.over(bytes !== null)
      const isTooLarge = bytes === null && cause === null
      if (!isTooLarge && (bytes === null || fault !== null) && call.failsOver(UNREADABLE, headers)) return
      attempts.lease?.ended()
      record.endedAt = services.now()
      if (isTooLarge) return client.refuseAnswer(tooLarge(services.maxBytes), 'answer_too_large')
      if (bytes === null) return client.refuseAnswer(UNREADABLE, 'connection_lost', cause?.message)
      if (fault !== null) return client.refuseAnswer(UNREADABLE, 'answer_unreadable', fault.error.message)
      this.#guard(bytes)
    })
  }

  #guard(bytes: Buffer): void {
    const { rx, client, record } = this.#call
    const type = this.#response.headers.get('content-type') ?? ''
    const guarded = /^text\/event-stream/i.test(type)
      ? this.#events(bytes)
      : /^application\/json/i.test(type)
        ? this.#json(bytes)
        : this.#text(bytes)
    const done = nowOrLater(guarded, ({ bytes: after, notes }) => {
      if (client.isOver) return
      noteVerdicts(rx, { phase: 'response', model: record.requestModel || null }, notes)
      if (after === null) client.refuseAnswer(UNREADABLE, 'answer_unreadable')
      else if ('kind' in after) client.reject(after)
      else client.send(this.#response.status, this.#headers(type), sourceOf(after))
    })
    follow(rx, done)
  }

  #headers(type: string): HeaderBlock {
    return headersFor(this.#response.headers, type)
  }

  #json(bytes: Buffer): GuardedBytes | Promise<GuardedBytes> {
    const json = bytes.toString('utf8')
    return nowOrLater(this.#body(json), ({ body, notes }): GuardedBytes => {
      if (body === null || body.kind === 'reject') return { bytes: body, notes }
      if (body.json === json) return { bytes, notes }
      const { text, segments } = parseJsonObject(body.json) ?? {}
      const pieces = Array.isArray(segments) ? segments.filter(isObject).map(textOf) : null
      const isMasked = pieces === null || typeof text !== 'string' || agrees(text, pieces)
      return { bytes: isMasked ? Buffer.from(body.json) : ACROSS_PIECES, notes }
    })
  }

  /** Guards a plain text, or captions: as they are, and the text that their lines have together. */
  #text(bytes: Buffer): GuardedBytes | Promise<GuardedBytes> {
    const text = bytes.toString('utf8')
    const spoken = captionText(text)
    return nowOrLater(this.#body(JSON.stringify({ text, spoken })), ({ body, notes }): GuardedBytes => {
      if (body === null || body.kind === 'reject') return { bytes: body, notes }
      const after = parseJsonObject(body.json) ?? {}
      const masked = textOf(after)
      if (masked === text && textAt(after, 'spoken') === spoken) return { bytes, notes }
      const isMasked = agrees(textAt(after, 'spoken') ?? '', [captionText(masked)])
      return { bytes: isMasked ? Buffer.from(masked) : ACROSS_PIECES, notes }
    })
  }

  #body(json: string): ReturnType<ResponseGuards['body']> {
    return this.#guards.body({ json, texts: transcriptTexts }, this.#context())
  }

  #events(bytes: Buffer): GuardedBytes | Promise<GuardedBytes> {
    const guard = this.#guards.recordStream(transcriptTexts, this.#context())
    const reader = new SseRecords()
    const records = reader.push(bytes)
    const rest = reader.end()
    const pushed = guard.push(rest.length === 0 ? records : [...records, Buffer.concat([rest, Buffer.from('\n\n')])])
    return nowOrLater(pushed, (seen) =>
      nowOrLater(guard.end(), (held): GuardedBytes => {
        const { rejection, failure, notes } = guard
        if (rejection !== null || failure !== null) return { bytes: rejection, notes }
        const after = Buffer.concat([...seen, ...held])
        const events = eventsOf(after)
        const pieces = events.filter(({ type }) => type === 'transcript.text.segment').map(textOf)
        const whole = events.find(({ type }) => type === 'transcript.text.done')
        const isMasked = pieces.length === 0 || whole === undefined || agrees(textOf(whole), pieces)
        return { bytes: isMasked || after.equals(bytes) ? after : ACROSS_PIECES, notes }
      }),
    )
  }

  #context(): ReturnType<typeof guardContext> {
    const { rx, headers } = this.#call
    return guardContext(rx, headers, this.#response.headers)
  }
}

function textOf(body: JsonObject): string {
  return textAt(body, 'text') ?? ''
}

function eventsOf(bytes: Buffer): JsonObject[] {
  const lines = [...bytes.toString('utf8').matchAll(/^data: ?(.*)$/gm)]
  return lines.map(([, data = '']) => parseJsonObject(data)).filter((event) => event !== null)
}

const ACROSS_PIECES = failedClosed('a mask reaches across segments, whose texts would show what it hides')
