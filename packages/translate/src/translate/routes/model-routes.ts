import type { Backend, Route } from '@portico/gateway/ir'
import type { Query } from '../context.ts'
import { EVERYTHING } from './matches.ts'
import { modelTable } from '../models/model-table.ts'
import { modelsOfGateway, tableOfListener } from '../models/table-members.ts'

interface ListenerModels {
  routes: Route[]
  backends: Backend[]
}

/**
 * The routes of a Gateway for the GwModels whose parents are its listeners. Such a route gets the requests of its listener that
 * no other route matches.
 */
export const listenerModels: Query<ListenerModels> = {
  name: 'listenerModels',
  compute(context, gateway) {
    const made: ListenerModels = { routes: [], backends: [] }
    for (const listener of Object.keys(context.read(modelsOfGateway, gateway)).toSorted()) {
      const { backend, broken } = context.read(modelTable, tableOfListener(gateway, listener))
      const key = `${listener}/${gateway}:models/0`
      made.backends.push(backend, ...broken)
      made.routes.push({
        key,
        listener,
        name: `${gateway}:models`,
        rule: '',
        labels: {},
        hostnames: [],
        matches: [EVERYTHING],
        backends: [{ key: `${key}/backend/0`, backend: backend.key, weight: 1 }],
      })
    }
    return made
  },
}
