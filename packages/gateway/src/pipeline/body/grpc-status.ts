import type { Sink, Source } from '../../net/body.ts'
import type { HeaderBlock } from '../../net/header-block.ts'
import type { RequestContext } from '../request-context.ts'

/** Where a gRPC call ends without a message, its status stands in the head. */
export function readGrpcStatus(rx: RequestContext, fields: HeaderBlock | null): void {
  const text = fields === null ? null : fields.get('grpc-status')
  if (text !== null && /^[0-9]{1,9}$/.test(text)) rx.grpcStatus = Number(text)
}

/** Passes a body on and reads the status of a gRPC call from its trailers. */
export class GrpcStatusSink implements Sink {
  readonly #sink: Sink
  readonly #rx: RequestContext

  constructor(sink: Sink, rx: RequestContext) {
    this.#sink = sink
    this.#rx = rx
  }

  get source(): Source | null {
    return this.#sink.source
  }

  set source(source: Source | null) {
    this.#sink.source = source
  }

  write(chunk: Buffer): void {
    this.#sink.write(chunk)
  }

  flush(): boolean {
    return this.#sink.flush()
  }

  end(trailers: HeaderBlock | null): void {
    readGrpcStatus(this.#rx, trailers)
    this.#sink.end(trailers)
  }

  abort(cause: Error): void {
    this.#sink.abort(cause)
  }
}
