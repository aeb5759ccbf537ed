import type { Keeps } from '../merge/list-page.ts'
import { targetNamed } from './endpoint.ts'
import type { Exchange } from './exchange.ts'

/** What rules leave of lists; null when there are none. */
export function keepsOf({ endpoint, rx }: Exchange): Keeps {
  if (endpoint.targets.every(({ judge }) => !judge.hasRules)) return null
  return (item) => targetNamed(endpoint, item.target).judge.allows(rx, item)
}
