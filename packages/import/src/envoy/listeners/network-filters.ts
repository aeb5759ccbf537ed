import { denial } from '../../chain/effects.ts'
import type { FilterChain } from './filter-chains.ts'
import { closing, type FilterContext, type FilterEffect } from '../filters/filter.ts'
import { rbac } from '../filters/rbac.ts'
import type { HttpFilter } from '../filters/http-filters.ts'

/**
 * Converts network filters and the check of client certificates to HTTP filters, which run before those of the
 * connection manager.
 */
export function guardsOfChain({ field, guards, tls }: FilterChain, facts: FilterContext): HttpFilter[] {
  const filters = guards.map(({ kind, config }): HttpFilter => {
    const effect: FilterEffect =
      kind === 'rbac' ? rbac(config, facts) : closing(config, kind, 'the filter may restrict access')
    return { name: '', kind: `network ${kind}`, config, effect, isDisabled: false }
  })
  const expression = tls?.denial ?? null
  if (expression === null) return filters
  return [
    { name: '', kind: 'certificates', config: field, effect: () => [denial(expression)], isDisabled: false },
    ...filters,
  ]
}
