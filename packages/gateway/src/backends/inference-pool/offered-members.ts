import type { JsonObject } from '../../pipeline/context/request-context.ts'
import type { MessageContext } from '../../pipeline/ext-proc/messages.ts'
import { BALANCING, SERVED, SUBSET, SUBSET_HINT } from './picked-endpoints.ts'

/**
 * The members of a pool at one time, with the metadata about them that requests send to the picker. Requests share the
 * metadata, so that a list of many members is encoded once and not for every request.
 */
export class OfferedMembers {
  readonly all: readonly string[]
  readonly #names: ReadonlySet<string>
  readonly #offer: MessageContext
  readonly #served = new Map<string, MessageContext>()

  constructor(all: readonly string[]) {
    this.all = all
    this.#names = new Set(all)
    this.#offer = offerOf(all)
  }

  has(endpoint: string): boolean {
    return this.#names.has(endpoint)
  }

  /** Offers the members that a request has not tried, or all of them when it has tried all. */
  offer(hasTried: (endpoint: string) => boolean): MessageContext {
    if (!this.all.some(hasTried)) return this.#offer
    const untried = this.all.filter((endpoint) => !hasTried(endpoint))
    return untried.length > 0 ? offerOf(untried) : this.#offer
  }

  /** Tells which endpoint has served a request. */
  servedBy(endpoint: string): MessageContext {
    const known = this.#served.get(endpoint)
    if (known !== undefined) return known
    const context = contextOf(BALANCING, { [SERVED]: endpoint })
    if (this.#names.has(endpoint)) this.#served.set(endpoint, context)
    return context
  }
}

function offerOf(members: readonly string[]): MessageContext {
  return contextOf(SUBSET_HINT, { [SUBSET]: members })
}

function contextOf(namespace: string, metadata: JsonObject): MessageContext {
  const filterMetadata = new Map([[namespace, metadata]])
  return { attributes: NO_ATTRIBUTES, metadataContext: { filterMetadata, typedFilterMetadata: new Map() } }
}

const NO_ATTRIBUTES: MessageContext['attributes'] = new Map()
