import type { KeyStore } from '../stores/key-store.ts'
import type { KeyTableWriter } from './key-table-writer.ts'

export interface RegistryParts {
  readonly store: KeyStore
  readonly table: KeyTableWriter
  readonly now: () => number
}

export const NO_ROOM = 'there is no room for another key: delete some, or set a larger `config.keys.maxKeys`'
