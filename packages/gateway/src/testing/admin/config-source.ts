import type { ConfigSource } from '../../admin/config-api.ts'
import type { Ir } from '../../ir/resources.ts'
import { viewBackends } from '../../process/admin/backends-view.ts'
import { NOTHING_KNOWN } from '../../process/admin/endpoint-states.ts'
import { viewConfig } from '../../process/admin/config-view.ts'
import { findReachableListener } from '../../process/admin/reachable-listener.ts'
import { viewRoutes } from '../../process/admin/routes-view.ts'

/** A config as the admin server shows it, without a program around it. */
export function configOf(ir: Ir = NOTHING, file = '', ports: Readonly<Record<string, number>> = {}): ConfigSource {
  return {
    routes: () => viewRoutes(ir, 1, ports),
    findListener: (bind, listener) => findReachableListener(ir, ports, bind, listener),
    config: () => viewConfig({ generation: 1, since: null, file, problems: [], ...NO_EDITS }),
    edits: noEdits,
    backends: () => Promise.resolve(viewBackends(ir, 1, { endpoints: NOTHING_KNOWN, errorOf: () => null })),
  }
}

const noEdits: ConfigSource['edits'] = {
  closed: 'not here',
  check: async () => ({ kind: 'closed', reason: 'not here' }),
  apply: async () => ({ kind: 'closed', reason: 'not here' }),
  history: () => ({ live: 1, generations: [] }),
  past: () => null,
}
const NO_EDITS = {
  memory: null,
  edit: { isAllowed: false, reason: 'not here', token: 'variable' },
  versionOf: () => 'one',
} as const
const NOTHING: Ir = { binds: [], listeners: [], routes: [], backends: [], policies: [] }
