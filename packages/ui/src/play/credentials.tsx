import { Textarea } from '@mantine/core'
import { readHeaders } from './headers-text.ts'

interface CredentialsProps {
  text: string
  onChange: (text: string) => void
}

/** Headers to send along, such as an API key. They stay in the memory of this page. */
export function Credentials({ text, onChange }: CredentialsProps) {
  const read = readHeaders(text)
  return (
    <details className="credentials" open={text !== '' || undefined}>
      <summary>Headers{text === '' ? '' : ` (${typeof read === 'string' ? '?' : read.length})`}</summary>
      <Textarea
        aria-label="Headers to send, one on each line"
        placeholder={'authorization: Bearer …\nx-team: web'}
        description="Such as an API key for the route. They stay in this page only."
        classNames={{ input: 'mono' }}
        rows={3}
        value={text}
        error={typeof read === 'string' ? read : null}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    </details>
  )
}
