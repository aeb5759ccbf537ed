import { isShadowNotable } from '../../records/shadow-outcome.ts'
import { refusedRecord } from '../log/access-record.ts'
import { detailsOf } from './details.ts'
import type { RecordedRequest, RecordedRun } from './facts.ts'
import { FLAGS, UNANSWERED } from './layout.ts'
import { ModelDetails } from './model-details.ts'
import { PerSecond } from './per-second.ts'
import type { RecordOutcome } from './record.ts'
import { idOf, type RecordNames } from './record-id.ts'
import { microseconds, plainName, RecordWriter, shortened } from './record-writer.ts'
import type { RequestRedaction } from '../../redaction/request-redaction.ts'
import { REFUSED_CONNECTIONS, type RefusedConnection } from './refused-connection.ts'
import { RingWriter } from './ring.ts'
import { WallTime } from '../../state/clock.ts'

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
  readonly #writer = new RecordWriter()
  readonly #models = new ModelDetails()
  #settings: RecorderSettings | null = null
  #lastSerial = 0
  /** When the current config went live, on the clock of `startedAt`; earlier configs, oldest first. */
  #since = 0
  #before: { generation: number; since: number }[] = []
  /** Heads cost more than the rest of a record, so only the first notable requests of each second have them. */
  readonly #heads = new PerSecond(200)
  /**
   * Limits full records of requests that only a shadow policy would have denied, so that a strict shadow does not push
   * records of failures out.
   */
  readonly #shadowed = new PerSecond(20)
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

  /** Returns the name of the client: of its API key, its user, or the subject of its token; empty without any. */
  clientOf({ apiKeyName, basicAuth, jwt }: RecordedRequest): string {
    if (apiKeyName !== null) return plainName(apiKeyName)
    if (basicAuth !== null) return plainName(basicAuth.username)
    if (jwt === null) return ''
    const subject = jwt['sub']
    return typeof subject === 'string' ? plainName(subject) : ''
  }

  /** Records a request. `scope` has the variables for expressions; null when no expression reads them. */
  request(rx: RecordedRequest, scope: object | null): void {
    const settings = this.#settings
    const rings = this.#rings
    if (settings === null || rings === null) return
    const ending = endingOf(rx, settings.slowMs)
    const isSampled = settings.isSampled !== null && scope !== null && settings.isSampled(scope)
    const isNotable = isSampled || ending.outcome !== 'passed' || rx.keptBodies !== null || this.#isShadowSeen(rx)
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
    const texts = textsOf(rx, settings.redaction, rx.requestId ?? '', this.clientOf(rx))
    if (rx.serial === 0) rx.serial = this.#nextSerial()
    this.#writer.write(ring, rx, {
      serial: rx.serial,
      at: this.#times.of(rx.startedAt, rx.startedAt + rx.durationMs),
      attempts: rx.backendIndex < 0 ? 0 : rx.retryAttempt + 1,
      generation: this.#generationOf(rx.startedAt, settings.generation),
      outcome: ending.outcome,
      answered,
      flags,
      texts,
      details,
    })
  }

  /** Most passed requests have no details, or those of a model call. */
  #passedDetails(rx: RecordedRequest, redaction: RequestRedaction): string {
    const { llm, shadows } = rx
    if (rx.rehearsal !== null) return detailsOf(rx, 'none', redaction)
    const isMore =
      rx.mcp !== null || rx.decision !== null || rx.notes !== null || rx.error !== null || rx.reason !== 'Upstream'
    if (!isMore && shadows === null) return llm === null ? '' : this.#models.of(llm, rx.startedAt)
    const allowed = isMore || llm !== null ? null : shadows?.allowedDetails
    if (typeof allowed === 'string') return allowed
    return llm !== null || rx.mcp !== null || rx.decision !== null || shadows !== null
      ? detailsOf(rx, 'none', redaction)
      : ''
  }

  /** Records a connection without HTTP. */
  connection(run: RecordedRun & Pick<Partial<RecordedRequest>, 'notes'>): void {
    const settings = this.#settings
    const rings = this.#rings
    if (settings === null || rings === null) return
    const ending = endingOf(run, Infinity)
    const isNotable = ending.outcome !== 'passed' || this.#isShadowSeen(run)
    this.#writer.write(isNotable ? rings.notable : rings.passed, run, {
      serial: this.#nextSerial(),
      at: this.#clock() - run.durationMs,
      attempts: run.endpoint === null ? 0 : 1,
      generation: this.#generationOf(run.startedAt, settings.generation),
      outcome: ending.outcome,
      answered: UNANSWERED,
      flags: 0,
      texts: textsOf(run, settings.redaction, '', ''),
      details: isNotable || run.shadows !== null ? detailsOf(run, 'none', settings.redaction) : '',
    })
  }

  /** Records a malformed message that never became a request. */
  malformed(source: { source: string; sni: string }, status: number, code: string): void {
    this.connection({ ...refusedRecord(source, status, code), listener: null, route: null, backendIndex: -1 })
  }

  /** Records a connection that was closed before its first message. */
  refused(
    source: { source: string; sni: string },
    { code, cause, error, rules, listener, ...sent }: RefusedConnection,
  ): void {
    if (this.#settings === null || !this.#refused.take(this.#clock())) return
    const { kind, protocol } = { ...REFUSED_CONNECTIONS[code], ...sent }
    this.connection({
      ...refusedRecord(source, 0, ''),
      error: error === '' ? null : error,
      reason: kind,
      protocol,
      listener,
      route: null,
      backendIndex: -1,
      notes: { code, ...(cause !== undefined && { cause }), ...(rules !== undefined && { rules }) },
    })
  }

  #isShadowSeen({ shadows }: Pick<RecordedRun, 'shadows'>): boolean {
    return shadows !== null && isShadowNotable(shadows) && this.#shadowed.take(this.#clock())
  }

  #nextSerial(): number {
    // Serials fit into 32 bits, and zero means none.
    this.#lastSerial = (this.#lastSerial + 1) >>> 0
    return this.#lastSerial === 0 ? ++this.#lastSerial : this.#lastSerial
  }
}

