import type { KeyAnswers, KeyQuestion, KeyRefusal } from '../../keys/key-messages.ts'
import type { KeyBudget } from '../../stores/key-store.ts'
import { type Endpoint, READ } from '../endpoints.ts'
import type { SpentBudgetView } from './keys-view.ts'

/** The store of keys, which the main thread provides. */
export interface KeysSource {
  ask<Ask extends KeyQuestion['ask']>(
    question: KeyQuestion & { readonly ask: Ask },
  ): Promise<{ readonly value: KeyAnswers[Ask] } | { readonly refused: KeyRefusal }>
  /** Returns the amounts that are spent of the budgets of a key or a team. */
  spent(spender: { readonly id: string; readonly budgets?: readonly KeyBudget[] }): Promise<readonly SpentBudgetView[]>
}

/** Whether the admin API serves keys, teams, prices or their changes at a path. */
export function answersKeys(path: string): boolean {
  return /^\/api\/(?:keys|teams|prices|audit)(?:\/|$)/.test(path)
}

/** The endpoints, as the start page of the admin server lists them. */
export const KEY_ROUTES: readonly Endpoint[] = [
  {
    ...{ methods: READ, scope: 'Read' },
    path: '/api/keys',
    summary: 'API keys of the store; ?text=, ?state=, ?team=, ?after=, ?limit=',
  },
  {
    ...{ methods: ['POST'], scope: 'Write' },
    path: '/api/keys',
    summary: 'creates a key: JSON with `name` and its fields',
  },
  { methods: READ, scope: 'Read', path: '/api/keys/<name>', summary: 'one key' },
  {
    ...{ methods: ['PATCH', 'DELETE'], scope: 'Write' },
    path: '/api/keys/<name>',
    summary: 'changes a key; DELETE removes it',
  },
  {
    ...{ methods: ['POST'], scope: 'Write' },
    path: '/api/keys/<name>/{action}',
    summary: 'action: rotate makes a new key; enable, disable, revoke',
  },
  { methods: READ, scope: 'Read', path: '/api/teams', summary: 'teams' },
  { methods: ['POST'], scope: 'Write', path: '/api/teams', summary: 'creates a team' },
  { methods: READ, scope: 'Read', path: '/api/teams/<name>', summary: 'one team' },
  {
    ...{ methods: ['PATCH', 'DELETE'], scope: 'Write' },
    path: '/api/teams/<name>',
    summary: 'changes a team; DELETE removes it',
  },
  { methods: READ, scope: 'Read', path: '/api/prices', summary: 'prices of the store' },
  {
    ...{ methods: ['POST', 'DELETE'], scope: 'Write' },
    path: '/api/prices',
    summary: 'sets a price: JSON as in `prices.models`; DELETE removes one; ?provider=, ?model=',
  },
  {
    methods: READ,
    scope: 'Read',
    path: '/api/audit',
    summary: 'who changed which key, team or price, or purged caches; ?kind=, ?name=, ?before=, ?limit=',
  },
]
