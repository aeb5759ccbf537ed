import { entryVersion } from '../../keys/entry-version.ts'
import { stateOf } from '../../keys/find-keys.ts'
import type { StoredKey, StoredTeam } from '../../stores/key-store.ts'
import type { KeysSource } from './keys-routes.ts'
import type { KeyView, TeamView } from './keys-view.ts'

/** A key as people see it: without hashes, and with what is spent. */
export async function viewKey(key: StoredKey, source: KeysSource): Promise<KeyView> {
  const { id, name, fields, secrets, ...times } = key
  const { budgets, ...others } = fields
  const [state, version] = [stateOf(key, new Date().toISOString()), entryVersion(key)]
  return {
    ...{ id, name, state, version, ...others },
    ...(budgets !== undefined && { budgets: await source.spent({ id, budgets }) }),
    secrets: secrets.map(({ hash: _hash, ...secret }) => secret),
    ...times,
  }
}

export async function viewTeam(team: StoredTeam, source: KeysSource): Promise<TeamView> {
  const { id, name, fields, ...times } = team
  const { budgets, ...others } = fields
  return {
    ...{ id, name, version: entryVersion(team), ...others },
    ...(budgets !== undefined && { budgets: await source.spent({ id, budgets }) }),
    ...times,
  }
}
