import { Button } from '@mantine/core'
import { Copy } from '../parts/copy.tsx'
import { Dialog } from './dialog.tsx'

export interface NewSecret {
  readonly name: string
  readonly secret: string
}

/** The one time that a key is shown. */
export function NewSecretDialog({ name, secret, onClose }: NewSecret & { onClose: () => void }) {
  return (
    <Dialog title={`The key of ${name}`} size="lg" isKept onClose={onClose}>
      <div className="keys-form">
        <p className="keys-warning" role="alert">
          ▲ Copy the key now. The gateway keeps only its hash: nobody can show it again.
        </p>
        <p className="keys-secret">
          <code>{secret}</code> <Copy text={secret} label="Copy the key" />
        </p>
        <p className="dim">
          Clients send it as <code>Authorization: Bearer …</code>; libraries of OpenAI and Anthropic call it the API
          key.
        </p>
        <div className="keys-buttons">
          <Button onClick={onClose}>I have stored it</Button>
        </div>
      </div>
    </Dialog>
  )
}
