import { ActionIcon } from '@mantine/core'
import { useState } from 'react'
import { CheckIcon, CopyIcon } from '../frame/icons.tsx'

export function Copy({ text, label }: { text: string; label: string }) {
  const [isDone, setDone] = useState(false)
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text)
    setDone(true)
    setTimeout(() => setDone(false), 1200)
  }
  return (
    <ActionIcon variant="subtle" color="gray" size="sm" aria-label={label} title={label} onClick={() => void copy()}>
      {isDone ? <CheckIcon /> : <CopyIcon />}
    </ActionIcon>
  )
}
