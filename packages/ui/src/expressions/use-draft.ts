import { useEffect, useRef, useState } from 'react'

/** `useDraft` holds a text while people type, and passes it to `settle` 300 ms after the last change. */
export function useDraft(settled: string, settle: (text: string) => Promise<void>): [string, (text: string) => void] {
  const [draft, setDraft] = useState<string | null>(null)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const write = (text: string): void => {
    setDraft(text)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      // A text that changed in the meantime stays.
      void settle(text).finally(() => setDraft((now) => (now === text ? null : now)))
    }, PAUSE)
  }
  return [draft ?? settled, write]
}

const PAUSE = 300
