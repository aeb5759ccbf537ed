import type { Source } from '../../body/body.ts'
import type { HeaderBlock } from '../../fields/header-block.ts'
import { ThroughBody } from '../../body/through-body.ts'
import type { EndpointCall } from '../endpoints/endpoint-call.ts'

/** A response body whose end is reported to the endpoint's call. */
export class TrackedBody extends ThroughBody {
  readonly #visit: Pick<EndpointCall, 'ended' | 'failed'>

  constructor(body: Source, visit: Pick<EndpointCall, 'ended' | 'failed'>) {
    super(body)
    this.#visit = visit
  }

  override cancel(cause: Error): void {
    this.#visit.ended()
    super.cancel(cause)
  }

  override end(trailers: HeaderBlock | null): void {
    this.#visit.ended()
    super.end(trailers)
  }

  override abort(cause: Error): void {
    this.#visit.failed()
    super.abort(cause)
  }
}