/** Returns the texts after the preamble, in the order of the layout. */
function textsOf(run: RecordedRun, redaction: RequestRedaction, requestId: string, key: string): string[] {
  return [
    run.method ?? '',
    shortened(run.host ?? ''),
    run.target === null ? '' : shortened(redaction.target(run.target), MAX_PATH),
    run.srcAddr ?? '',
    run.endpoint ?? '',
    requestId,
    key,
    run.sni ?? '',
    run.srcIdentity ?? '',
  ]
}

interface FinishedRequest {
  readonly reason: string
  readonly status: number
  readonly mcp: { readonly outcome: string | null } | null
  readonly notes?: { readonly [key: string]: unknown } | null
}

/** Returns how a request or connection ended, by its reason; the recorder itself adds `evicted` and `slow`. */
export function outcomeOf({ reason, status, mcp, notes }: FinishedRequest): Exclude<RecordOutcome, 'evicted' | 'slow'> {
  switch (reason) {
    case 'Upstream':
      if (mcp !== null) return outcomeOfMessage(mcp.outcome)
      return status >= 500 ? 'failed' : 'passed'
    case 'DirectResponse':
      return 'passed'
    case 'RateLimit':
      // The request fails when the rate limit service is unavailable.
      return status >= 500 ? 'failed' : 'limited'
    case 'InvalidRequest':
      // A version that the client should not have used is no failure of the gateway.
      return status >= 500 && status !== 505 ? 'failed' : 'denied'
    case 'PromptGuard':
      // The status of a stream was sent before the guard failed.
      return status >= 500 || notes?.['code'] === 'guard_failed' ? 'failed' : 'denied'
    case 'ClientGone':
      return 'aborted'
    case 'NoHealthyBackend':
    case 'UpstreamFailure':
    case 'Timeout':
    case 'Internal':
      return 'failed'
    default:
      return status >= 500 ? 'failed' : 'denied'
  }
}

function outcomeOfMessage(outcome: string | null): 'passed' | 'denied' | 'failed' | 'aborted' {
  return OUTCOMES_OF_MESSAGES[outcome ?? ''] ?? 'passed'
}

/** A response of a tool with `isError` counts as passed. */
const OUTCOMES_OF_MESSAGES: Readonly<Record<string, 'denied' | 'failed' | 'aborted'>> = {
  denied: 'denied',
  error: 'failed',
  unavailable: 'failed',
  cancelled: 'aborted',
}

interface Ending {
  outcome: RecordOutcome
  isSlow: boolean
}

/** Returns the outcome with `evicted` and `slow`, which `outcomeOf` does not know. */
function endingOf(run: RecordedRun & Partial<RecordedRequest>, slowMs: number): Ending {
  const { answeredAt = 0, startedAt, durationMs } = run
  // The time that a stream or a slow client takes after the response began says nothing about the gateway.
  const isSlow = (answeredAt === 0 ? durationMs : answeredAt - startedAt) > slowMs
  const outcome = outcomeOf(run)
  if (outcome !== 'passed' && outcome !== 'aborted') return { outcome, isSlow }
  if (run.hasEvicted === true) return { outcome: 'evicted', isSlow }
  return { outcome: outcome === 'passed' && isSlow ? 'slow' : outcome, isSlow }
}

const SHORT = 512
/** The most earlier configs that are remembered for requests in progress. */
const MOST_BEFORE = 256
const MAX_PATH = 2048
