import { refusedRecord } from '../log/access-record.ts'
import { detailsOf } from './details.ts'
import type { RecordedListener, RecordedRequest, RecordedRoute, RecordedRun } from './facts.ts'
import { AT, FLAGS, MAX_MICROSECONDS, OUTCOME_CODES, PROTOCOLS, SEPARATOR, UNANSWERED, VERSIONS } from './layout.ts'
import { ModelDetails } from './model-details.ts'
import { endingOf, type Ending } from './outcome.ts'
import { PerSecond } from './per-second.ts'
import { idOf, type RecordNames } from './record-id.ts'
import { preambleOf, type Preamble, putPreamble, putTexts, roomFor, sizeOf } from './record-texts.ts'
import type { RequestRedaction } from '../../redaction/request-redaction.ts'
import { REFUSED_CONNECTIONS, type RefusedConnection } from './refused-connection.ts'
import { RingWriter } from './ring.ts'
import { WallTime } from '../wall-time.ts'

/** What a worker writes records to; the main thread has made it, and reads it. */
export interface RecorderMemory {
  /** Requests that simply passed. */
  passed: SharedArrayBuffer
  /** All others, so that a flood of good ones does not push them out. */
  notable: SharedArrayBuffer
  names: RecordNames
}

/** What the config says. */
export interface RecorderSettings {
  slowMs: number
  /** Whether to keep details of a request that passed. */
  isSampled: ((scope: object) => boolean) | null
  redaction: RequestRedaction
  generation: number
}

/** Writes down every request of one worker. */
export class Recorder {
  #rings: { memory: RecorderMemory; passed: RingWriter; notable: RingWriter } | null = null
  readonly #clock: () => number
  readonly #times: WallTime
  readonly #places = new WeakMap<object, Preamble[]>()
  /** Of the last record. */
  #lastPlace: { owner: object; backendIndex: number; preamble: Preamble } | null = null
  readonly #models = new ModelDetails()
  #settings: RecorderSettings | null = null
  #lastSerial = 0
  /** Since when, on the clock of `startedAt`, the config decides that is in use; those before it, oldest first. */
  #since = 0
  #before: { generation: number; since: number }[] = []
  /** Heads cost more than the rest together: a flood of refusals has them for the first ones of each second. */
  readonly #heads = new PerSecond(200)
  /** Whoever knocks without end must not push out what was refused of requests. */
  readonly #refused = new PerSecond(50)

  constructor(clock: () => number) {
    this.#clock = clock
    this.#times = new WallTime(clock)
  }

  /** Writes there from now on; null writes nothing. */
  attach(memory: RecorderMemory | null): void {
    if (memory === null) this.#rings = null
    else if (this.#rings?.memory.names.prefix !== memory.names.prefix) {
      this.#rings = { memory, passed: new RingWriter(memory.passed), notable: new RingWriter(memory.notable) }
    }
  }

  /** Null writes nothing from now on; `now` is on the clock of `startedAt`. */
  use(settings: RecorderSettings | null, now: number): void {
    const last = this.#settings
    if (last !== null)
      this.#before = [...this.#before, { generation: last.generation, since: this.#since }].slice(-MOST_BEFORE)
    this.#settings = settings
    this.#since = now
  }

