import type { Logger } from '../telemetry/log/logger.ts'
import type { Collector } from '../telemetry/metrics/metrics-collect.ts'
import { createKeyTable } from './key-table.ts'
import { Keys } from './keys.ts'

interface KeySettings {
  /** The state folder, an absolute path. */
  readonly folder: string
  readonly maxKeys: number
}

/** Opens the store of keys with a new table. */
export function openKeys({ folder, maxKeys }: KeySettings, collector: Collector, log: Logger): Keys {
  return new Keys({ folder, maxKeys, table: createKeyTable(maxKeys) }, collector, log)
}
