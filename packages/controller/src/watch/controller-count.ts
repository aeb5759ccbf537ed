import type { Resource } from '@portico/translate'
import { listAt, valueAt } from '../deploy/json.ts'

/** How many controllers there are, by the EndpointSlices of the Service by which data planes find them. */
export class ControllerCount {
  readonly #service: string
  readonly #countBySlice = new Map<string, number>()

  /** `namespace/name` of the Service. */
  constructor(service: string) {
    this.#service = service
  }

  get hasOthers(): boolean {
    return [...this.#countBySlice.values()].reduce((sum, count) => sum + count, 0) > 1
  }

  /** An EndpointSlice of whatever Service, or that one is gone. */
  take(key: string, slice: Resource | undefined): void {
    const { namespace, labels } = slice?.metadata ?? {}
    if (`${namespace}/${labels?.['kubernetes.io/service-name']}` !== this.#service) {
      this.#countBySlice.delete(key)
      return
    }
    const ready = listAt(slice, 'endpoints').filter((one) => valueAt(one, 'conditions', 'ready') !== false)
    this.#countBySlice.set(key, ready.length)
  }
}