  /** A request ends on the config that let it in, however many have come since. */
  #generationOf(startedAt: number, newest: number): number {
    // What never was a request has no beginning.
    if (startedAt >= this.#since || startedAt === 0) return newest
    return (this.#before.findLast(({ since }) => since <= startedAt) ?? this.#before[0])?.generation ?? newest
  }

  /** The name that the record of this request will have; null where there will be none. */
  idOf(rx: Pick<RecordedRequest, 'serial'>): string | null {
    if (this.#rings === null || this.#settings === null) return null
    if (rx.serial === 0) rx.serial = this.#nextSerial()
    return idOf(this.#rings.memory.names, rx.serial)
  }

  /** `scope` has the variables of expressions at the end of the request, where one reads them. */
  request(rx: RecordedRequest, scope: object | null): void {
    const settings = this.#settings
    const rings = this.#rings
    if (settings === null || rings === null) return
    const ending = endingOf(rx, settings.slowMs)
    const isSampled = settings.isSampled !== null && scope !== null && settings.isSampled(scope)
    const isNotable = isSampled || ending.outcome !== 'passed' || rx.keptBodies !== null
    const ring = isNotable ? rings.notable : rings.passed
    let details = isNotable
      ? detailsOf(rx, this.#heads.take(this.#clock()) ? 'heads' : 'none', settings.redaction)
      : this.#passedDetails(rx, settings.redaction)
    // What does not fit is left out, not the record.
    if (details.length > SHORT && Buffer.byteLength(details) > ring.maxBytes / 2) {
      details = detailsOf(rx, 'none', settings.redaction)
    }
    const answered = rx.answeredAt === 0 ? UNANSWERED : microseconds(rx.answeredAt - rx.startedAt)
    const flags =
      (ending.isSlow ? FLAGS.slow : 0) | (isSampled ? FLAGS.sampled : 0) | (rx.scheme === 'https' ? FLAGS.https : 0)
    const texts = textsOf(rx, settings.redaction, rx.requestId ?? '', keyOf(rx))
    if (rx.serial === 0) rx.serial = this.#nextSerial()
    this.#write(ring, rx, {
      serial: rx.serial,
      at: this.#times.of(rx.startedAt, rx.startedAt + rx.durationMs),
      attempts: rx.backendIndex < 0 ? 0 : rx.retryAttempt + 1,
      generation: this.#generationOf(rx.startedAt, settings.generation),
      ending,
      answered,
      flags,
      texts,
      details,
    })
  }

  /** Most that passed have none, or a chat with a model. */
  #passedDetails(rx: RecordedRequest, redaction: RequestRedaction): string {
    const { llm } = rx
    const isMore =
      rx.mcp !== null || rx.decision !== null || rx.notes !== null || rx.error !== null || rx.reason !== 'Upstream'
    if (!isMore) return llm === null ? '' : this.#models.of(llm, rx.startedAt)
    return llm !== null || rx.mcp !== null || rx.decision !== null ? detailsOf(rx, 'none', redaction) : ''
  }

  /** A connection without HTTP. */
  connection(run: RecordedRun & Pick<Partial<RecordedRequest>, 'notes'>): void {
    const settings = this.#settings
    const rings = this.#rings
    if (settings === null || rings === null) return
    const ending = endingOf(run, Infinity)
    const isNotable = ending.outcome !== 'passed'
    this.#write(isNotable ? rings.notable : rings.passed, run, {
      serial: this.#nextSerial(),
      at: this.#clock() - run.durationMs,
      attempts: run.endpoint === null ? 0 : 1,
      generation: this.#generationOf(run.startedAt, settings.generation),
      ending,
      answered: UNANSWERED,
      flags: 0,
      texts: textsOf(run, settings.redaction, '', ''),
      details: isNotable ? detailsOf(run, 'none', settings.redaction) : '',
    })
  }

  /** A message that was refused before it was a request. */
  malformed(source: { source: string; sni: string }, status: number, code: string): void {
    this.connection({ ...refusedRecord(source, status, code), listener: null, route: null, backendIndex: -1 })
  }

  /** A connection that was closed before there was a message on it. */
  refused(source: { source: string; sni: string }, { code, error, rules, listener }: RefusedConnection): void {
    if (this.#settings === null || !this.#refused.take(this.#clock())) return
    const { kind, protocol } = REFUSED_CONNECTIONS[code]
    this.connection({
      ...refusedRecord(source, 0, ''),
      error: error === '' ? null : error,
      reason: kind,
      protocol,
      listener,
      route: null,
      backendIndex: -1,
      notes: { code, ...(rules !== undefined && { rules }) },
    })
  }

  #write(ring: RingWriter, run: RecordedRun, parts: Parts): void {
    const { texts, ending } = parts
    const place = this.#placeOf(run)
    const took = microseconds(run.durationMs)
    const room = AT.texts + place.bytes + roomFor(texts)
    const details = sizeOf(parts.details) > ring.maxBytes - room ? '' : parts.details
    const offset = ring.reserve(room + sizeOf(details))
    const { bytes, u32, f64 } = ring
    const word = offset >>> 2
    u32[word + AT.serial / 4] = parts.serial
    f64[(offset + AT.at) >>> 3] = parts.at
    f64[(offset + AT.bytesIn) >>> 3] = run.requestBytes
    f64[(offset + AT.bytesOut) >>> 3] = run.responseBytes
    u32[word + AT.took / 4] = took
    u32[word + AT.answered / 4] = parts.answered
    u32[word + AT.generation / 4] = parts.generation
    u32[word + AT.status / 4] = run.status | (OUTCOME_CODES[ending.outcome] << 16) | (parts.flags << 24)
    u32[word + AT.attempts / 4] =
      Math.min(parts.attempts, 255) |
      (indexOf(VERSIONS, run.version ?? '') << 8) |
      (indexOf(PROTOCOLS, run.protocol) << 16)
    putPreamble(u32, word + AT.texts / 4, place)
    const textEnd = putTexts(bytes, offset + AT.texts + place.bytes, texts)
    const detailBytes = details === '' ? 0 : bytes.write(details, textEnd, 'utf8')
    u32[word + AT.textBytes / 4] = textEnd - offset - AT.texts
    u32[word + AT.detailBytes / 4] = detailBytes
    ring.publish(offset, textEnd - offset + detailBytes)
  }

  /** Made once for each route and backend. */
  #placeOf({ listener, route, backendIndex }: RecordedRun): Preamble {
    const owner = route ?? listener
    if (owner === null) return NOWHERE
    const last = this.#lastPlace
    if (last !== null && last.owner === owner && last.backendIndex === backendIndex) return last.preamble
    let places = this.#places.get(owner)
    if (places === undefined) this.#places.set(owner, (places = []))
    const preamble = (places[backendIndex + 1] ??= preambleOf(placeText(listener, route, backendIndex)))
    this.#lastPlace = { owner, backendIndex, preamble }
    return preamble
  }

  #nextSerial(): number {
    // It must fit into a word, and zero is none.
    this.#lastSerial = (this.#lastSerial + 1) >>> 0
    return this.#lastSerial === 0 ? ++this.#lastSerial : this.#lastSerial
  }
}

