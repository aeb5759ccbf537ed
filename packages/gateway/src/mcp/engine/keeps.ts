import type { Keeps } from '../merge/list-page.ts'
import { targetNamed } from './endpoint.ts'
import type { Exchange } from './exchange.ts'

/** What rules, and the config of the targets, leave of lists; null when there is nothing of the kind. */
export function keepsOf({ endpoint, rx }: Exchange): Keeps {
  const { namer, targets } = endpoint
  if (!namer.choosesTools && targets.every(({ judge }) => !judge.hasRules)) return null
  return (item) => namer.offers(item) && targetNamed(endpoint, item.target).judge.allows(rx, item)
}
