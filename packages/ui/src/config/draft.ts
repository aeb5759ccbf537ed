import { useSyncExternalStore } from 'react'

/** A text that somebody writes. It outlives the page that shows it, and not the window: it may have new secrets in it. */
export interface Draft {
  readonly text: string
  /** `version` of the file that it was made of. */
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

/** What is written and not applied is lost with the window: browsers ask first. */
window.addEventListener('beforeunload', (event) => {
  if (current !== null) event.preventDefault()
})
