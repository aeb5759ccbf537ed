import type { ConfigSource } from '../admin/config-api.ts'
import type { Ir } from '../ir/resources.ts'
import { viewBackends } from '../process/backends-view.ts'
import { viewConfig } from '../process/config-view.ts'
import { viewRoutes } from '../process/routes-view.ts'

/** A config as the admin server shows it, without a program around it. */
export function configOf(ir: Ir = NOTHING, file = ''): ConfigSource {
  return {
    routes: () => viewRoutes(ir, 1, {}),
    backends: () => viewBackends(ir, 1),
    config: () => viewConfig({ generation: 1, since: null, file, problems: [] }),
  }
}

const NOTHING: Ir = { binds: [], listeners: [], routes: [], backends: [], policies: [] }
