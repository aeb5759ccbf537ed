/**
 * Signatures and encrypted reasoning can be read only by the vendor that made them, yet a client hands them to whichever
 * provider comes next. So in the middle each begins with its maker: a client of the maker's own format gets it bare, any
 * other client as it is, and an encoder drops what its provider did not make.
 */

export type Maker = 'openai' | 'anthropic' | 'google' | 'amazon'

/** Base64 of either alphabet has no colon. */
export function withMaker(maker: Maker, value: string): string {
  return `${maker}:${value}`
}

/** The bare value; null when somebody else made it. */
export function madeBy(maker: Maker, value: string): string | null {
  return value.startsWith(`${maker}:`) ? value.slice(maker.length + 1) : null
}

/** As a client sent it: bare values are of the vendor whose format the client speaks. */
export function fromClientOf(maker: Maker, value: string): string {
  return MARKED.test(value) ? value : withMaker(maker, value)
}

/**
 * Some vendors check what they sealed against the id of the item it was in. Clients whose format has no place for the id
 * get it behind the value.
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
