import type { Sink, Source } from '../net/body.ts'
import type { HeaderBlock } from '../net/header-block.ts'
import type { EndpointCall } from './endpoint-call.ts'

/** The body of a response, passed on as it comes; its end is the end of the visit. */
export class TrackedBody implements Source, Sink {
  readonly length: number
  source: Source | null = null
  readonly #body: Source
  readonly #visit: Pick<EndpointCall, 'ended' | 'failed'>
  #sink: Sink | null = null

  constructor(body: Source, visit: Pick<EndpointCall, 'ended' | 'failed'>) {
    this.length = body.length
    this.#body = body
    this.#visit = visit
  }

  pipe(sink: Sink): void {
    sink.source = this
    this.#sink = sink
    this.#body.pipe(this)
  }

  resume(): void {
    this.#body.resume()
  }

  cancel(cause: Error): void {
    this.#visit.ended()
    this.#body.cancel(cause)
  }

  write(chunk: Buffer): void {
    this.#sink?.write(chunk)
  }

  flush(): boolean {
    return this.#sink?.flush() ?? true
  }

  end(trailers: HeaderBlock | null): void {
    this.#visit.ended()
    this.#sink?.end(trailers)
  }

  abort(cause: Error): void {
    this.#visit.failed()
    this.#sink?.abort(cause)
  }
}
