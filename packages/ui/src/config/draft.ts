import { useSyncExternalStore } from 'react'

/** An edited text. It survives a change of page but not the window, because it may contain new secrets. */
export interface Draft {
  readonly text: string
  /** `version` of the file that the edit began with. */
  readonly basedOn: string
}

let current: Draft | null = null
const listeners = new Set<() => void>()

export function setDraft(draft: Draft | null): void {
  current = draft
  for (const listener of listeners) listener()
}

export function useDraft(): Draft | null {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => current,
  )
}

/** Closing the window loses an edit that is not applied, so the browser asks first. */
window.addEventListener('beforeunload', (event) => {
  if (current !== null) event.preventDefault()
})
