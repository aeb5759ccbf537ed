import { countAt, isObject, objectAt, parseJson, parseJsonObject, withoutAbsent } from '@portico/http/json'
import { SseParser } from '@portico/http/sse'
import { EventStreamReader } from '../streams/event-stream.ts'
import { usageOf as completionsUsage } from '../formats/completions/usage.ts'
import { decodeUsage as converseUsage } from '../formats/converse/event-reader.ts'
import { decodeUsage as geminiUsage } from '../formats/gemini/usage.ts'
import { addReport, mergeReports, type OwnUsage, usageOf as messagesUsage } from '../formats/messages/event-reader.ts'
import { usageOf as responsesUsage } from '../formats/responses/usage.ts'
import type { JsonObject, Usage } from '../middle.ts'
import { incomplete, StreamEnd } from './stream-end.ts'
import type { StreamFault } from '../response/chat-error.ts'
import { AWS_TYPE, eventsFault, messagesFault, SSE_TYPE } from './watched-stream.ts'

/** The facts of a call that detection finds; the caller owns the object. */
export interface DetectedCall {
  requestModel: string
  responseModel: string
  streaming: boolean
  usage: Usage
  /** Whether part of the usage is estimated, because the provider reported none. */
  isEstimated: boolean
}

/**
 * Finds the model and the usage in a response of any vendor while the response passes: a JSON body, server-sent events,
 * or an AWS event stream. In a stream the last report counts; the reader also detects whether the stream was complete.
 */
export class DetectedAnswer {
  readonly #call: DetectedCall
  readonly #limit: number
  readonly #contentType: string
  readonly #header: (name: string) => string | null
  #kind: 'unknown' | 'json' | 'sse' | 'aws' = 'unknown'
  #sse: SseParser | null = null
  #aws: EventStreamReader | null = null
  #kept: Buffer[] = []
  #keptSize = 0
  #isCut = false
  #records = 0
  readonly #end = new StreamEnd()
  /** The counts of a stream whose input excludes the cache: Messages, or any model that AWS counts. */
  #own: OwnUsage = {}
  #hasUsage = false

  constructor(call: DetectedCall, header: (name: string) => string | null, limit: number) {
    this.#call = call
    this.#limit = limit
    this.#header = header
    this.#contentType = header('content-type')?.toLowerCase() ?? ''
  }

