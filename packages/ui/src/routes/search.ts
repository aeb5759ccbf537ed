/** What the address of the page holds. */
export interface RoutesSearch {
  /** Key of the route that is open. */
  route?: string
  /** The request whose way is asked for. */
  url?: string
  method?: string
  /** `name: value`, one on each line; without those that may be secrets. */
  headers?: string
}

/** Addresses are written by anyone: what does not fit is left out. */
export function readRoutesSearch(search: Record<string, unknown>): RoutesSearch {
  const names = ['route', 'url', 'method', 'headers'] as const
  // The router reads `5` and `true` as JSON; here they are texts.
  const known = names.map((name) => [name, search[name] === undefined ? '' : textOf(search[name])] as const)
  return Object.fromEntries(known.filter(([, text]) => text !== ''))
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
