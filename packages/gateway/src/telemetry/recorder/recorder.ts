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

/** Shared memory for the records of a worker; the main thread creates it and reads it. */
export interface RecorderMemory {
  /** Requests that simply passed. */
  passed: SharedArrayBuffer
  /** All other requests, so that a flood of passed requests does not overwrite them. */
  notable: SharedArrayBuffer
  names: RecordNames
}

/** The settings of the recorder in the config. */
export interface RecorderSettings {
  slowMs: number
  /** Whether to keep details of a request that passed. */
  isSampled: ((scope: object) => boolean) | null
  redaction: RequestRedaction
  generation: number
}

/** Records every request of one worker. */
export class Recorder {
  #rings: { memory: RecorderMemory; passed: RingWriter; notable: RingWriter } | null = null
  readonly #clock: () => number
  readonly #times: WallTime
  readonly #places = new WeakMap<object, Preamble[]>()
  /** The preamble of the last record; the next record often has the same. */
  #lastPlace: { owner: object; backendIndex: number; preamble: Preamble } | null = null
  readonly #models = new ModelDetails()
  #settings: RecorderSettings | null = null
  #lastSerial = 0
  /** When the current config went live, on the clock of `startedAt`; earlier configs, oldest first. */
  #since = 0
  #before: { generation: number; since: number }[] = []
  /** Heads cost more than the rest of a record, so only the first notable requests of each second have them. */
  readonly #heads = new PerSecond(200)
  /** Limits records of refused connections, so that a client that keeps connecting does not overwrite other records. */
  readonly #refused = new PerSecond(50)

  constructor(clock: () => number) {
    this.#clock = clock
    this.#times = new WallTime(clock)
  }

  /** Sets the memory for new records; null stops recording. */
  attach(memory: RecorderMemory | null): void {
    if (memory === null) this.#rings = null
    else if (this.#rings?.memory.names.prefix !== memory.names.prefix) {
      this.#rings = { memory, passed: new RingWriter(memory.passed), notable: new RingWriter(memory.notable) }
    }
  }

  /** Sets the settings for new records; null stops recording. `now` is on the clock of `startedAt`. */
  use(settings: RecorderSettings | null, now: number): void {
    const last = this.#settings
    if (last !== null)
      this.#before = [...this.#before, { generation: last.generation, since: this.#since }].slice(-MOST_BEFORE)
    this.#settings = settings
    this.#since = now
  }

  /** Returns the generation that admitted a request, which also finishes it. */
  #generationOf(startedAt: number, newest: number): number {
    // A refused connection has no start time.
    if (startedAt >= this.#since || startedAt === 0) return newest
    return (this.#before.findLast(({ since }) => since <= startedAt) ?? this.#before[0])?.generation ?? newest
  }

  /** Returns the id that the record of this request will have; null when requests are not recorded. */
  idOf(rx: Pick<RecordedRequest, 'serial'>): string | null {
    if (this.#rings === null || this.#settings === null) return null
    if (rx.serial === 0) rx.serial = this.#nextSerial()
    return idOf(this.#rings.memory.names, rx.serial)
  }

  /** Records a request. `scope` has the variables for expressions; null when no expression reads them. */
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
    // A record that does not fit is written without its heads and variables.
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

  /** Most passed requests have no details, or those of a model call. */
  #passedDetails(rx: RecordedRequest, redaction: RequestRedaction): string {
    const { llm } = rx
    const isMore =
      rx.mcp !== null || rx.decision !== null || rx.notes !== null || rx.error !== null || rx.reason !== 'Upstream'
    if (!isMore) return llm === null ? '' : this.#models.of(llm, rx.startedAt)
    return llm !== null || rx.mcp !== null || rx.decision !== null ? detailsOf(rx, 'none', redaction) : ''
  }

  /** Records a connection without HTTP. */
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

  /** Records a malformed message that never became a request. */
  malformed(source: { source: string; sni: string }, status: number, code: string): void {
    this.connection({ ...refusedRecord(source, status, code), listener: null, route: null, backendIndex: -1 })
  }

  /** Records a connection that was closed before its first message. */
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

  /** Returns the preamble for listener, route and backend; it is made once for each route and backend. */
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
    // Serials fit into 32 bits, and zero means none.
    this.#lastSerial = (this.#lastSerial + 1) >>> 0
    return this.#lastSerial === 0 ? ++this.#lastSerial : this.#lastSerial
  }
}

interface Parts {
  serial: number
  /** When the request began, in milliseconds since 1970. */
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

/** Returns the texts after the preamble, in the order of the layout. */
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

/** Returns the name of the client: of its API key, its user, or the subject of its token. */
function keyOf({ apiKeyName, basicAuth, jwt }: RecordedRequest): string {
  if (apiKeyName !== null) return plain(apiKeyName)
  if (basicAuth !== null) return plain(basicAuth.username)
  if (jwt === null) return ''
  const subject = jwt['sub']
  return typeof subject === 'string' ? plain(subject) : ''
}

/** Returns the text without control characters, which separate texts, cut to the length of a name. */
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
/** The most earlier configs that are remembered for requests in progress. */
const MOST_BEFORE = 256
const MAX_PATH = 2048
const MAX_HOST = 256
const MAX_NAME = 256
const NOWHERE = preambleOf(placeText(null, null, -1))