  chunk(chunk: Buffer): void {
    if (chunk.length === 0) return
    if (this.#kind === 'unknown') this.#begin(chunk)
    if (this.#sse !== null) this.#readSse(this.#sse.push(chunk))
    else if (this.#aws !== null) this.#readAws(this.#aws, chunk)
    else this.#keep(chunk)
  }

  /**
   * Ends the response. `whole` says that the body ended cleanly; the returned fault says that the stream in the body
   * was incomplete.
   */
  over(whole: boolean): StreamFault | null {
    if (this.#sse !== null) this.#readSse(this.#sse.end())
    const isBrokenList = this.#kind === 'json' && this.#readJson(Buffer.concat(this.#kept).toString('utf8'))
    if (!this.#hasUsage) this.#readHeaders()
    const fault = whole ? (isBrokenList ? incomplete() : this.#fault()) : null
    this.#estimate(whole && fault === null)
    return fault
  }

  #estimate(whole: boolean): void {
    if (this.#records === 0 || (whole && (!this.#isStream || this.#call.usage.output !== undefined))) return
    // A stream that broke off or reports no usage is charged for the received records, about one token each, as in all
    // other calls.
    this.#call.isEstimated = true
    this.#call.usage = { ...this.#call.usage, output: Math.max(this.#call.usage.output ?? 0, this.#records) }
  }

  #fault(): StreamFault | null {
    if (this.#sse !== null) return eventsFault(this.#sse, this.#end)
    if (this.#aws !== null) return this.#isStream ? messagesFault(this.#aws, this.#end) : null
    return this.#end.fault()
  }

  /** Whether the content type declares a stream; a body that only looks like a stream may be anything. */
  get #isStream(): boolean {
    return this.#contentType.startsWith(AWS_TYPE) || this.#contentType.startsWith(SSE_TYPE)
  }

  #begin(chunk: Buffer): void {
    const first = chunk.find((byte) => !BLANKS.has(byte)) ?? OPEN_BRACE
    if (this.#contentType.startsWith(AWS_TYPE) || first === 0) {
      this.#kind = 'aws'
      this.#aws = new EventStreamReader()
    } else if (this.#contentType.startsWith(SSE_TYPE) || (first !== OPEN_BRACE && first !== OPEN_BRACKET)) {
      this.#kind = 'sse'
      this.#sse = new SseParser()
    } else this.#kind = 'json'
  }

  /** Keeps the body, or its last bytes when it is too large: responses with images report usage at the end. */
  #keep(chunk: Buffer): void {
    this.#kept.push(Buffer.from(chunk))
    this.#keptSize += chunk.length
    if (this.#keptSize <= this.#limit) return
    this.#isCut = true
    const end = Buffer.concat(this.#kept).subarray(-TAIL_BYTES)
    this.#kept = [end]
    this.#keptSize = end.length
  }

  /** Reads a JSON body. Returns true for a stream in the form of a JSON list whose end is missing. */
  #readJson(text: string): boolean {
    if (this.#isCut) {
      const usage = [...text.matchAll(USAGE_MEMBER)].at(-1)?.[1]
      const found = usage === undefined ? null : parseJsonObject(usage)
      if (found !== null) this.#probe({ usage: found })
      return false
    }
    const value = parseJson(text)?.value
    // Gemini streams a JSON list unless the client asks for events.
    const isList = Array.isArray(value)
    for (const each of isList ? value : [value]) {
      if (!isObject(each)) continue
      if (isList) this.#end.value(each)
      this.#probe(each)
    }
    return value === undefined && BROKEN_LIST.test(text)
  }

  #readSse(events: readonly { data: string }[]): void {
    for (const { data } of events) {
      this.#call.streaming = true
      this.#records++
      this.#end.record(data)
      const record = MARKS.test(data) ? parseJsonObject(data) : null
      if (record !== null) this.#probe(record)
    }
  }

  #readAws(reader: EventStreamReader, chunk: Buffer): void {
    for (const message of reader.push(chunk)) {
      const { payload } = message
      this.#call.streaming = true
      this.#records++
      this.#end.message(message)
      const event = parseJsonObject(payload.toString('utf8'))
      if (event === null) continue
      const { bytes } = event
      // `InvokeModelWithResponseStream` wraps the records of the model's vendor.
      const inner = typeof bytes === 'string' ? parseJsonObject(Buffer.from(bytes, 'base64').toString('utf8')) : event
      if (inner !== null) this.#probe(inner)
    }
  }

  #probe(body: JsonObject): void {
    for (const holder of [body, body['response'], body['message'], body['metadata']]) {
      if (!isObject(holder)) continue
      const model = holder['model'] ?? holder['modelVersion']
      if (typeof model === 'string' && model !== '') this.#call.responseModel = model
      const usage = this.#usageOf(holder)
      if (usage === null) continue
      this.#hasUsage = true
      this.#call.usage = { ...this.#call.usage, ...usage }
    }
  }

  /**
   * The usage in an object. The field names identify the vendor's convention, because the same counts mean different
   * things at different vendors.
   */
  #usageOf(holder: JsonObject): Usage | null {
    const metrics = holder['amazon-bedrock-invocationMetrics']
    if (isObject(metrics)) {
      this.#own = mergeReports(
        this.#own,
        invocationUsage((name) => countAt(metrics, name)),
      )
      return messagesUsage(this.#own)
    }
    if (isObject(holder['usageMetadata'])) return geminiUsage(holder['usageMetadata'])
    const usage = holder['usage']
    const counted = completionsUsage(holder)
    if (counted !== null || !isObject(usage)) return counted
    if ('inputTokens' in usage || 'outputTokens' in usage) return converseUsage(holder)
    if ('input_tokens_details' in usage) return responsesUsage(holder)
    this.#own = addReport(this.#own, usage)
    return messagesUsage(this.#own)
  }

  /** Reads the counts in headers, for Bedrock models whose bodies report none. */
  #readHeaders(): void {
    const counts = invocationUsage((name) => {
      const text = this.#header(`x-amzn-bedrock-${HEADER_NAMES[name]}`)
      return text !== null && /^\d{1,12}$/.test(text) ? Number(text) : undefined
    })
    const usage = messagesUsage(counts)
    if (usage !== null) this.#call.usage = { ...this.#call.usage, ...usage }
  }
}

type InvocationCount = keyof typeof HEADER_NAMES

const HEADER_NAMES = {
  inputTokenCount: 'input-token-count',
  outputTokenCount: 'output-token-count',
  cacheReadInputTokenCount: 'cache-read-input-token-count',
  cacheWriteInputTokenCount: 'cache-write-input-token-count',
} as const

/** Counts of AWS, for models of all vendors: the input excludes tokens read from and written to the cache. */
function invocationUsage(count: (name: InvocationCount) => number | undefined): OwnUsage {
  return withoutAbsent({
    input: count('inputTokenCount'),
    output: count('outputTokenCount'),
    cacheRead: count('cacheReadInputTokenCount'),
    cacheWrite: count('cacheWriteInputTokenCount'),
  })
}

/** Finds the model of a request: in its path, in a JSON body, or in a form field. */
export class DetectedRequest {
  readonly #call: DetectedCall
  readonly #contentType: string
  readonly #limit: number
  #kept: Buffer[] = []
  #size = 0

