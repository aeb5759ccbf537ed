import type { StoredKey, StoredTeam } from '../../stores/key-store.ts'
import type { KeysSource } from './keys-routes.ts'
import type { KeyStateView, KeyView, TeamView } from './keys-view.ts'

/** A key as people see it: without hashes, and with what is spent. */
export async function viewKey(
  { id, name, fields, secrets, ...times }: StoredKey,
  source: KeysSource,
): Promise<KeyView> {
  const { budgets, ...others } = fields
  const state = stateOf({ id, name, fields, secrets, ...times }, new Date().toISOString())
  return {
    ...{ id, name, state, ...others },
    ...(budgets !== undefined && { budgets: await source.spent({ id, budgets }) }),
    secrets: secrets.map(({ hash: _hash, ...secret }) => secret),
    ...times,
  }
}

export async function viewTeam({ id, name, fields, ...times }: StoredTeam, source: KeysSource): Promise<TeamView> {
  const { budgets, ...others } = fields
  return {
    id,
    name,
    ...others,
    ...(budgets !== undefined && { budgets: await source.spent({ id, budgets }) }),
    ...times,
  }
}

function stateOf({ fields, revoked }: StoredKey, now: string): KeyStateView {
  if (revoked !== undefined) return 'revoked'
  if (fields.disabled === true) return 'disabled'
  if (fields.expires !== undefined && fields.expires <= now) return 'expired'
  return fields.notBefore !== undefined && fields.notBefore > now ? 'pending' : 'active'
}
