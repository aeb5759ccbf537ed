import type { Reply } from '../../../pipeline/context/reply.ts'
import { failureReply } from '../../../pipeline/compiled/failure-reply.ts'
import type { JsonObject, RequestContext } from '../../../pipeline/context/request-context.ts'
import type { ProcessedExchange } from '../../../pipeline/ext-proc/processed-exchange.ts'
import type { Logger } from '../../../telemetry/log/logger.ts'
import type { ExtProcConfig } from './schema.ts'

/** The settings of the policy that do not belong to the stream to its processor. */
export interface PolicySettings {
  readonly failureMode: NonNullable<ExtProcConfig['failureMode']>
  readonly log: Logger
  /** Returns the attributes and metadata in the first message of a direction. */
  context(rx: RequestContext, name: 'request' | 'response'): ReturnType<ProcessedExchange['context']>
}

/** The request of a client that the processor of the policy changes. */
export class PolicyExchange implements ProcessedExchange {
  readonly rx: RequestContext
  readonly #settings: PolicySettings

  constructor(rx: RequestContext, settings: PolicySettings) {
    this.rx = rx
    this.#settings = settings
  }

  get canGoOn(): boolean {
    return this.#settings.failureMode === 'FailOpen'
  }

  context(name: 'request' | 'response'): ReturnType<ProcessedExchange['context']> {
    return this.#settings.context(this.rx, name)
  }

  gotMetadata(metadata: JsonObject): void {
    const { rx } = this
    rx.extProc = { ...rx.extProc, ...metadata }
  }

  note(details: () => JsonObject): void {
    this.rx.trace?.note(details())
  }

  processorFailed(cause: string, goesOn: boolean, isInStep: boolean): void {
    const { rx } = this
    const { failureMode, log } = this.#settings
    const details = { code: goesOn ? 'gone_on' : 'failed', cause, failureMode }
    if (!goesOn) rx.notes = details
    if (isInStep) rx.trace?.note(details)
    else rx.trace?.emit({ type: 'policyEvent', kind: 'extProc', details }, goesOn ? 'warn' : 'error')
    log.warn('external processor failed', { cause, failureMode, route: rx.routeName })
  }

  failureReply(why: string, cause: string): Reply {
    const { rx } = this
    rx.error = `ext_proc failed: ${cause}`
    const failure = { status: 500, message: `ext_proc failed: ${why}`, reason: 'ExtProc' } as const
    return failureReply(failure, rx.headers.get('content-type'))
  }

  processorAnswered({ status }: Reply, text: string, isInStep: boolean): void {
    const { rx } = this
    const details = { code: 'answered', status, details: text }
    rx.notes = details
    if (isInStep) rx.trace?.note(details)
    else rx.trace?.emit({ type: 'policyEvent', kind: 'extProc', details })
  }

  /** Interrupts the request; once its response has begun, the connection is cut. */
  interrupt(reply: Reply): void {
    const { rx } = this
    if (rx.runner?.interrupt(reply) === true) return
    rx.reason = 'ExtProc'
    rx.error ??= 'the processor answered after the response had begun'
    rx.exchange.reset(new Error(rx.error))
  }
}
