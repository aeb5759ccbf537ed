/** The state of the page, as its address holds it. */
export interface RequestsSearch {
  /** The filter, as written. */
  q?: string
  /** The request that is open. */
  id?: string
  tab?: DetailTab
  /** Live requests are not added. */
  paused?: true
}

export const DETAIL_TABS = ['decisions', 'heads', 'attempts', 'model', 'raw', 'again', 'next'] as const
export type DetailTab = (typeof DETAIL_TABS)[number]

/** Anyone can write an address: invalid values are dropped. */
export function readRequestsSearch(search: Record<string, unknown>): RequestsSearch {
  const { q, id, tab, paused } = search
  const known = DETAIL_TABS.find((name) => name === tab)
  return {
    ...(typeof q === 'string' && q !== '' && { q }),
    ...((typeof id === 'string' || typeof id === 'number') && { id: String(id) }),
    ...(known !== undefined && known !== 'decisions' && { tab: known }),
    ...(paused === true && { paused }),
  }
}
