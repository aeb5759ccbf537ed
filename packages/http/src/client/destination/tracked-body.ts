import type { Source } from '../../body/body.ts'
import type { HeaderBlock } from '../../fields/header-block.ts'
import { ThroughBody } from '../../body/through-body.ts'
import type { EndpointLease } from '../endpoints/endpoints.ts'

/** A response body whose end is reported to the endpoint's call. */
export class TrackedBody extends ThroughBody {
  readonly #lease: Pick<EndpointLease, 'ended' | 'failed'>

  constructor(body: Source, lease: Pick<EndpointLease, 'ended' | 'failed'>) {
    super(body)
    this.#lease = lease
  }

  get takesFramed(): boolean {
    return this.sink?.takesFramed === true
  }

  writeFramed(framed: string, dataAt: number): boolean {
    return this.sink?.writeFramed?.(framed, dataAt) === true
  }

  override cancel(cause: Error): void {
    this.#lease.ended()
    super.cancel(cause)
  }

  override end(trailers: HeaderBlock | null): void {
    this.#lease.ended()
    super.end(trailers)
  }

  override abort(cause: Error): void {
    this.#lease.failed()
    super.abort(cause)
  }
}
