import { Deadline, type Deadlines, emptySource, HeaderBlock, type Sink, type Source, sourceOf } from '@portico/http'
import type {
  UpstreamCall,
  UpstreamError,
  UpstreamHandler,
  UpstreamRequest,
  UpstreamResponse,
} from '@portico/http/client'
import type { BackendClient, CallContext } from '../context/step.ts'

interface FetchOptions {
  authority: string
  /** Path and query. */
  target: string
  maxBytes: number
  timeoutMs: number
  /** Sends this body, by POST unless `method` is set. Any 2xx is an answer then, and with `refusals` any 4xx too. */
  post?: { method?: string; headers: HeaderBlock; body: Buffer; refusals?: boolean }
  /** The parent of the span of the call; the call has no span without it. */
  span?: CallContext['span'] | undefined
  /** The request for which the call is made; policies of the backend apply only with it. */
  rx?: CallContext['rx'] | undefined
}

interface FetchedText {
  status: number
  headers: HeaderBlock
  text: string
}

export interface WholeAnswer {
  status: number
  headers: HeaderBlock
  body: Buffer
}

/** Sends a request of the gateway itself and returns the whole response, whatever its status. */
export function fetchWhole(
  client: BackendClient,
  request: UpstreamRequest,
  { context, deadlines, maxBytes, timeoutMs, started, answered }: WholeOptions,
): Promise<WholeAnswer> {
  return new Promise((resolve, reject) => {
    const isAnswer = (status: number): boolean => {
      answered?.(status)
      return true
    }
    const fetch = new Fetch({ maxBytes, isAnswer, acceptsEncoded: true }, (error, answer) => {
      deadlines.clear(deadline)
      if (answer === null) reject(error)
      else resolve(answer)
    })
    const deadline = new Deadline(() => fetch.giveUp(new TooLate()))
    started?.((error) => fetch.giveUp(error))
    deadlines.set(deadline, timeoutMs)
    fetch.started(client.send(request, context, fetch))
  })
}

interface WholeOptions {
  context: CallContext
  deadlines: Deadlines
  maxBytes: number
  timeoutMs: number
  /** Receives the function that cancels the call. */
  started?: (giveUp: (error: Error) => void) => void
  /** Receives the status of the response, even if the body cannot be read. */
  answered?: (status: number) => void
}

/** The error of a response that cannot be used, whatever its status. */
export class Unusable extends Error {
  /** The `error.type` of the span. */
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

export class TooLate extends Unusable {
  constructor() {
    super('response_timeout', 'no complete response in time')
  }
}

/**
 * Fetches a document for the gateway itself, by GET unless `post` is set. Rejects unless the status is 200 (see `post` for
 * other statuses); redirects are never followed.
 */
export function fetchText(client: BackendClient, options: FetchOptions): Promise<FetchedText> {
  return new Promise((resolve, reject) => {
    const { post, maxBytes } = options
    const highestStatus = post === undefined ? 200 : 299
    const isAnswer = (status: number): boolean =>
      (status >= 200 && status <= highestStatus) || (post?.refusals === true && status >= 400 && status <= 499)
    const fetch = new Fetch({ maxBytes, isAnswer, acceptsEncoded: false }, (error, answer) => {
      clearTimeout(timer)
      if (answer === null) reject(error)
      else resolve({ ...answer, text: answer.body.toString('utf8') })
    })
    const timer = setTimeout(() => fetch.giveUp(new TooLate()), options.timeoutMs)
    timer.unref()
    const request = {
      method: post === undefined ? 'GET' : (post.method ?? 'POST'),
      target: options.target,
      authority: options.authority,
      headers: post?.headers ?? HeaderBlock.of([['accept', 'application/json']]),
      body: post === undefined ? emptySource : sourceOf(post.body),
      upgrade: '',
      teTrailers: false,
    }
    const { span = null, rx } = options
    const context = { ...CONTEXT, ...(span !== null && { span }), ...(rx !== undefined && { rx }) }
    fetch.started(client.send(request, context, fetch))
  })
}

const CONTEXT: CallContext = { hops: '', clientVersion: 'HTTP/1.1', clientScheme: 'http', connectingTo: () => {} }

type FetchCallback = (error: Error | null, answer: WholeAnswer | null) => void

/** The responses that a fetch accepts. */
interface AcceptedResponse {
  maxBytes: number
  isAnswer: (status: number) => boolean
  /** Whether a compressed body is accepted, because only its bytes are passed on. */
  acceptsEncoded: boolean
}

class Fetch implements UpstreamHandler, Sink {
  source: Source | null = null
  readonly #chunks: Buffer[] = []
  readonly #accepted: AcceptedResponse
  readonly #done: FetchCallback
  #status = 0
  #call: UpstreamCall | null = null
  #headers = new HeaderBlock()
  #size = 0
  #isOver = false

  constructor(taken: AcceptedResponse, done: FetchCallback) {
    this.#accepted = taken
    this.#done = done
  }

  started(call: UpstreamCall): void {
    if (this.#isOver) call.cancel(NOT_NEEDED)
    else this.#call = call
  }

  giveUp(error: Error): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#call?.cancel(error)
    this.#done(error, null)
  }

  informed(): void {}

  responded({ status, headers, body }: UpstreamResponse): void {
    const encoding = headers.get('content-encoding')
    const { acceptsEncoded, maxBytes } = this.#accepted
    const isAnswer = this.#accepted.isAnswer(status)
    const isPlain = acceptsEncoded || encoding === null || encoding === 'identity'
    if (isAnswer && isPlain && body.length <= maxBytes) {
      this.#status = status
      this.#headers = headers
      return body.pipe(this)
    }
    const error = isAnswer
      ? new Unusable('too_long', 'the response is compressed or too long')
      : new Unusable(String(status), `the response has status ${status}`)
    body.cancel(error)
    this.giveUp(error)
  }

  upgraded(...[, , raw]: Parameters<UpstreamHandler['upgraded']>): void {
    raw.socket.destroy()
    this.giveUp(new Unusable('bad_response', 'the response switches protocols'))
  }

  failed(error: UpstreamError): void {
    this.giveUp(error)
  }

  write(chunk: Buffer): void {
    this.#size += chunk.length
    // A chunk may be a view of a buffer that the next read fills again.
    if (this.#size <= this.#accepted.maxBytes) this.#chunks.push(Buffer.from(chunk))
  }

  flush(): boolean {
    if (this.#size > this.#accepted.maxBytes) this.giveUp(new Unusable('too_long', 'the response is too long'))
    return true
  }

  end(): void {
    if (this.#isOver) return
    if (this.#size > this.#accepted.maxBytes) return this.giveUp(new Unusable('too_long', 'the response is too long'))
    this.#isOver = true
    this.#done(null, { status: this.#status, headers: this.#headers, body: Buffer.concat(this.#chunks) })
  }

  abort(cause: Error): void {
    this.giveUp(cause)
  }
}

const NOT_NEEDED = new Error('answer not needed')
