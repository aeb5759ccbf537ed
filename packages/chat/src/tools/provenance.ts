/**
 * Only the vendor that made a signature or encrypted reasoning can read it, but clients send both to any provider. In
 * the middle each value is therefore prefixed with its vendor: a client of the vendor's own format gets the value
 * without the prefix, other clients get it with the prefix, and an encoder drops values of other vendors.
 */

export type Maker = 'openai' | 'anthropic' | 'google' | 'amazon'

/** Base64 of either alphabet has no colon. */
export function withMaker(maker: Maker, value: string): string {
  return `${maker}:${value}`
}

/** The value without its prefix; null when another vendor made the value. */
export function madeBy(maker: Maker, value: string): string | null {
  return value.startsWith(`${maker}:`) ? value.slice(maker.length + 1) : null
}

/** Adds the prefix to a value from a client: a value without a prefix belongs to the vendor of the client's format. */
export function fromClientOf(maker: Maker, value: string): string {
  return MARKED.test(value) ? value : withMaker(maker, value)
}

/**
 * Appends the id of an item to its encrypted content, for clients whose format has no member for the id. Some vendors
 * check the encrypted content against that id.
 */
export function withItemId(sealed: string, id: string | undefined): string {
  return id === undefined || !ITEM_ID.test(id) ? sealed : `${sealed}#${id}`
}

export function splitItemId(sealed: string): { sealed: string; id?: string } {
  const at = sealed.lastIndexOf('#')
  const id = sealed.slice(at + 1)
  return at === -1 || !ITEM_ID.test(id) ? { sealed } : { sealed: sealed.slice(0, at), id }
}

/** Base64 of either alphabet has no `#` either. */
const ITEM_ID = /^[\w-]+$/

const MARKED = /^(?:openai|anthropic|google|amazon):/
