import type { AccessLog, LineChanges } from './log/access-log.ts'
import { type AccessRecord, refusedRecord } from './log/access-record.ts'
import type { SampledSpans } from './metrics/exemplars.ts'
import type { CallTimer, RecordRequest, RequestOutcome } from './metrics/request-metrics.ts'
import type { RecordedListener, RecordedRequest, RecordedRoute, RecordedRun } from './recorder/facts.ts'
import type { Recorder } from './recorder/recorder.ts'

/** The fields of a request that telemetry reads; the `RequestContext` of the pipeline has them. */
interface ObservedRequest extends RecordedRequest, RequestOutcome {
  readonly spans: (SampledSpans & { finish(): void }) | null
  readonly listener: (RecordedListener & { readonly countUnrouted: RecordRequest }) | null
  readonly route: (RecordedRoute & { readonly count: RecordRequest }) | null
}

/** The fields of a connection without HTTP that telemetry reads. */
interface ObservedConnection extends RecordedRun, RequestOutcome {
  readonly route: (RecordedRoute & { readonly count: RecordRequest }) | null
}

/** The sender of a message or a connection: its address and its TLS server name. */
interface Sender {
  readonly source: string
  readonly sni: string
}

/** Exports one access record to an OTLP collector. */
export type ExportLog = (record: AccessRecord, changes: LineChanges | null) => void

/** The parts behind the entrance. A part that the config does not use is null, so that requests pay nothing for it. */
export interface TelemetryParts<Request, Answered, Connection, Malformed> {
  accessLog: AccessLog
  recorder: Pick<Recorder, 'request' | 'connection' | 'malformed' | 'refused' | 'idOf'>
  callTimer: CallTimer
  /** Changes the number of requests that have no complete response. */
  countActive(by: 1 | -1): void
  exportLog: ExportLog | null
  /** Returns the changes to the access log line for the variables in `scope`. */
  edit: ((scope: object) => LineChanges | null) | null
  /** Returns the variables of expressions in logs, metrics and records; null when no expression reads them. */
  scopes: Scopes<Request, Connection, Malformed> | null
  /** The watchers of the admin API: `watch` begins the trace of the request if one of them waits for it. */
  watchers: { readonly armed: boolean }
  watch(rx: Request): void
  /** Decides which requests have spans, and begins them. */
  spans: { begin(rx: Request): void } | null
  requestIds: { begin(rx: Request): void; answering(rx: Answered): void } | null
  /** Copies bodies for records. */
  bodies: { request(rx: Request): void; response(rx: Answered): void } | null
}

interface Scopes<Request, Connection, Malformed> {
  request(rx: Request): object
  connection(run: Connection): object
  malformed(sender: Malformed, status: number): object
}

/**
 * The only entrance of the pipeline to telemetry: access log, recorder, metrics, spans, traces and request ids are
 * behind it. Made once for each config; every request passes `started` and `finished`.
 */
export class RequestTelemetry<
  Request extends ObservedRequest,
  Answered extends Request,
  Connection extends ObservedConnection,
  Malformed extends Sender,
> {
  readonly #parts: TelemetryParts<Request, Answered, Connection, Malformed>

  constructor(parts: TelemetryParts<Request, Answered, Connection, Malformed>) {
    this.#parts = parts
  }

  /** Called first for every request. */
  started(rx: Request): void {
    const { watchers, spans, requestIds } = this.#parts
    this.#parts.countActive(1)
    if (watchers.armed) this.#parts.watch(rx)
    if (spans !== null) spans.begin(rx)
    if (requestIds !== null) requestIds.begin(rx)
  }

  /** Called before the backend of a request is called. */
  calling(rx: Request): void {
    const { bodies } = this.#parts
    if (bodies !== null) bodies.request(rx)
  }

  /** Called when the head of a backend's response arrived, with the time since the call began. */
  backendAnswered(rx: Request, milliseconds: number): void {
    this.#parts.callTimer(milliseconds, rx.spans)
  }

  /** Called before the head of a response is sent. */
  responding(rx: Answered): void {
    const { bodies, requestIds } = this.#parts
    if (bodies !== null) bodies.response(rx)
    if (requestIds !== null) requestIds.answering(rx)
  }

  /** Called once per request when everything is over. */
  finished(rx: Request): void {
    const { scopes, recorder } = this.#parts
    this.#parts.countActive(-1)
    const scope = scopes === null ? null : scopes.request(rx)
    this.#log(rx, scope)
    recorder.request(rx, scope)
    if (rx.spans !== null) rx.spans.finish()
    if (rx.route !== null) rx.route.count(rx, scope)
    else if (rx.listener !== null) rx.listener.countUnrouted(rx, scope)
  }

  /** Called once per connection without HTTP when it is closed. */
  connectionFinished(run: Connection): void {
    const { scopes, recorder } = this.#parts
    const scope = scopes === null ? null : scopes.connection(run)
    this.#log(run, scope)
    recorder.connection(run)
    if (run.route !== null) run.route.count(run, scope)
  }

  /** Logs and records a malformed message that never became a request. */
  malformed(sender: Malformed, status: number, code: string): void {
    const { scopes, edit, recorder } = this.#parts
    const scope = scopes === null || edit === null ? null : scopes.malformed(sender, status)
    this.#log(refusedRecord(sender, status, code), scope)
    recorder.malformed(sender, status, code)
  }

  /** Records a connection that was closed before its first request; there is no access log line for it. */
  refused(...[sender, refusal]: Parameters<Recorder['refused']>): void {
    this.#parts.recorder.refused(sender, refusal)
  }

  /** Returns the id that the record of a request will have; null when requests are not recorded. */
  recordId(rx: Request): string | null {
    return this.#parts.recorder.idOf(rx)
  }

  #log(record: AccessRecord, scope: object | null): void {
    const { accessLog, edit, exportLog } = this.#parts
    if (edit === null || scope === null) {
      accessLog(record)
      if (exportLog !== null) exportLog(record, null)
    } else if (exportLog === null) accessLog(record, () => edit(scope))
    else {
      const changes = edit(scope)
      accessLog(record, () => changes)
      if (changes !== null) exportLog(record, changes)
    }
  }
}
