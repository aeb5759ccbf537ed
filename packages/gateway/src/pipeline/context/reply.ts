import { HeaderBlock } from '@portico/http'

/** A response made by the gateway itself. */
export class Reply {
  readonly status: number
  readonly headers: HeaderBlock
  readonly body: Buffer
  /** The reason for the access log and metrics. */
  readonly reason: Reason
  /** The error message, when the body consists of nothing else. */
  readonly failure: string | null

  constructor(
    status: number,
    options: { headers?: HeaderBlock; body?: Buffer; reason: Reason; failure?: string | null },
  ) {
    this.status = status
    this.headers = options.headers ?? new HeaderBlock()
    this.body = options.body ?? EMPTY
    this.reason = options.reason
    this.failure = options.failure ?? null
  }
}

/** The reason of a response, in logs and metrics. */
export type Reason =
  | 'Upstream'
  | 'DirectResponse'
  | 'Abort'
  | 'NotFound'
  | 'JwtAuth'
  | 'BasicAuth'
  | 'ApiKeyAuth'
  | 'Authorization'
  | 'ExtAuth'
  | 'ExtProc'
  | 'InferencePool'
  | 'Csrf'
  | 'RateLimit'
  | 'PromptGuard'
  | 'InvalidRequest'
  | 'LoopDetected'
  | 'NoHealthyBackend'
  | 'UpstreamFailure'
  | 'Timeout'
  | 'ClientGone'
  | 'Internal'

const EMPTY = Buffer.alloc(0)
