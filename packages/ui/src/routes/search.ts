import { textOrJson } from '../api/unknown-values.ts'

/** The state of the page, as its address holds it. */
interface RoutesSearch {
  /** Key of the route that is open. */
  route?: string
  /** The request to find the route of. */
  url?: string
  method?: string
  /** `name: value`, one on each line; without those that may be secrets. */
  headers?: string
}

/** Anyone can write an address: invalid values are dropped. */
export function readRoutesSearch(search: Record<string, unknown>): RoutesSearch {
  const names = ['route', 'url', 'method', 'headers'] as const
  // The router reads `5` and `true` as JSON; here they are texts.
  const known = names.map((name) => [name, textOrJson(search[name])] as const)
  return Object.fromEntries(known.filter(([, text]) => text !== ''))
}
