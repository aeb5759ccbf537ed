import { Textarea } from '@mantine/core'
import { readHeaders } from './headers-text.ts'

interface CredentialsProps {
  text: string
  onChange: (text: string) => void
}

/** Headers of one's own, such as a key that the route asks for. They stay in this page, and leave with it. */
export function Credentials({ text, onChange }: CredentialsProps) {
  const read = readHeaders(text)
  return (
    <details className="credentials" open={text !== '' || undefined}>
      <summary>Headers{text === '' ? '' : ` (${typeof read === 'string' ? '?' : read.length})`}</summary>
      <Textarea
        aria-label="Headers to send, one on each line"
        placeholder={'authorization: Bearer …\nx-team: web'}
        description="Such as a key that the route asks for. Kept in this page only."
        classNames={{ input: 'mono' }}
        rows={3}
        value={text}
        error={typeof read === 'string' ? read : null}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    </details>
  )
}
