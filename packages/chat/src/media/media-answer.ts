import { parseJsonObject } from '@portico/http/json'
import type { Usage } from '../middle.ts'
import { brokenStream, type StreamFault, streamFault } from '../response/chat-error.ts'
import { mediaUsage } from './media-usage.ts'

/** The facts of a call that its response tells; the caller owns the object. */
interface MediaFacts {
  usage: Usage
  isEstimated: boolean
}

/**
 * Reads the usage of an image or audio response while the response passes: JSON, server-sent events, captions, text, or the
 * bytes of sound. Vendors report usage at the end, so only the end is kept, whatever the size of the response.
 */
export class MediaAnswer {
  readonly #facts: MediaFacts
  readonly #isEvents: boolean
  readonly #isJson: boolean
  readonly #isText: boolean
  readonly #known: Usage
  /** The last chunks, together at least as long as the end that is read. */
  #kept: Buffer[] = []
  #keptSize = 0
  #seam = Buffer.alloc(0)
  #size = 0
  #hasEnd = false

  /** `known` is the usage of a complete response that reports none. */
  constructor(facts: MediaFacts, contentType: string | null, known: Usage) {
    const type = contentType?.toLowerCase() ?? ''
    this.#facts = facts
    this.#isEvents = type.startsWith('text/event-stream')
    this.#isJson = type.startsWith('application/json')
    this.#isText = /^(?:text\/|application\/x-subrip)/.test(type)
    this.#known = known
  }

  chunk(chunk: Buffer): void {
    this.#size += chunk.length
    if (!this.#isEvents && !this.#isJson && !this.#isText) return
    if (this.#isEvents && !this.#hasEnd) {
      const seam = Buffer.concat([this.#seam, chunk.subarray(0, SEAM_BYTES)])
      this.#hasEnd = ENDS.some((mark) => chunk.includes(mark) || seam.includes(mark))
      this.#seam = Buffer.from(chunk.length < SEAM_BYTES ? seam.subarray(-SEAM_BYTES) : chunk.subarray(-SEAM_BYTES))
    }
    const last = Buffer.from(chunk.subarray(-TAIL_BYTES))
    this.#kept.push(last)
    this.#keptSize += last.length
    if (this.#keptSize > 2 * TAIL_BYTES) this.#compact()
  }

  #compact(): void {
    const tail = Buffer.from(Buffer.concat(this.#kept).subarray(-TAIL_BYTES))
    this.#kept = [tail]
    this.#keptSize = tail.length
  }

  /** Ends the response; `whole` says that the body ended cleanly. Returns the fault of a response that is not complete. */
  over(whole: boolean): StreamFault | null {
    const text = Buffer.concat(this.#kept).toString('utf8')
    const usage = this.#isText && !this.#isEvents ? this.#captions(text) : this.#usage(text)
    const fault = whole ? this.#fault(text) : null
    const isComplete = whole && fault === null
    this.#facts.usage = { calls: 1, ...(isComplete && this.#known), ...usage }
    if (!isComplete && usage === null) this.#facts.isEstimated = true
    return fault
  }

  #usage(text: string): Usage | null {
    const body = this.#size === this.#keptSize ? parseJsonObject(text) : null
    if (body !== null) {
      const { duration, usage } = body
      // Some servers write the number as a text.
      const seconds =
        typeof duration === 'string' && /^\d{1,9}(?:\.\d{1,9})?$/.test(duration) ? Number(duration) : duration
      return mediaUsage(usage) ?? (typeof seconds === 'number' ? { seconds } : null)
    }
    const reported = [...text.matchAll(USAGE_MEMBER)].at(-1)?.[1]
    return reported === undefined ? null : mediaUsage(parseJsonObject(reported) ?? undefined)
  }

  /** The end of the last caption, which is where the speech ends, and not always the sound. */
  #captions(text: string): Usage | null {
    const [, hours = '0', minutes = '0', seconds = '0'] = [...text.matchAll(CAPTION_END)].at(-1) ?? []
    const sum = Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds.replace(',', '.'))
    if (sum === 0) return null
    this.#facts.isEstimated = true
    return { seconds: sum }
  }

  #fault(text: string): StreamFault | null {
    if (this.#size === 0) return INCOMPLETE
    if (this.#isJson && !text.trimEnd().endsWith('}')) return UNREADABLE
    if (!this.#isEvents || this.#hasEnd) return null
    const error = ERROR_EVENT.test(text)
    return error
      ? { code: 'stream_error', error: brokenStream('the provider sent an error in its stream') }
      : INCOMPLETE
  }
}

/** A member whose value is an object of at most two levels. A text cannot contain it, because quotes in texts are escaped. */
const USAGE_MEMBER = /"usage"\s*:\s*(\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\})/g
/** Types of the events that end streams of images, speech and transcriptions. */
const ENDS = ['_generation.completed"', 'image_edit.completed"', 'speech.audio.done"', 'transcript.text.done"']
const CAPTION_END = /-->[ \t]+(?:(\d{1,4}):)?(\d\d):(\d\d[.,]\d{3})/g
const SEAM_BYTES = 32
const ERROR_EVENT = /"type"\s*:\s*"error"/
const TAIL_BYTES = 64 * 1024
const INCOMPLETE = streamFault(brokenStream('the response ended too early'), 'stream_incomplete')
const UNREADABLE = streamFault(brokenStream('the response is not JSON'), 'stream_unreadable')