interface Parts {
  serial: number
  /** When it began. */
  at: number
  attempts: number
  generation: number
  ending: Ending
  answered: number
  flags: number
  texts: readonly string[]
  details: string
}

function placeText(listener: RecordedListener | null, route: RecordedRoute | null, backendIndex: number): string {
  const backend = route?.backends[backendIndex]
  const names = [listener?.bind, listener?.name, listener?.key, route?.name, route?.key, backend?.name, backend?.key]
  return names.map((name) => plain(name ?? '') + SEPARATOR).join('')
}

/** Behind the place, in the order of the layout. */
function textsOf(run: RecordedRun, redaction: RequestRedaction, requestId: string, key: string): string[] {
  return [
    run.method ?? '',
    cut(run.host ?? '', MAX_HOST),
    run.target === null ? '' : cut(redaction.target(run.target), MAX_PATH),
    run.srcAddr ?? '',
    run.endpoint ?? '',
    requestId,
    key,
    run.sni ?? '',
  ]
}

/** Who asks, as far as the config or a token says it. */
function keyOf({ apiKeyName, basicAuth, jwt }: RecordedRequest): string {
  if (apiKeyName !== null) return plain(apiKeyName)
  if (basicAuth !== null) return plain(basicAuth.username)
  if (jwt === null) return ''
  const subject = jwt['sub']
  return typeof subject === 'string' ? plain(subject) : ''
}

/** Without what separates texts, and not longer than a name. */
function plain(text: string): string {
  const short = cut(text, MAX_NAME)
  return CONTROL.test(short) ? short.replaceAll(ALL_CONTROL, ' ') : short
}

function cut(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest)}…` : text
}

function microseconds(milliseconds: number): number {
  return Math.min(MAX_MICROSECONDS, Math.max(0, Math.round(milliseconds * 1000)))
}

function indexOf(list: readonly string[], text: string): number {
  const index = list.indexOf(text)
  return index === -1 ? 0 : index
}

// eslint-disable-next-line no-control-regex -- they are what is looked for
const CONTROL = /[\0-\x1f]/
// eslint-disable-next-line no-control-regex -- the same
const ALL_CONTROL = /[\0-\x1f]/g
const SHORT = 512
/** Of how many configs requests may still be under way. */
const MOST_BEFORE = 256
const MAX_PATH = 2048
const MAX_HOST = 256
const MAX_NAME = 256
const NOWHERE = preambleOf(placeText(null, null, -1))
