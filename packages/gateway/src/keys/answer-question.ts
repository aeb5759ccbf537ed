import type { AuditEntry, KeyStore } from '../stores/key-store.ts'
import { findChanges } from './find-changes.ts'
import { findKeys } from './find-keys.ts'
import type { KeyAnswers, KeyQuestion } from './key-messages.ts'
import type { KeyRegistry } from './key-registry.ts'
import type { PriceRegistry } from './price-registry.ts'
import { prepareAgain } from './registry-parts.ts'
import type { TeamRegistry } from './team-registry.ts'

/** A store that is open, and what changes it. */
export interface OpenStore {
  readonly store: KeyStore
  readonly keys: KeyRegistry
  readonly teams: TeamRegistry
  readonly prices: PriceRegistry
}

/** Answers a question of the admin API; throws `KeyProblem` when it cannot be carried out. */
export function answerQuestion(
  { store, keys, teams, prices }: OpenStore,
  question: KeyQuestion,
): KeyAnswers[keyof KeyAnswers] | Promise<KeyAnswers[keyof KeyAnswers]> {
  switch (question.ask) {
    case 'keys':
      return findKeys(store, question.search, new Date().toISOString())
    case 'key':
      return store.key(question.name)
    case 'teams':
      return store.teams()
    case 'team':
      return store.team(question.name)
    case 'prices':
      return store.prices()
    case 'audit':
      return findChanges(store, question.search)
    case 'note':
      return note(store, question.entry)
    case 'changeKey':
      return keys.change(question.name, question.change, question.by)
    case 'changePrice':
      return prices.change(question.name, question.price, question.by)
    case 'changeTeam':
      return teams.change(question.name, question.change, question.by)
  }
}

/** Adds an audit entry about a change that the store of keys does not hold, such as a purge of response caches. */
function note(store: KeyStore, entry: AuditEntry): Promise<null> {
  return prepareAgain(store, async (version) => {
    await store.commit({ kind: 'cache', name: entry.name, to: null }, entry, version)
    return null
  })
}
