import { useEffect, useRef, useState } from 'react'

/** A text that is settled elsewhere, such as in the address, a moment after its last change. */
export function useDraft(settled: string, settle: (text: string) => Promise<void>): [string, (text: string) => void] {
  const [draft, setDraft] = useState<string | null>(null)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const write = (text: string): void => {
    setDraft(text)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      // Whoever wrote on meanwhile keeps what they wrote.
      void settle(text).finally(() => setDraft((now) => (now === text ? null : now)))
    }, PAUSE)
  }
  return [draft ?? settled, write]
}

const PAUSE = 300
