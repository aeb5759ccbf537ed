import type { KeyStateView } from '@portico/gateway/admin-api'
import { KEY_STATES } from './search.ts'

/** Each state has a color, a shape and a word. */
const SHAPES: Readonly<Record<KeyStateView, string>> = {
  active: '●',
  pending: '○',
  expired: '◷',
  disabled: '▲',
  revoked: '✕',
}

export function KeyState({ state }: { state: KeyStateView }) {
  return (
    <span className={`key-state key-${state}`}>
      <span aria-hidden="true">{SHAPES[state]} </span>
      {KEY_STATES[state]}
    </span>
  )
}
