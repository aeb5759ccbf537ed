import type { KeyAnswers, KeyQuestion, KeyRefusal } from '../../keys/key-messages.ts'
import type { KeyBudget } from '../../stores/key-store.ts'
import type { SpentBudgetView } from './keys-view.ts'

/** The store of keys, which the main thread provides. */
export interface KeysSource {
  ask<Ask extends KeyQuestion['ask']>(
    question: KeyQuestion & { readonly ask: Ask },
  ): Promise<{ readonly value: KeyAnswers[Ask] } | { readonly refused: KeyRefusal }>
  /** Returns the amounts that are spent of the budgets of a key or a team. */
  spent(spender: { readonly id: string; readonly budgets?: readonly KeyBudget[] }): Promise<readonly SpentBudgetView[]>
}

/** Whether the path is one of keys, teams or their changes. */
export function answersKeys(path: string): boolean {
  return /^\/api\/(?:keys|teams|audit)(?:\/|$)/.test(path)
}

/** The endpoints, as the start page of the admin server lists them. */
export const KEY_ROUTES: readonly { methods: readonly string[]; path: string; summary: string }[] = [
  { methods: ['GET'], path: '/api/keys', summary: 'API keys of the store; ?team=, ?after=, ?limit=' },
  { methods: ['POST'], path: '/api/keys', summary: 'creates a key: JSON with `name` and its fields' },
  { methods: ['GET'], path: '/api/keys/<name>', summary: 'one key; PATCH changes it, DELETE removes it' },
  {
    methods: ['POST'],
    path: '/api/keys/<name>/rotate',
    summary: 'makes a new key; also /enable, /disable and /revoke',
  },
  { methods: ['GET'], path: '/api/teams', summary: 'teams; POST creates one' },
  { methods: ['GET'], path: '/api/teams/<name>', summary: 'one team; PATCH changes it, DELETE removes it' },
  { methods: ['GET'], path: '/api/audit', summary: 'who changed which key or team; ?before=, ?limit=' },
]
