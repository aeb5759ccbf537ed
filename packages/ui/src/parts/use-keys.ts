import { useEffect, useRef } from 'react'

type KeyTable = Readonly<Record<string, () => void>>

/** The keys of a page. In a text field only `Escape` and keys with a modifier work. */
export function useKeys(table: KeyTable): void {
  const current = useRef(table)
  useEffect(() => {
    current.current = table
  })
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const key = event.metaKey || event.ctrlKey ? `mod+${event.key}` : event.key
      if (
        event.altKey ||
        event.defaultPrevented ||
        (isWriting(event.composedPath()[0] ?? null) && !worksWhileWriting(key))
      )
        return
      const action = current.current[key]
      if (action === undefined) return
      event.preventDefault()
      action()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
}

function worksWhileWriting(key: string): boolean {
  return key === 'Escape' || key.startsWith('mod+')
}

function isWriting(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  )
}
