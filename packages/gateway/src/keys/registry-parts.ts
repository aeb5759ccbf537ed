import { type KeyStore, StaleChange } from '../stores/key-store.ts'
import { KeyProblem } from './key-problem.ts'
import type { KeyTableWriter } from './table/key-table-writer.ts'

export interface RegistryParts {
  readonly store: KeyStore
  readonly table: KeyTableWriter
  readonly now: () => number
}

export const NO_ROOM =
  'there is no room for another key, team or price: delete some, or set a larger `config.keys.maxKeys`'

/** Prepares and commits a change. It is prepared again when another gateway changes the store in between. */
export async function prepareAgain<Result>(
  store: KeyStore,
  run: (version: number) => Promise<Result>,
): Promise<Result> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    try {
      return await run(await store.version())
    } catch (error) {
      if (!(error instanceof StaleChange)) throw error
    }
  }
  throw new KeyProblem(409, 'keys are being changed elsewhere all the time: try again')
}

const MOST_TRIES = 20