  constructor(call: DetectedCall, { path, contentType }: { path: string; contentType: string | null }, limit: number) {
    this.#call = call
    this.#contentType = contentType ?? ''
    this.#limit = limit
    call.requestModel = modelOfPath(path)
  }

  /** Whether the model is known from the path, so that the body is not needed. */
  get isDone(): boolean {
    return this.#call.requestModel !== ''
  }

  chunk(chunk: Buffer): void {
    if (this.#size < this.#limit) this.#kept.push(Buffer.from(chunk.subarray(0, this.#limit - this.#size)))
    this.#size += chunk.length
  }

  over(): void {
    const bytes = Buffer.concat(this.#kept)
    if (/^multipart\/form-data/i.test(this.#contentType)) {
      this.#call.requestModel = MODEL_FIELD.exec(bytes.toString('latin1'))?.[1] ?? ''
      return
    }
    const body = this.#size <= this.#limit ? parseJsonObject(bytes.toString('utf8')) : null
    if (body === null) {
      this.#call.requestModel = FIRST_MODEL.exec(bytes.toString('utf8', 0, TAIL_BYTES))?.[1] ?? ''
      return
    }
    const model = body['model'] ?? objectAt(body, 'session')['model']
    if (typeof model === 'string') this.#call.requestModel = model
    if (body['stream'] === true) this.#call.streaming = true
  }
}

function modelOfPath(path: string): string {
  const [, model] = MODEL_PATHS.map((pattern) => pattern.exec(path)).find((found) => found !== null) ?? []
  try {
    return decodeURIComponent(model ?? '')
  } catch {
    return ''
  }
}

const MODEL_PATHS = [
  /\/(?:models|tunedModels)\/([^/:]+):[A-Za-z]+$/,
  /\/model\/([^/]+)\/[a-z-]+$/,
  /\/openai\/deployments\/([^/]+)\//,
]
const MODEL_FIELD = /name="model"(?:\r\n[^\r\n]+)*\r\n\r\n([^\r\n]{1,256})\r\n/
/** For bodies that are too large to parse: `model` as a member of the top-level object, before any nested object. */
const FIRST_MODEL = /^\s*\{(?:[^{}[\]]*,)?\s*"model"\s*:\s*"([^"\\]{1,256})"/
const USAGE_MEMBER = /"usage"\s*:\s*(\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\})/g
const MARKS = /"(?:usage|model)/
const BROKEN_LIST = /^\s*\[\s*\{[^{}[\]]*"candidates"\s*:/
const BLANKS: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d])
const OPEN_BRACE = 0x7b
const OPEN_BRACKET = 0x5b
const TAIL_BYTES = 64 * 1024
