import { ActionIcon } from '@mantine/core'
import { useEffect, useState } from 'react'
import { CheckIcon, CloseIcon, CopyIcon } from './icons.tsx'

/** A button that puts a text on the clipboard, and shows for a moment whether that worked. */
export function Copy({ text, label }: { text: string; label: string }) {
  const [state, setState] = useState<'ready' | 'done' | 'failed'>('ready')
  useEffect(() => {
    if (state === 'ready') return
    const timer = setTimeout(() => setState('ready'), state === 'done' ? 1200 : 4000)
    return () => clearTimeout(timer)
  }, [state])
  const copy = (): void => {
    write(text).then(
      () => setState('done'),
      () => setState('failed'),
    )
  }
  const shown = state === 'failed' ? 'Not copied: browsers allow it on HTTPS and localhost only' : label
  return (
    <ActionIcon variant="subtle" color="gray" size="sm" aria-label={shown} title={shown} onClick={copy}>
      {state === 'done' ? <CheckIcon /> : state === 'failed' ? <CloseIcon /> : <CopyIcon />}
    </ActionIcon>
  )
}

/** On plain HTTP, other than on localhost, browsers have no clipboard at all. */
async function write(text: string): Promise<void> {
  await navigator.clipboard.writeText(text)
}
