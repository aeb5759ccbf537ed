import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { chatRequest, responseContext as plainContext } from './chat-request.ts'
import type { CollectedResponse } from '../response/collect-response.ts'
import { collectResponse } from '../response/collect-response.ts'
import type { ClientFormat, EncodeTarget, ResponseContext, UpstreamFormat } from '../format.ts'
import type { ChatEvent, ChatRequest, FormatName, JsonObject, Loss } from '../middle.ts'
import { UnsupportedField } from '../middle.ts'

/** Helpers for tests of formats: requests, contexts, and streams in pieces. */

export function request(changes: Partial<ChatRequest> = {}, format: FormatName = 'completions'): ChatRequest {
  return chatRequest({ format, model: 'some-model', ...changes })
}

export function responseContext(changes: Partial<ResponseContext> = {}): ResponseContext {
  return plainContext({ request: request(), model: 'asked-for', ...changes })
}

export function decoded(format: ClientFormat, body: JsonObject): ChatRequest {
  const result = format.decodeRequest(structuredClone(body))
  if (result instanceof UnsupportedField) throw new Error(`${result.field}: ${result.message}`)
  return result
}

/** The body for the upstream, and the losses as texts. */
export function encoded(
  format: UpstreamFormat,
  request: ChatRequest,
  quirks: string[] = [],
): { body: JsonObject; losses: string[]; target: EncodeTarget } {
  const losses: Loss[] = []
  const target = { model: request.model, quirks: new Set(quirks), toolNames: new Map<string, string>() }
  const body = format.encodeRequest(request, target, losses)
  if (body instanceof UnsupportedField) throw new Error(`${body.field}: ${body.message}`)
  return { body: throughJson(body), losses: losses.map(({ what, path }) => `${what} ${path}`), target }
}

/** Serializes and parses the body, as on the wire. */
export function throughJson(body: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(body)) as JsonObject
}

export function decodeBuffered(
  format: UpstreamFormat,
  body: JsonObject,
  context = responseContext(),
): CollectedResponse {
  const events = format.decodeResponse(body, context)
  if (events === null) throw new Error('not of this format')
  return collectResponse(events)
}

/** Decodes a stream; `cuts` are the positions where the stream is split into chunks. */
export function decodeStream(
  format: UpstreamFormat,
  stream: Buffer | string,
  cuts: readonly number[] = [],
  context = responseContext(),
): ChatEvent[] {
  const bytes = Buffer.from(stream)
  const decoder = format.createStreamDecoder(context)
  const edges = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((one, other) => one - other), bytes.length]
  const events = edges.slice(1).flatMap((edge, at) => decoder.push(Buffer.from(bytes.subarray(edges[at], edge))))
  return [...events, ...decoder.end()]
}

export function encodeStream(format: ClientFormat, events: readonly ChatEvent[], context = responseContext()): string {
  const encoder = format.createStreamEncoder(context)
  return events.map((event) => encoder.event(event)).join('') + encoder.end()
}

/**
 * All cuts of a stream into two chunks, and the cut into single bytes; each must yield the same events. The time grows with
 * the square of the length, so a long stream is cut at every seventh byte unless `PROPERTIES=full`.
 */
export function everyCut(length: number): number[][] {
  const step = length < 500 || process.env['PROPERTIES'] === 'full' ? 1 : 7
  const cuts = Array.from({ length: length + 1 }, (_, at) => at)
  return [...cuts.filter((cut) => cut % step === 0).map((cut) => [cut]), cuts]
}

/** A recorded exchange, buffered and streamed. */
export interface Exchange {
  body: JsonObject
  stream: Buffer
}

export function readExchange(folder: string, name: string): Exchange {
  const path = join(folder, 'fixtures', name)
  return { body: JSON.parse(readFileSync(`${path}.json`, 'utf8')) as JsonObject, stream: readFileSync(`${path}.sse`) }
}
