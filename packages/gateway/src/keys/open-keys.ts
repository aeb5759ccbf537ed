import type { PostgresSettings } from '../stores/postgres/postgres-settings.ts'
import type { Logger } from '../telemetry/log/logger.ts'
import type { Collector } from '../telemetry/metrics/metrics-collect.ts'
import { createKeyTable } from './table/key-table.ts'
import { Keys } from './keys.ts'

interface KeySettings {
  /** The state folder, an absolute path. */
  readonly folder: string
  readonly maxKeys: number
  readonly postgres: PostgresSettings | null
  readonly graceMs: number
}

/** Opens the store of keys with a new table. */
export function openKeys(settings: KeySettings, collector: Collector, log: Logger): Keys {
  return new Keys({ ...settings, table: createKeyTable(settings.maxKeys) }, collector, log)
}
