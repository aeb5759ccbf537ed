import { NativeSelect } from '@mantine/core'
import { useState } from 'react'
import { Confirm } from './dialog.tsx'

interface RotateProps {
  name: string
  onDone: (secret: string | null) => void
  onClose: () => void
}

/** Makes a new key, and asks how long the old one stays valid. */
export function RotateDialog({ name, onDone, onClose }: RotateProps) {
  const [overlap, setOverlap] = useState('24h')
  return (
    <Confirm
      title={`Rotate ${name}`}
      button="Make a new key"
      change={{ method: 'POST', path: `keys/${name}/rotate`, body: { overlap } }}
      onDone={({ secret }) => onDone(secret)}
      onClose={onClose}
    >
      <p>The new key works at once, and is shown once. Name, limits and budgets stay as they are.</p>
      <NativeSelect
        label="The old key stays valid for"
        value={overlap}
        data={OVERLAPS}
        onChange={(event) => setOverlap(event.currentTarget.value)}
      />
    </Confirm>
  )
}

const OVERLAPS = [
  { value: '0s', label: 'no time: it ends now' },
  { value: '1h', label: '1 hour' },
  { value: '24h', label: '24 hours' },
  { value: '168h', label: '7 days' },
  { value: '720h', label: '30 days' },
]
